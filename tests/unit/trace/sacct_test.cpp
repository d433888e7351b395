// sacct dumps: what becomes of rows, and what of jobs in a replay.
#include "trace/sacct.hpp"

#include <gtest/gtest.h>

#include "trace/readers.hpp"

namespace fedsim::sacct {
namespace {

Dump dump_of(const std::string& text, const ReadOptions& options = {}) {
  Dump dump = read_dump({"dump.psv", text}, options);
  EXPECT_EQ(dump.rows, dump.steps + dump.folded + dump.broken + dump.jobs.size());
  return dump;
}

Trace trace_of(const std::string& text, const ReadOptions& options = {}) {
  return read_sacct_text({"dump.psv", text}, options);
}

std::string refusal(const std::string& text, const ReadOptions& options = {}) {
  try {
    read_dump({"dump.psv", text}, options);
  } catch (const InputError& e) {
    return e.diagnostics()[0].code + " " + e.diagnostics()[0].hint;
  }
  return "";
}

TEST(SacctTable, NameWithDelimiterInTheMiddleIsRecovered) {
  const Dump dump = dump_of("JobID|JobName|State|ElapsedRaw\n1|a|b|COMPLETED|60\n");
  ASSERT_EQ(dump.jobs.size(), 1U);
  EXPECT_EQ(dump.jobs[0].last.name, "a|b");
  EXPECT_EQ(dump.jobs[0].last.elapsed_s, 60);
}

TEST(SacctTable, RowThatFitsNowhereIsReportedWithItsLine) {
  const Dump dump = dump_of(
      "JobID|State|ElapsedRaw\n1|COMPLETED|60|x|y\n2|COMPLETED|60\n3|FAILED\n");
  EXPECT_EQ(dump.jobs.size(), 1U);
  EXPECT_EQ(dump.broken, 2U);
  ASSERT_EQ(dump.warnings.size(), 2U);
  EXPECT_EQ(dump.warnings[0].line, 2);
  EXPECT_EQ(dump.warnings[1].line, 4);
}

TEST(SacctTable, NameOverTwoLines) {
  const Dump dump = dump_of("JobID|JobName|State\n1|two\nlines|FAILED\n\n2|x|COMPLETED\n");
  ASSERT_EQ(dump.jobs.size(), 2U);
  EXPECT_EQ(dump.jobs[0].last.name, "two\nlines");
}

TEST(SacctTable, DelimiterFromHeader) {
  EXPECT_EQ(dump_of("JobID^|^JobName\n1^|^a|b\n").jobs[0].last.name, "a|b");
  EXPECT_EQ(dump_of("State\tJobID\nFAILED\t7\n").jobs[0].last.id, 7);
  EXPECT_EQ(dump_of("JobID,State\n7,FAILED\n").jobs[0].last.state, "FAILED");
  EXPECT_EQ(dump_of("JobID|State|\r\n7|FAILED|\r\n").jobs[0].last.state, "FAILED");
}

TEST(SacctTable, HeaderOfConcatenatedDumpsIsNoRow) {
  const Dump dump = dump_of("JobID|State\n1|FAILED\nJobID|State\n2|FAILED\n");
  EXPECT_EQ(dump.rows, 2U);
  EXPECT_TRUE(dump.warnings.empty());
}

TEST(SacctTable, Refusals) {
  EXPECT_EQ(refusal("1|COMPLETED|60\n").substr(0, 4), "C056");
  EXPECT_NE(refusal("1|COMPLETED|60\n").find("--columns"), std::string::npos);
  EXPECT_EQ(refusal("JobID      State\n---------- ----------\n1  FAILED\n").substr(0, 4), "C055");
  EXPECT_NE(refusal("JobID|State\n1|CANCELLED+\n").find("-P"), std::string::npos);
  ReadOptions options;
  options.columns = "State,Submit";
  EXPECT_EQ(refusal("FAILED|x\n", options).substr(0, 4), "C057");
}

TEST(SacctTable, ColumnsOfADumpWithoutHeader) {
  ReadOptions options;
  options.columns = "JobID,State,ElapsedRaw";
  EXPECT_EQ(dump_of("5|COMPLETED|60\n", options).jobs[0].last.elapsed_s, 60);
}

TEST(JobIds, Forms) {
  Record r;
  bool step = false;
  ASSERT_TRUE(parse_job_id("123_[1-3,7,10-20:5%2]", r, step));
  EXPECT_EQ(r.tasks, (std::vector<std::int64_t>{1, 2, 3, 7, 10, 15, 20}));
  EXPECT_EQ(r.throttle, 2);
  r = {};
  ASSERT_TRUE(parse_job_id("5+2.batch", r, step));
  EXPECT_TRUE(step);
  EXPECT_EQ(r.id, 7);
  EXPECT_EQ(r.het_offset, 2);
  for (const char* bad : {"", "x", "12x", "1_[3-1]", "1_[]", "99999999999", "1_[1-9:0]"}) {
    Record none;
    EXPECT_FALSE(parse_job_id(bad, none, step)) << bad;
  }
}

TEST(Tres, GpusAreCountedOnce) {
  EXPECT_EQ(parse_tres("gres/gpu=4,gres/gpu:a100=4").gpus, 4);
  EXPECT_EQ(parse_tres("gres/gpu:a40=1,gres/gpu:a100=2").gpus, 3);
  const Tres mixed = parse_tres("gres/gpu:a40=1,gres/gpu=3");
  EXPECT_EQ(mixed.gpu_types, (std::map<std::string, std::int64_t>{{"", 2}, {"a40", 1}}));
  EXPECT_FALSE(parse_tres("cpu").readable);
}

TEST(Tres, MemoryPerCpuBitOfOldAccounting) {
  const auto mem = parse_req_mem("2147486648Mn");  // 2^31 + 3000
  ASSERT_TRUE(mem);
  EXPECT_EQ(mem->mib, 3000);
  EXPECT_EQ(mem->per, MemoryPer::cpu);
  EXPECT_TRUE(parse_req_mem("0n")->whole);
  EXPECT_FALSE(parse_req_mem("4X"));
}

constexpr const char* kHead =
    "JobID|Cluster|State|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|ReqTRES|AllocTRES|"
    "NodeList\n";

TEST(Replay, FinishedJob) {
  const Trace trace = trace_of(std::string(kHead) +
      "7|c1|COMPLETED|2026-03-01T08:00:00|2026-03-01T08:05:00|2026-03-01T08:10:00|"
      "2026-03-01T09:10:00|3600|02:00:00|cpu=16,gres/gpu=4,node=2|cpu=16,gres/gpu=4,node=2|"
      "n[1-2]\n");
  ASSERT_EQ(trace.jobs.size(), 1U);
  const JobSpec& job = trace.jobs[0];
  EXPECT_EQ(job.submit, from_unix_seconds(1772352000));
  EXPECT_EQ(job.begin, from_unix_seconds(1772352300));
  EXPECT_EQ(job.run, 3600 * kSecond);
  EXPECT_TRUE(job.run_is_elapsed);
  EXPECT_EQ(job.limit_s, 7200);
  EXPECT_EQ(trace.strings.view(job.origin), "c1");
  const ResourceRequest& r = trace.requests[job.request];
  EXPECT_EQ(r.nodes_min, 2);
  EXPECT_EQ(r.ntasks, 2);
  EXPECT_EQ(r.cpus_per_task, 8);
  ASSERT_EQ(r.gres_per_node.size(), 1U);
  EXPECT_EQ(r.gres_per_node[0], (GresRequest{"gpu", "", 2}));
}

TEST(Replay, CancelledInQueueIsWithdrawn) {
  const Trace trace = trace_of(std::string(kHead) +
      "7|c1|CANCELLED by 5|1772352000|1772352000|None|1772352060|0|60|cpu=1||None assigned\n");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].cancel, from_unix_seconds(1772352060));
  EXPECT_EQ(trace.jobs[0].run, Duration{0});
}

TEST(Replay, NoNodesMeansItNeverRanWhateverAllocTresSays) {
  const Trace trace = trace_of(
      "JobID|Submit|Start|End|State|ElapsedRaw|AllocTRES|NodeList\n"
      "1|2025-01-01T00:00:00|2025-01-01T00:05:00|2025-01-01T00:05:00|CANCELLED by 7|0|"
      "cpu=4,node=1|None assigned\n");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].cancel, trace.jobs[0].submit + kSecond * 300);
}

TEST(Replay, HowJobsEnded) {
  const auto replay = [](const std::string& state) {
    return trace_of(
        "JobID|Submit|Start|End|State|ElapsedRaw|NodeList\n"
        "1|2025-01-01T00:00:00|2025-01-01T00:00:00|2025-01-01T00:05:00|" +
        state + "|300|n1\n");
  };
  EXPECT_EQ(replay("TIMEOUT").jobs[0].outcome, Outcome::timeout);
  EXPECT_EQ(replay("NODE_FAIL").jobs[0].outcome, Outcome::node_fail);
  const Trace preempted = replay("PREEMPTED");
  EXPECT_EQ(preempted.jobs[0].outcome, Outcome::completed);
  ASSERT_EQ(preempted.report.warnings.size(), 1U);
  EXPECT_NE(preempted.report.warnings[0].message.find("1 jobs ended when preempted"),
            std::string::npos);
}

TEST(Replay, WhatIsLeftOutIsCounted) {
  const Trace trace = trace_of(std::string(kHead) +
      "1|c1|PENDING|1772352000|Unknown|Unknown|Unknown|0|60|cpu=1||None assigned\n"
      "2|c1|FAILED|1772352000|Unknown|Unknown|1772352000|0|60|cpu=1||None assigned\n"
      "67108870|c1|REVOKED|1772352000|1772352000|Unknown|1772352060|0|60|cpu=1||None assigned\n"
      "3|c1|RUNNING|1772352000|1772352000|1772352001|Unknown|50|60|cpu=1|cpu=1,node=1|n1\n");
  EXPECT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.report.rejected, 1U);
  EXPECT_EQ(trace.report.rows, 4U);
  EXPECT_EQ(trace.report.warnings.size(), 4U);
}

// A sibling whose nodes can never hold a copy keeps a FAILED record of it.
TEST(Folding, FederatedCopies) {
  const Dump dump = dump_of(std::string(kHead) +
      "67108870|c1|COMPLETED|1772352000|1772352000|1772352010|1772352060|50|60|cpu=1|cpu=1|n1\n"
      "67108870|c2|FAILED|1772352000|1772352000|1772352001|1772352001|0|60|cpu=1||None assigned\n"
      "67108870|c3|REVOKED|1772352000|1772352000|Unknown|1772352010|0|60|cpu=1||None assigned\n");
  ASSERT_EQ(dump.jobs.size(), 1U);
  EXPECT_EQ(dump.jobs[0].last.state, "COMPLETED");
  EXPECT_EQ(dump.jobs[0].siblings, (std::vector<std::string>{"c2", "c3"}));
  EXPECT_EQ(dump.folded, 2U);
}

TEST(Folding, RequeuesAndRepeatedRows) {
  const std::string row2 =
      "9|c1|COMPLETED|1772352100|1772352100|1772352110|1772352160|50|60|cpu=1|cpu=1,node=1|n1\n";
  const Dump dump = dump_of(std::string(kHead) + row2 +
      "9|c1|REQUEUED|1772352000|1772352000|1772352010|1772352100|90|60|cpu=1|cpu=1|n1\n" + row2);
  ASSERT_EQ(dump.jobs.size(), 1U);
  EXPECT_EQ(dump.jobs[0].run_seconds, (std::vector<double>{90, 50}));
  EXPECT_EQ(dump.jobs[0].last.state, "COMPLETED");
  EXPECT_EQ(dump.jobs[0].first_submit->epoch, 1772352000);
}

TEST(Json, TwoGenerations) {
  const std::string text = R"({"jobs": [
    {"job_id": 11, "cluster": "c1", "state": {"current": "COMPLETED"}, "nodes": "n1",
     "time": {"submission": 1772348400, "start": 1772348460, "end": 1772348520, "elapsed": 60,
              "limit": 120},
     "tres": {"allocated": [{"type": "cpu", "name": null, "count": 8},
                            {"type": "gres", "name": "gpu", "count": 2},
                            {"type": "gres", "name": "gpu:a100", "count": 2}]}},
    {"job_id": 12, "cluster": "c1", "state": {"current": ["PENDING", "REQUEUED"]},
     "time": {"submission": 1772348400, "start": 0, "end": 0,
              "limit": {"set": false, "infinite": true, "number": 0}}},
    {"name": "no id"}]})";
  const Dump dump = read_json_dump({"dump.json", text}, {});
  ASSERT_EQ(dump.jobs.size(), 2U);
  EXPECT_EQ(dump.jobs[0].last.alloc.gpus, 2);
  EXPECT_EQ(dump.jobs[0].last.limit_s, 7200);
  EXPECT_EQ(dump.jobs[1].last.flags, (std::vector<std::string>{"REQUEUED"}));
  EXPECT_FALSE(dump.jobs[1].last.start);
  EXPECT_EQ(dump.jobs[1].last.limit, LimitKind::unlimited);
  EXPECT_EQ(dump.broken, 1U);
  EXPECT_THROW(read_json_dump({"dump.json", "{\"jobs\": ["}, {}), InputError);
  EXPECT_THROW(read_json_dump({"dump.json", "{}"}, {}), InputError);
}

}  // namespace
}  // namespace fedsim::sacct
