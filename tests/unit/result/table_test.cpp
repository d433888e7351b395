// Columns: nulls, validity bits, types, names.
#include "fedsim/table.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "fedsim/error.hpp"

namespace fedsim {
namespace {

TEST(Column, HasNoBitmapUntilTheFirstNull) {
  Column c({"n", ColumnType::int64, "", true, ""});
  for (int i = 0; i < 20; ++i) c.push_int(i);
  EXPECT_EQ(c.null_count(), 0U);
  EXPECT_TRUE(c.validity().empty());
  EXPECT_FALSE(c.is_null(19));
}

// Nulls at every position around byte borders: bits must be right before and after each.
TEST(Column, MarksNullsInArrowBitOrder) {
  for (std::size_t null_at = 0; null_at < 18; ++null_at) {
    Column c({"n", ColumnType::int64, "", true, ""});
    for (std::size_t i = 0; i < 18; ++i) {
      if (i == null_at) {
        c.push_null();
      } else {
        c.push_int(static_cast<std::int64_t>(i));
      }
    }
    ASSERT_EQ(c.size(), 18U);
    ASSERT_EQ(c.null_count(), 1U);
    ASSERT_EQ(c.validity().size(), 3U);
    for (std::size_t i = 0; i < 18; ++i) {
      EXPECT_EQ(c.is_null(i), i == null_at) << null_at << " " << i;
      EXPECT_EQ((c.validity()[i / 8] >> (i % 8)) & 1U, i == null_at ? 0U : 1U);
    }
    EXPECT_EQ(c.int_at(null_at), INT64_MIN);
  }
}

TEST(Column, TakesNoTimeAsNull) {
  Column c({"start", ColumnType::time, "", true, ""});
  c.push_time(from_unix_seconds(5));
  c.push_time(kNoTime);
  EXPECT_FALSE(c.is_null(0));
  EXPECT_TRUE(c.is_null(1));
  EXPECT_EQ(c.int_at(0), 5'000'000'000);
}

TEST(Column, RefusesNullWhereNoneMayBe) {
  Column c({"n", ColumnType::int64, "", false, ""});
  EXPECT_THROW(c.push_null(), InternalError);
  EXPECT_THROW(c.push_int(INT64_MIN), InternalError);
}

TEST(Column, KeepsTextInOneBuffer) {
  Column c({"label", ColumnType::text, "", true, ""});
  c.push_text("J1");
  c.push_null();
  c.push_text("");
  c.push_text("J2");
  EXPECT_EQ(c.text_at(0), "J1");
  EXPECT_EQ(c.text_at(1), "");
  EXPECT_EQ(c.text_at(3), "J2");
  EXPECT_TRUE(c.is_null(1));
  EXPECT_FALSE(c.is_null(2));
  EXPECT_EQ(c.texts().bytes, "J1J2");
}

TEST(Table, NamesTheColumnsItHas) {
  const Table t("jobs", {{"jobid", ColumnType::int64, "", false, ""},
                         {"label", ColumnType::text, "", true, ""}});
  EXPECT_EQ(t["label"].schema().name, "label");
  try {
    (void)t["nodes"];
    FAIL();
  } catch (const std::out_of_range& e) {
    EXPECT_EQ(std::string(e.what()), "table jobs has no column \"nodes\"; it has jobid, label");
  }
}

}  // namespace
}  // namespace fedsim
