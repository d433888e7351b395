// Reading a recorded run: CSV with quotes, refusals in Slurm's words, records by key.
#include "result/recorded_run.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fedsim/error.hpp"
#include "fedsim/scenario.hpp"

namespace fedsim {
namespace {

namespace fs = std::filesystem;

class RecordedRun : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("fedsim-recorded-test-" + std::to_string(::getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path make(const std::string& name, const std::string& rows,
                const std::string& commands = "") const {
    const fs::path run = root_ / "scenario" / name;
    fs::create_directories(run);
    std::ofstream(run / "expected.csv")
        << "label,jobid,cluster,state,submit,eligible,start,end,nodes,gpu_idx,alloc_tres\n"
        << rows;
    std::ofstream(run / "commands.jsonl") << commands;
    return run;
  }
  fs::path root_;
};

const char* const kTwoJobs =
    "J1,67108865,alpha,REVOKED,0,0,,0,,,\n"
    "J1,67108865,beta,COMPLETED,0,0,1,31,b1,b1:gpu:a100[0-5],\"cpu=1,gres/gpu=6\"\n"
    "A1,67108866_3,alpha,CANCELLED by 0,2,2,3,9,\"a[1,3]\",,\n";

TEST_F(RecordedRun, ReadsQuotedFieldsAndArrayTasks) {
  const ComparedRun run = read_recorded_run(make("run1", kTwoJobs));
  ASSERT_EQ(run.keys.size(), 3U);
  const ComparedRecord& ran = run.records.at({"J1", "", "beta"}).front();
  EXPECT_EQ(ran.gpu_idx, "b1:gpu:a100[0-5]");
  EXPECT_EQ(ran.start, 1.0);
  EXPECT_FALSE(run.records.at({"J1", "", "alpha"}).front().start.has_value());
  EXPECT_EQ(run.records.at({"A1", "3", "alpha"}).front().nodes, "a[1,3]");
}

TEST_F(RecordedRun, KeepsTheLastErrorOfARefusal) {
  const ComparedRun run = read_recorded_run(make(
      "run1", "BAD,67108867,alpha,FAILED,0,0,0,0,,,\n" + std::string(kTwoJobs),
      R"({"argv": ["sbatch"], "rc": 1, "label": "BAD", "stderr": "sbatch: error: no: big\n)"
      R"(sbatch: error: Batch job submission failed: Invalid partition name specified\n"}
{"argv": ["squeue"], "rc": 1, "label": "J1", "stderr": "squeue: error: no"}
{"argv": ["sbatch", "y"], "rc": 0, "label": "J1", "stderr": ""}
)"));
  ASSERT_EQ(run.refused.size(), 1U);
  EXPECT_EQ(run.refused.at("BAD"), "Invalid partition name specified");
  EXPECT_EQ(run.keys.size(), 3U);  // the FAILED row of a refused submission is no record
}

TEST_F(RecordedRun, NamesTheLineThatIsNotJson) {
  try {
    (void)read_recorded_run(make("run1", kTwoJobs, "{}\nnot json\n"));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostics().front().line, 2);
  }
  EXPECT_THROW((void)read_recorded_run(root_ / "nosuch"), FileError);
}

VerifyRow against(const fs::path& a, const fs::path& b) {
  return compare_recordings(a, b, 3 * kSecond);
}

TEST_F(RecordedRun, ARunAgreesWithItself) {
  const VerifyRow row = against(make("run1", kTwoJobs), make("run2", kTwoJobs));
  EXPECT_EQ(row.scenario, "scenario");
  EXPECT_EQ(row.run, "run1");
  EXPECT_EQ(row.records, 3U);
  EXPECT_EQ(row.all, 3U);
  EXPECT_TRUE(row.differences.empty());
}

TEST_F(RecordedRun, EachFieldCountsAlone) {
  const fs::path base = make("run1", "J,1,a,COMPLETED,0,0,10,20,n1,n1:gpu:x[0],\n");
  struct Case {
    const char* row;
    std::size_t state, nodes, gpus, start;
  };
  for (const Case& c :
       {Case{"J,1,a,COMPLETED,0,0,13,20,n1,n1:gpu:x[0],\n", 1, 1, 1, 1},  // 3 s are within
        Case{"J,1,a,COMPLETED,0,0,13.5,20,n1,n1:gpu:x[0],\n", 1, 1, 1, 0},
        Case{"J,1,a,COMPLETED,0,0,,,n1,n1:gpu:x[0],\n", 1, 1, 1, 0},
        Case{"J,1,a,FAILED,0,0,10,20,n1,n1:gpu:x[0],\n", 0, 1, 1, 1},
        Case{"J,1,a,COMPLETED,0,0,10,20,n2,n1:gpu:x[0],\n", 1, 0, 1, 1},
        Case{"J,1,a,COMPLETED,0,0,10,20,n1,n1:gpu:x[1],\n", 1, 1, 0, 1}}) {
    const VerifyRow row = against(base, make("run2", c.row));
    EXPECT_EQ(row.state, c.state) << c.row;
    EXPECT_EQ(row.nodes, c.nodes) << c.row;
    EXPECT_EQ(row.gpus, c.gpus) << c.row;
    EXPECT_EQ(row.start, c.start) << c.row;
    EXPECT_EQ(row.all, c.state * c.nodes * c.gpus * c.start) << c.row;
  }
}

TEST_F(RecordedRun, WhatTheRecorderCannotKnowIsNotCompared) {
  // A revoked record's start; GPU indices that no poll caught; "n1:-" is no GPU.
  EXPECT_EQ(against(make("run1", "J,1,a,REVOKED,0,0,,5,,,\n"),
                    make("run2", "J,1,a,REVOKED,0,0,99,99,,,\n"))
                .all,
            1U);
  EXPECT_EQ(against(make("run1", "J,1,a,COMPLETED,0,0,1,5,n1,,\n"),
                    make("run2", "J,1,a,COMPLETED,0,0,1,5,n1,n1:gpu:x[0],\n"))
                .all,
            1U);
  EXPECT_EQ(against(make("run1", "J,1,a,COMPLETED,0,0,1,5,n1,n1:-,\n"),
                    make("run2", "J,1,a,COMPLETED,0,0,1,5,n1,,\n"))
                .all,
            1U);
  EXPECT_EQ(against(make("run1", "J,1,a,COMPLETED,0,0,1,5,n1,n1:-,\n"),
                    make("run2", "J,1,a,COMPLETED,0,0,1,5,n1,n1:gpu:x[0],\n"))
                .all,
            0U);
  EXPECT_EQ(against(make("run1", "J,1,a,CANCELLED by 0,0,0,1,5,n1,,\n"),
                    make("run2", "J,1,a,CANCELLED,0,0,1,5,n1,,\n"))
                .all,
            1U);
}

TEST_F(RecordedRun, MissingAndExtraRecordsAreCounted) {
  const fs::path one = make("run1", "J,1,a,COMPLETED,0,0,1,5,n1,,\n");
  const fs::path two = make("run2", "J,1,a,REQUEUED,0,0,1,2,n1,,\nJ,1,a,COMPLETED,2,2,3,5,n1,,\n");
  EXPECT_EQ(against(one, two).extra, 1U);
  EXPECT_EQ(against(two, one).records, 2U);
  ASSERT_FALSE(against(two, one).differences.empty());
  EXPECT_NE(against(two, one).differences.back().find("no such record"), std::string::npos);
}

TEST_F(RecordedRun, RefusalsMustCarryTheSameText) {
  const auto refusal = [](const std::string& text) {
    return R"({"argv": ["sbatch"], "rc": 1, "label": "B", "stderr": "sbatch: error: )" +
           std::string("Batch job submission failed: ") +
           text + "\"}\n";
  };
  const fs::path run = make("run1", "", refusal("Invalid qos specification"));
  EXPECT_EQ(against(run, make("run2", "", refusal("Invalid qos specification"))).all, 1U);
  const VerifyRow other = against(run, make("run2", "", refusal("Access/permission denied")));
  EXPECT_EQ(other.all, 0U);
  EXPECT_EQ(other.state, 1U);
  EXPECT_EQ(against(make("run2", ""), run).extra, 1U);
}

}  // namespace
}  // namespace fedsim
