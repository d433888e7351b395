// Result tables: rows, values, refused submissions, and the generated page.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "fedsim/result.hpp"
#include "result/schema.hpp"
#include "support/paths.hpp"
#include "support/result_fixture.hpp"

namespace fedsim {
namespace {

using test::at;
using test::devices;
using test::make_cluster;
using test::place;
using test::ResultBuilder;

TEST(Records, AreAsARealFederationShowsThem) {
  ResultBuilder b = test::two_by_six();
  const Table t = b.raw().records();
  ASSERT_EQ(t.rows(), 5U);
  EXPECT_EQ(t["state"].text_at(0), "REVOKED");
  EXPECT_EQ(t["cluster"].text_at(0), "alpha");
  EXPECT_EQ(t["origin"].text_at(1), "alpha");
  EXPECT_EQ(t["cluster"].text_at(1), "beta");
  EXPECT_EQ(t["jobid"].int_at(0), 67108865);
  EXPECT_TRUE(t["nodes"].is_null(0));
  EXPECT_TRUE(t["start"].is_null(0));
  EXPECT_EQ(t["nodes"].text_at(1), "b1");
  EXPECT_EQ(t["gpu_idx"].text_at(1), "b1:gpu:a100[0-5]");
  EXPECT_EQ(t["partition"].text_at(1), "batch");
  EXPECT_TRUE(t["reason"].is_null(1));
}

TEST(Records, ListARefusedSubmissionOnce) {
  ResultBuilder b = test::two_by_six();
  Table t = b.raw().records();
  EXPECT_EQ(t["state"].text_at(4), "REJECTED");
  EXPECT_EQ(t["label"].text_at(4), "J12");
  EXPECT_EQ(t["reason"].text_at(4), "Requested node configuration is not available");
  // Also when the engine keeps a row for it.
  const std::size_t row = b.record(JobId{2}, 0, RecordState::rejected, 0.5);
  b.raw().record_rows[row].reason = static_cast<std::uint8_t>(Reason::node_config_unavailable);
  t = b.raw().records();
  EXPECT_EQ(t.rows(), 5U);
}

TEST(Records, NameTheClusterThatDoesNotExist) {
  ResultBuilder b({make_cluster("alpha", 1, devices(8))});
  const JobId j = b.job("J", 0, 1, 0);
  b.trace().jobs[0].clusters = b.trace().strings.intern("alpha,nosuch");
  b.reject(j, Reason::cluster_not_reachable);
  EXPECT_EQ(b.raw().records()["reason"].text_at(0),
            "'nosuch' can't be reached now, or it is an invalid entry for --cluster.  "
            "Use 'sacctmgr list clusters' to see available clusters.");
}

TEST(Records, HaveNoOriginOutsideAFederation) {
  ResultBuilder b({make_cluster("alpha", 1, devices(8))}, false);
  const JobId j = b.job("J", 0, 1, 0);
  b.ran(j, 0, RecordState::completed, 0, 1, 2, {place(0, 1)});
  EXPECT_TRUE(b.raw().records()["origin"].is_null(0));
  EXPECT_EQ(b.raw().records()["jobid"].int_at(0), 1);
}

TEST(Jobs, TellTheLastExecution) {
  ResultBuilder b({make_cluster("alpha", 1, devices(8)), make_cluster("beta", 1, devices(8))});
  const JobId j = b.job("J1", 0, 6, 0);
  b.ran(j, 1, RecordState::requeued, 0, 1, 11, {place(0, 0x3F)});
  const std::size_t again = b.ran(j, 0, RecordState::completed, 11, 140, 150, {place(0, 0x3F)});
  b.raw().record_rows[again].eligible = at(132);
  b.raw().job_rows[0].restarts = 1;
  const Table t = b.raw().jobs();
  ASSERT_EQ(t.rows(), 1U);
  EXPECT_EQ(t["cluster"].text_at(0), "alpha");
  EXPECT_EQ(t["submit"].int_at(0), at(0).time_since_epoch().count());
  EXPECT_EQ(t["start"].int_at(0), at(140).time_since_epoch().count());
  EXPECT_EQ(t["wait"].int_at(0), 8 * kSecond.count());
  EXPECT_EQ(t["elapsed"].int_at(0), 10 * kSecond.count());
  EXPECT_EQ(t["gpus"].int_at(0), 6);
  EXPECT_EQ(t["restarts"].int_at(0), 1);
}

TEST(Jobs, ThatNeverRanHaveNoStart) {
  ResultBuilder b({make_cluster("alpha", 1, devices(8))});
  const JobId j = b.job("J1", 0, 6, 0);
  const std::size_t r = b.record(j, 0, RecordState::cancelled, 0);
  b.raw().record_rows[r].end = at(7);
  b.raw().job_rows[0].state = RecordState::cancelled;
  const Table t = b.raw().jobs();
  EXPECT_TRUE(t["start"].is_null(0));
  EXPECT_TRUE(t["wait"].is_null(0));
  EXPECT_TRUE(t["cluster"].is_null(0));
  EXPECT_EQ(t["end"].int_at(0), at(7).time_since_epoch().count());
}

TEST(Gpus, HaveOneRowEach) {
  ResultBuilder b = test::two_by_six();
  const Table t = b.raw().gpus();
  ASSERT_EQ(t.rows(), 12U);
  std::set<std::pair<std::string, std::int64_t>> distinct;
  for (std::size_t i = 0; i < t.rows(); ++i) {
    distinct.emplace(t["node"].text_at(i), t["index"].int_at(i));
    EXPECT_EQ(t["type"].text_at(i), "a100");
  }
  EXPECT_EQ(distinct.size(), 12U);
}

TEST(Processes, AreGroupsOfTheirAllocation) {
  ResultBuilder b = test::two_by_six();
  const Table t = b.raw().processes();
  ASSERT_EQ(t.rows(), 2U);
  EXPECT_EQ(t["world_size"].int_at(0), 6);
  EXPECT_EQ(t["world_size"].int_at(1), 6);
  EXPECT_NE(t["process_group"].int_at(0), t["process_group"].int_at(1));
}

TEST(Allocations, PointToTheirRecord) {
  ResultBuilder b = test::two_by_six();
  const Table t = b.raw().allocations();
  ASSERT_EQ(t.rows(), 2U);
  EXPECT_EQ(b.raw().records()["cluster"].text_at(static_cast<std::size_t>(t["record"].int_at(0))),
            t["cluster"].text_at(0));
  EXPECT_EQ(t["elapsed"].int_at(0), 30 * kSecond.count());
}

TEST(Tables, WorkWithoutKeptPlacements) {
  ResultBuilder b = test::two_by_six();
  b.raw().placements.clear();
  EXPECT_EQ(b.raw().gpus().rows(), 0U);
  EXPECT_TRUE(b.raw().records()["nodes"].is_null(1));
  EXPECT_EQ(b.raw().allocations()["gpus"].int_at(0), 6);
}

TEST(Schema, HasTheColumnsThatChecksRelyOn) {
  std::string names;
  for (const ColumnSchema& c : result_schema("records")) names += c.name + ",";
  EXPECT_EQ(
      names.rfind("label,jobid,array_task,origin,cluster,state,submit,eligible,start,end,nodes,"
                  "gpu_idx,partition,qos,user,account,reason,",
                  0),
      0U);
  EXPECT_THROW(result_schema("nosuch"), std::out_of_range);
}

TEST(Schema, DescribesEveryColumn) {
  for (const std::string_view table : result_table_names()) {
    std::set<std::string> names;
    for (const ColumnSchema& c : result_schema(table)) {
      EXPECT_FALSE(c.doc.empty()) << table << "." << c.name;
      EXPECT_TRUE(names.insert(c.name).second) << table << "." << c.name << " twice";
    }
  }
}

// The page is made from the schema: after a change, write schema_markdown() to it again.
TEST(Schema, PageIsFresh) {
  std::ifstream in(test::repository() / "docs/reference/tables.md");
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_TRUE(text.str() == schema_markdown()) << "docs/reference/tables.md is stale";
}

TEST(Reasons, AreUniqueWords) {
  std::set<std::string_view> seen;
  for (std::uint8_t i = 0; i < static_cast<std::uint8_t>(Reason::count_); ++i) {
    EXPECT_TRUE(seen.insert(reason_text(i)).second) << reason_text(i);
    EXPECT_EQ(find_reason(reason_text(i)), static_cast<Reason>(i));
  }
  EXPECT_EQ(reason_text(std::uint8_t{255}), "None");
  EXPECT_FALSE(find_reason("nosuch").has_value());
  EXPECT_TRUE(is_refusal(Reason::invalid_partition));
  EXPECT_FALSE(is_refusal(Reason::resources));
}

}  // namespace
}  // namespace fedsim
