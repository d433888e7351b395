// The Arrow stream, walked as a consumer would: formats, buffers, lifetime.
#include "fedsim/arrow.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "support/result_fixture.hpp"

namespace fedsim {
namespace {

std::shared_ptr<Table> sample() {
  auto t = std::make_shared<Table>(
      "t", std::vector<ColumnSchema>{{"n", ColumnType::int64, "MiB", false, "count"},
                                     {"x", ColumnType::float64, "", false, ""},
                                     {"b", ColumnType::boolean, "", false, ""},
                                     {"s", ColumnType::text, "", true, ""},
                                     {"at", ColumnType::time, "", true, ""},
                                     {"d", ColumnType::duration, "", false, ""}});
  for (int i = 0; i < 10; ++i) {
    t->column(0).push_int(i);
    t->column(1).push_float(i / 2.0);
    t->column(2).push_bool(i % 3 == 0);
    i == 9 ? t->column(3).push_null() : t->column(3).push_text("s" + std::to_string(i));
    t->column(4).push_time(i == 8 ? kNoTime : from_unix_seconds(i));
    t->column(5).push_int(i * 10);
  }
  return t;
}

TEST(ArrowStream, DeclaresFormats) {
  ArrowArrayStream stream{};
  export_stream(sample(), &stream);
  ArrowSchema schema{};
  ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
  EXPECT_STREQ(schema.format, "+s");
  ASSERT_EQ(schema.n_children, 6);
  const char* formats[] = {"l", "g", "b", "u", "tsn:UTC", "tDn"};
  for (int i = 0; i < 6; ++i) EXPECT_STREQ(schema.children[i]->format, formats[i]);
  EXPECT_STREQ(schema.children[0]->name, "n");
  EXPECT_EQ(schema.children[0]->flags & ARROW_FLAG_NULLABLE, 0);
  EXPECT_NE(schema.children[3]->flags & ARROW_FLAG_NULLABLE, 0);
  std::int32_t pairs = 0;
  std::memcpy(&pairs, schema.children[0]->metadata, sizeof pairs);
  EXPECT_EQ(pairs, 2);  // doc and unit
  schema.release(&schema);
  EXPECT_EQ(schema.release, nullptr);
  stream.release(&stream);
  EXPECT_EQ(stream.release, nullptr);
}

TEST(ArrowStream, SharesMemoryAndOutlivesStreamAndTable) {
  std::shared_ptr<Table> table = sample();
  const void* values = table->column(0).ints().data();
  const std::weak_ptr<Table> alive = table;
  ArrowArrayStream stream{};
  export_stream(table, &stream);
  table.reset();
  ArrowArray batch{};
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  ArrowArray end{};
  ASSERT_EQ(stream.get_next(&stream, &end), 0);
  EXPECT_EQ(end.release, nullptr);  // one batch only
  stream.release(&stream);
  ASSERT_FALSE(alive.expired());
  ASSERT_EQ(batch.length, 10);
  ASSERT_EQ(batch.n_children, 6);
  EXPECT_EQ(batch.children[0]->buffers[1], values);
  EXPECT_EQ(batch.children[0]->buffers[0], nullptr);  // no nulls, no bitmap

  const auto* bits = static_cast<const std::uint8_t*>(batch.children[2]->buffers[1]);
  for (int i = 0; i < 10; ++i) EXPECT_EQ((bits[i / 8] >> (i % 8)) & 1, i % 3 == 0 ? 1 : 0);
  const auto* offsets = static_cast<const std::int32_t*>(batch.children[3]->buffers[1]);
  const auto* bytes = static_cast<const char*>(batch.children[3]->buffers[2]);
  EXPECT_EQ(std::string(bytes + offsets[4], bytes + offsets[5]), "s4");
  EXPECT_EQ(batch.children[3]->null_count, 1);
  const auto* valid = static_cast<const std::uint8_t*>(batch.children[4]->buffers[0]);
  EXPECT_EQ((valid[1] >> 0) & 1, 0);
  EXPECT_EQ((valid[1] >> 1) & 1, 1);

  // A consumer may move a child out and release it after its parent.
  ArrowArray moved = *batch.children[0];
  batch.children[0]->release = nullptr;
  batch.release(&batch);
  EXPECT_EQ(static_cast<const std::int64_t*>(moved.buffers[1])[7], 7);
  ASSERT_FALSE(alive.expired());
  moved.release(&moved);
  EXPECT_TRUE(alive.expired());
}

TEST(ArrowStream, AcceptsAnEmptyTable) {
  ArrowArrayStream stream{};
  export_stream(std::make_shared<const Table>("jobs", result_schema("jobs")), &stream);
  ArrowArray batch{};
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  EXPECT_EQ(batch.length, 0);
  ASSERT_NE(batch.children[0]->buffers[1], nullptr);
  batch.release(&batch);
  stream.release(&stream);
}

}  // namespace
}  // namespace fedsim
