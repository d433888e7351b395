// Recorded scenarios: what the committed ones say, and that nothing unmodelled passes in silence.
#include "fedsim/scenario.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "support/paths.hpp"

namespace fedsim {
namespace {

namespace fs = std::filesystem;

TEST(Scenario, Requeue) {
  const fs::path folder = test::repository() / "traces/requeue";
  const RecordedScenario s = read_scenario(folder);
  ASSERT_EQ(s.spec.clusters.size(), 3U);
  EXPECT_TRUE(s.spec.federated);
  EXPECT_EQ(s.spec.clusters[0].name, "alpha");
  EXPECT_EQ(s.spec.clusters[0].release, (SlurmRelease{22, 5}));
  ASSERT_EQ(s.trace.operations.size(), 1U);
  EXPECT_EQ(s.trace.operations[0].kind, OperationKind::requeue);
  EXPECT_TRUE(s.trace.relative_times);
  EXPECT_EQ(s.options.horizon, s.trace.t0 + 200 * kSecond);
  ASSERT_EQ(s.options.controller_start.size(), 3U);
  EXPECT_LT(s.options.controller_start[0], s.trace.t0);
}

class ScenarioFolder : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / (std::string("fedsim-") + info->name());
    fs::remove_all(folder_);
    for (const char* name : {"a", "b"}) {
      write("clusters/" + std::string(name) + "/slurm.conf",
            "ClusterName=" + std::string(name) +
                "\nNodeName=n1 CPUs=8\nPartitionName=p Nodes=n1 Default=YES\n");
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  void events(const std::string& list) {
    write("scenario.json", R"({"name": "s", "federation": true, "clusters": [{"name": "a"},
      {"name": "b"}], "events": [)" +
                               list + R"(], "end": {"max": 90}})");
  }
  std::string refusal() {
    try {
      read_scenario(folder_);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  }

  fs::path folder_;
};

constexpr const char* kSubmit =
    R"({"t": 1.5, "op": "submit", "label": "J", "at": "b", "args": ["-n2", "--begin=now+10"],
        "run": 20, "user": "alice"})";

TEST_F(ScenarioFolder, SubmissionsOrderAndFeatures) {
  events(kSubmit);
  write("setup.jsonl",
        R"({"argv": ["sacctmgr", "-i", "add", "federation", "fed", "clusters=b,a"], "rc": 0})"
        "\n"
        R"({"argv": ["sacctmgr", "-i", "add", "user", "alice", "Account=physics"], "rc": 0})"
        "\n"
        R"({"argv": ["sacctmgr", "-i", "add", "qos", "low", "MaxWall=5"], "rc": 0})"
        "\n"
        R"({"argv": ["sacctmgr", "-i", "add", "qos", "x", "GrpTRES=cpu=1"], "rc": 1})"
        "\n"
        R"({"argv": ["sacctmgr", "modify", "cluster", "a", "set", "features=fast,ib"], "rc": 0})");
  write("run1/meta.json", R"({"t0_epoch": 1000, "slurmctld_start": {"a": -12.5},
                              "version": "slurm-wlm 24.11.5"})");
  write("run1/passes.csv", "t,cluster,pass\n2.5,b,backfill\n1.25,a,main\n");
  const RecordedScenario s = read_scenario(folder_);
  EXPECT_EQ(s.spec.name, "fed");
  EXPECT_EQ(s.spec.clusters[0].name, "b");  // federation ids follow clusters=
  EXPECT_EQ(s.spec.clusters[1].features, (std::vector<std::string>{"fast", "ib"}));
  EXPECT_EQ(s.spec.clusters[0].release, (SlurmRelease{24, 11}));
  EXPECT_EQ(s.options.controller_start[0], kNoTime);
  EXPECT_EQ(s.options.controller_start[1], SimTime{Duration{987'500'000'000}});
  ASSERT_EQ(s.options.driven.size(), 2U);
  EXPECT_EQ(s.options.driven[0].at, SimTime{Duration{1'001'250'000'000}});
  EXPECT_EQ(s.options.driven[1].kind, DrivenPass::Kind::backfill);
  const JobSpec& job = s.trace.jobs.at(0);
  EXPECT_EQ(job.submit, SimTime{Duration{1'001'500'000'000}});
  EXPECT_EQ(job.begin, SimTime{Duration{1'011'500'000'000}});
  EXPECT_EQ(s.trace.strings.view(job.origin), "b");
  EXPECT_EQ(s.trace.strings.view(job.user), "alice");
  EXPECT_EQ(s.trace.strings.view(job.account), "physics");
  EXPECT_FALSE(job.run_is_elapsed);
  int limits = 0;
  for (const Diagnostic& d : s.warnings) {
    limits += d.code == "C067";
    EXPECT_EQ(d.message.find("qos x"), std::string::npos);  // refused then: changed nothing
  }
  EXPECT_EQ(limits, 1);
}

TEST_F(ScenarioFolder, Operations) {
  events(std::string(kSubmit) +
         R"(,{"t": 5, "op": "cmd", "at": "a", "argv": ["squeue", "-a"]},
             {"t": 6, "op": "cmd", "at": "a", "argv": ["scontrol", "show", "federation"]},
             {"t": 7, "op": "cmd", "at": "a", "argv": ["scancel", "--sibling=b", "{J}"]},
             {"t": 8, "op": "cmd", "at": "a", "argv": ["scancel", "-M", "b", "{J}"]},
             {"t": 9, "op": "cmd", "at": "b", "argv": ["scontrol", "hold", "{J}"]})");
  const RecordedScenario s = read_scenario(folder_);
  ASSERT_EQ(s.trace.operations.size(), 3U);
  EXPECT_EQ(s.trace.strings.view(s.trace.operations[0].sibling), "b");
  EXPECT_EQ(s.trace.strings.view(s.trace.operations[0].cluster), "a");
  EXPECT_FALSE(s.trace.operations[0].remote);
  EXPECT_EQ(s.trace.strings.view(s.trace.operations[1].cluster), "b");
  EXPECT_TRUE(s.trace.operations[1].remote);
  EXPECT_EQ(s.trace.operations[2].kind, OperationKind::hold);
  EXPECT_EQ(s.trace.strings.view(s.trace.operations[2].target), "J");
}

TEST_F(ScenarioFolder, ArraysAndHeterogeneousJobs) {
  events(R"({"t": 0, "op": "submit", "label": "A", "at": "a", "run": 1,
              "args": ["-a", "0-4:2,7%2"]},
             {"t": 1, "op": "submit", "label": "H", "at": "a", "run": 1,
              "args": ["-M", "b", "-n1", ":", "-n2", "-d", "afterok:{A}"]})");
  const RecordedScenario s = read_scenario(folder_);
  const std::vector<JobSpec>& jobs = s.trace.jobs;
  ASSERT_EQ(jobs.size(), 6U);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(jobs[k].array_task, (std::vector<std::int32_t>{0, 2, 4, 7})[k]);
    EXPECT_EQ(jobs[k].array_job, jobs[0].array_job);
    EXPECT_EQ(jobs[k].array_limit, 2U);
  }
  EXPECT_NE(jobs[4].het_job, 0U);
  EXPECT_EQ(jobs[5].het_job, jobs[4].het_job);
  EXPECT_EQ(s.trace.strings.view(jobs[5].clusters), "b");
  EXPECT_EQ(s.trace.strings.view(jobs[5].dependency), "afterok:{A}");
}

TEST_F(ScenarioFolder, UpdatesStatesAndFaults) {
  events(std::string(kSubmit) +
         R"(,{"t": 1, "op": "cmd", "at": "a",
           "argv": ["scontrol", "update", "jobid={J}", "clusters=b"]},
          {"t": 2, "op": "cmd", "at": "a",
           "argv": ["sacctmgr", "-i", "modify", "cluster", "b", "set", "fedstate=drain+remove"]},
          {"t": 3, "op": "stop_ctld", "cluster": "b"},
          {"t": 4, "op": "start_ctld", "cluster": "b"},
          {"t": 5, "op": "link_down", "clusters": ["a", "b"]},
          {"t": 6, "op": "stop_dbd"})");
  const RecordedScenario s = read_scenario(folder_);
  const std::vector<Operation>& ops = s.trace.operations;
  ASSERT_EQ(ops.size(), 6U);
  EXPECT_EQ(ops[0].kind, OperationKind::update_clusters);
  EXPECT_EQ(s.trace.strings.view(ops[0].value), "b");
  EXPECT_EQ(ops[1].kind, OperationKind::fed_state);
  EXPECT_EQ(s.trace.strings.view(ops[1].cluster), "b");
  EXPECT_EQ(s.trace.strings.view(ops[1].value), "DRAIN+REMOVE");
  EXPECT_EQ(ops[2].kind, OperationKind::controller_down);
  EXPECT_EQ(ops[3].kind, OperationKind::controller_up);
  EXPECT_EQ(ops[4].kind, OperationKind::link_down);
  EXPECT_EQ(s.trace.strings.view(ops[4].sibling), "b");
  EXPECT_EQ(ops[5].kind, OperationKind::database_down);
}

TEST_F(ScenarioFolder, WhatIsNotModelledIsNamedAllAtOnce) {
  events(std::string(kSubmit) +
         R"(,{"t": 2, "op": "submit", "label": "K", "at": "a", "run": 1,
              "args": ["--reservation=r"]},
             {"t": 3, "op": "cmd", "at": "a", "argv": ["scontrol", "update", "jobid={J}"]},
             {"t": 4, "op": "kill_slurmd", "node": "a1"},
             {"t": 5, "op": "cmd", "at": "a", "argv": ["scancel", "-u", "bob"]},
             {"t": 6, "op": "cmd", "at": "a", "argv": ["scancel", "{GONE}"]},
             {"t": 7, "op": "submit", "label": "L", "at": "nowhere", "args": [], "run": 1})");
  const std::string text = refusal();
  for (const char* part : {"--reservation", "scontrol update jobid={J}", "kill_slurmd",
                           "scancel -u bob", "GONE", "no cluster nowhere"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  }
}

TEST_F(ScenarioFolder, DamagedJson) {
  write("scenario.json", "{\"name\": \n \"s\", ]}");
  EXPECT_NE(refusal().find("scenario.json:2"), std::string::npos) << refusal();
  write("scenario.json", R"({"name": 5, "clusters": [], "events": []})");
  EXPECT_NE(refusal().find("C060"), std::string::npos);
}

TEST_F(ScenarioFolder, MissingFolder) {
  EXPECT_FALSE(is_recorded_scenario(folder_ / "none"));
  EXPECT_THROW(read_scenario(folder_ / "none"), FileError);
}

}  // namespace
}  // namespace fedsim
