// Whole runs of small federations: records, populations, policies, limits, branching, sameness.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/reason.hpp"
#include "support/tiny.hpp"

namespace fedsim {
namespace {

using tiny::at;
using tiny::cluster;
using tiny::federation;
using tiny::records_of;
using tiny::rel;

Scenario founding_example() {
  tiny::Jobs jobs;
  jobs.add({.label = "J2",
            .run_s = 7200,
            .limit_s = 10000,
            .gpus = 6,
            .tasks = 6,
            .origin = "a",
            .clusters = "a"});
  jobs.add({.label = "J1",
            .submit_s = 5,
            .run_s = 7200,
            .limit_s = 10000,
            .gpus = 6,
            .tasks = 6,
            .origin = "a"});
  return tiny::scenario(federation({cluster("a", 1, 8), cluster("b", 1, 8)}), std::move(jobs));
}

// F01: job ids, records, allocations, GPUs and processes are five populations.
TEST(Run, FivePopulations) {
  Scenario s = founding_example();
  const Result r = run(s);
  const Populations& p = r.summary.populations;
  EXPECT_EQ(p.jobs, 2U);
  EXPECT_EQ(p.allocations, 2U);
  EXPECT_EQ(p.distinct_gpus, 12U);
  EXPECT_EQ(p.processes, 12U);
  EXPECT_EQ(p.process_groups, 2U);
  EXPECT_EQ(p.largest_group, 6U);
  EXPECT_EQ(p.naive_gpu_sum, 18);
  EXPECT_EQ(p.records.at("COMPLETED"), 2U);
  EXPECT_EQ(p.records.at("REVOKED"), 1U);
  EXPECT_DOUBLE_EQ(r.summary.gpu_hours, 24.0);
}

// F03 and F04: the order of the story, and what the revoked origin record holds.
TEST(Run, StartOnTheSiblingRevokesTheOrigin) {
  const Result r = run(founding_example());
  std::vector<std::pair<StoryKind, std::uint32_t>> story;
  for (const StoryEvent& e : r.events) {
    if (e.job == JobId{1} && e.kind != StoryKind::lock_denied)
      story.emplace_back(e.kind, e.cluster.index());
  }
  // The full origin may take the lock and give it back; that is not part of the story's order.
  std::erase_if(story, [](const auto& e) { return e.first == StoryKind::lock && e.second == 0; });
  const std::vector<std::pair<StoryKind, std::uint32_t>> wanted{
      {StoryKind::submit, 0}, {StoryKind::sibling_submit, 0}, {StoryKind::lock, 1},
      {StoryKind::start, 1},  {StoryKind::revoke, 0},         {StoryKind::complete, 1}};
  EXPECT_EQ(story, wanted);
  const auto rows = records_of(r, "J1");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].state, RecordState::revoked);
  EXPECT_EQ(rows[0].allocation, UINT32_MAX);
  EXPECT_EQ(rows[0].end, rows[1].start);
  EXPECT_EQ(rows[1].state, RecordState::completed);
}

TEST(Run, FederatedIdsCarryTheOrigin) {
  tiny::Jobs jobs;
  jobs.add({.label = "A", .gpus = 1, .origin = "a"});
  jobs.add({.label = "B", .submit_s = 1, .gpus = 1, .origin = "b"});
  const Result r =
      run(tiny::scenario(federation({cluster("a", 1, 8), cluster("b", 1, 8)}), std::move(jobs)));
  EXPECT_EQ(r.job_rows[0].job_id, 67108865U);
  EXPECT_EQ(r.job_rows[1].job_id, 134217729U);
}

// A federation of one decides like the cluster alone.
TEST(Run, FederationOfOneIsTheClusterAlone) {
  const auto make = [](bool federated) {
    tiny::Jobs jobs;
    for (int i = 0; i < 40; ++i) {
      jobs.add({.label = "J" + std::to_string(i),
                .submit_s = i * 7.0,
                .run_s = 50.0 + i * 3,
                .gpus = 1 + i % 8});
    }
    FederationSpec spec = federation({cluster("a", 2, 8)});
    spec.federated = federated;
    return run(tiny::scenario(spec, std::move(jobs)));
  };
  const Result alone = make(false);
  const Result fed = make(true);
  ASSERT_EQ(alone.record_rows.size(), fed.record_rows.size());
  for (std::size_t i = 0; i < alone.record_rows.size(); ++i) {
    EXPECT_EQ(alone.record_rows[i].start, fed.record_rows[i].start);
  }
}

// F91: 8 GPUs; A 6 GPUs 10 h, B 8 GPUs 10 h, C 2 GPUs 9 h, in that order.
Result three_jobs(Policy policy, std::int64_t c_limit_h) {
  tiny::Jobs jobs;
  jobs.add({.label = "A", .run_s = 36000, .limit_s = 36000, .gpus = 6});
  jobs.add({.label = "B", .submit_s = 1, .run_s = 36000, .limit_s = 36000, .gpus = 8});
  jobs.add({.label = "C", .submit_s = 2, .run_s = 32400, .limit_s = c_limit_h * 3600, .gpus = 2});
  Scenario s = tiny::scenario(federation({cluster("a", 1, 8)}), std::move(jobs), Fidelity::ideal);
  s.options.policy = policy;
  return run(s);
}

TEST(Run, IdealPoliciesOnTheTextbookCase) {
  const Result fcfs = three_jobs(Policy::fcfs, 9);
  EXPECT_DOUBLE_EQ(fcfs.summary.makespan_s, 29 * 3600.0);
  for (const Policy p : {Policy::easy, Policy::conservative}) {
    const Result filled = three_jobs(p, 9);
    EXPECT_DOUBLE_EQ(filled.summary.makespan_s, 20 * 3600.0);
    EXPECT_EQ(rel(records_of(filled, "C")[0].start), 2.0);
    EXPECT_DOUBLE_EQ(three_jobs(p, 24).summary.makespan_s, 29 * 3600.0);
  }
}

TEST(Run, TimeLimitEndsTheJob) {
  tiny::Jobs jobs;
  jobs.add({.label = "LONG", .run_s = 500, .limit_s = 60, .gpus = 1});
  const auto spec = federation({cluster("a", 1, 8)});
  const Result ideal = run(tiny::scenario(spec, jobs, Fidelity::ideal));
  EXPECT_EQ(records_of(ideal, "LONG")[0].state, RecordState::timeout);
  EXPECT_EQ(rel(records_of(ideal, "LONG")[0].end), 60.0);
  // Real controllers look every 30 s only.
  const Result real = run(tiny::scenario(spec, jobs));
  EXPECT_EQ(records_of(real, "LONG")[0].state, RecordState::timeout);
  EXPECT_GE(rel(records_of(real, "LONG")[0].end), 60.0);
  EXPECT_LE(rel(records_of(real, "LONG")[0].end), 92.0);
}

// Recording 06: a requeued job is eligible 121 s later and then waits for the 60 s pass.
TEST(Run, RequeueCosts121Seconds) {
  tiny::Jobs jobs;
  jobs.add({.label = "J", .run_s = 30, .gpus = 6, .origin = "a"});
  jobs.operation(10, OperationKind::requeue, "a", "J");
  const Result r =
      run(tiny::scenario(federation({cluster("a", 1, 8), cluster("b", 1, 8)}), std::move(jobs)));
  const auto rows = records_of(r, "J");
  const auto requeued = std::count_if(rows.begin(), rows.end(), [](const RecordRow& x) {
    return x.state == RecordState::requeued;
  });
  EXPECT_EQ(requeued, 1);
  const auto done = std::find_if(rows.begin(), rows.end(), [](const RecordRow& x) {
    return x.state == RecordState::completed;
  });
  ASSERT_NE(done, rows.end());
  EXPECT_EQ(rel(done->eligible), 131.0);
  EXPECT_GE(rel(done->start), 131.0);
  EXPECT_EQ(r.job_rows[0].restarts, 1U);
}

TEST(Run, CancelAtTheOriginCancelsEveryRecord) {
  tiny::Jobs jobs;
  jobs.add({.label = "FILL_A", .run_s = 300, .gpus = 8, .origin = "a", .clusters = "a"});
  jobs.add({.label = "FILL_B", .run_s = 300, .gpus = 8, .origin = "b", .clusters = "b"});
  jobs.add({.label = "J", .submit_s = 5, .gpus = 8, .origin = "a"});
  jobs.operation(20, OperationKind::scancel, "a", "J");
  const Result r =
      run(tiny::scenario(federation({cluster("a", 1, 8), cluster("b", 1, 8)}), std::move(jobs)));
  const auto rows = records_of(r, "J");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].state, RecordState::cancelled);
  EXPECT_EQ(rows[1].state, RecordState::revoked);
}

TEST(Run, CopyOfASimulationIsABranch) {
  Simulation a(founding_example());
  a.run_until(at(3));
  Simulation b = a;
  a.run_to_end();
  EXPECT_NE(a.fingerprint(), b.fingerprint());
  b.run_to_end();
  EXPECT_EQ(a.fingerprint(), b.fingerprint());
  EXPECT_EQ(a.events(), b.events());
}

TEST(Run, ObserverSeesWhatTheEventTableKeeps) {
  struct Counter : Observer {
    std::size_t n = 0;
    void on_event(const StoryEvent&) override { ++n; }
  } counter;
  Simulation sim(founding_example());
  sim.observe(&counter);
  sim.run_to_end();
  EXPECT_EQ(counter.n, sim.result().events.size());
  EXPECT_GT(counter.n, 6U);
}

TEST(Run, HorizonLeavesRunningRecords) {
  Scenario s = founding_example();
  s.options.horizon = at(100);
  const Result r = run(s);
  EXPECT_EQ(r.job_rows[0].state, RecordState::running);
  EXPECT_EQ(r.summary.populations.records.at("RUNNING"), 2U);
}

TEST(Run, EventCapIsAnError) {
  Scenario s = founding_example();
  s.options.max_events = 3;
  EXPECT_THROW((void)run(s), InputError);
}

TEST(Run, ProgressCanStopTheRun) {
  tiny::Jobs jobs;
  for (int i = 0; i < 20000; ++i)
    jobs.add({.label = "", .submit_s = i * 1.0, .run_s = 5, .gpus = 1});
  Scenario s = tiny::scenario(federation({cluster("a", 1, 8)}), std::move(jobs));
  s.options.audit_every = 0;
  s.options.progress = [](const Progress&) { return false; };
  EXPECT_THROW((void)run(s), Interrupted);
}

// More nodes than the partition has: accepted, waits for ever, and the run still ends.
TEST(Run, JobsThatCanNeverRunDoNotKeepTheRunAlive) {
  tiny::Jobs jobs;
  ResourceRequest r;
  r.nodes_min = r.nodes_max = 2;
  jobs.add({.label = "WIDE"}, r);
  jobs.add({.label = "J", .submit_s = 1, .run_s = 10, .gpus = 1});
  const Result result = run(tiny::scenario(federation({cluster("a", 1, 8)}), std::move(jobs)));
  EXPECT_EQ(records_of(result, "J")[0].state, RecordState::completed);
  EXPECT_EQ(records_of(result, "WIDE")[0].state, RecordState::pending);
  EXPECT_EQ(static_cast<Reason>(records_of(result, "WIDE")[0].reason),
            Reason::partition_node_limit);
  EXPECT_LT(result.summary.events, 30U);
}

TEST(Run, UnknownPartitionIsARejection) {
  Trace trace;
  JobSpec j;
  j.submit = at(0);
  j.partition = trace.strings.intern("nosuch");
  j.request = trace.intern_request({});
  trace.jobs.push_back(j);
  trace.finish();
  Scenario s;
  s.model = compile(federation({cluster("a", 1, 8)}));
  s.trace = std::make_shared<const Trace>(trace);
  const Result r = run(s);
  EXPECT_EQ(r.job_rows[0].state, RecordState::rejected);
  EXPECT_EQ(reason_text(r.job_rows[0].reason), "Invalid partition name specified");
}

/// Components of a heterogeneous job start together, on nodes of their own, or not at all.
TEST(IdealRun, HeterogeneousJobsStartTogether) {
  for (const Policy policy : {Policy::fcfs, Policy::easy, Policy::conservative}) {
    tiny::Jobs jobs;
    jobs.add({.label = "first", .run_s = 100, .limit_s = 100, .gpus = 8, .clusters = ""});
    ResourceRequest whole;
    whole.ntasks = 1;
    whole.gres_per_node = {{"gpu", "", 8}};
    jobs.add({.label = "het", .submit_s = 10}, whole).het_job = 1;
    jobs.add({.label = "het", .submit_s = 10}, whole).het_job = 1;
    Scenario s = tiny::scenario(tiny::federation({tiny::cluster("a", 2, 8)}), std::move(jobs),
                                Fidelity::ideal);
    s.options.policy = policy;
    const Result r = run(s);
    const std::vector<RecordRow> parts = tiny::records_of(r, "het");
    ASSERT_EQ(parts.size(), 2U);
    for (const RecordRow& part : parts) EXPECT_DOUBLE_EQ(tiny::rel(part.start), 100);
    ASSERT_EQ(r.allocation_rows.size(), 3U);
  }
}

/// A component that no node can run refuses the whole submission.
TEST(Run, HeterogeneousJobsAreRefusedTogether) {
  tiny::Jobs jobs;
  ResourceRequest good;
  good.ntasks = 1;
  ResourceRequest bad = good;
  bad.gres_per_node = {{"gpu", "", 9}};
  jobs.add({.label = "het"}, good).het_job = 1;
  jobs.add({.label = "het"}, bad).het_job = 1;
  const Result r =
      run(tiny::scenario(tiny::federation({tiny::cluster("a", 2, 8)}), std::move(jobs)));
  for (const RecordRow& part : tiny::records_of(r, "het"))
    EXPECT_EQ(part.state, RecordState::rejected);
  EXPECT_TRUE(r.allocation_rows.empty());
}

// 22.05: --switches waits for fewer leaf switches, up to its wait or max_switch_wait.
TEST(Run, SwitchesAreWaitedFor) {
  ClusterSpec c = tiny::cluster("a", 4, 1);
  c.options["TopologyPlugin"] = "topology/tree";
  c.options["SchedulerParameters"] = "max_switch_wait=600";
  c.switches = {{"left", {"a1", "a2"}, {}, kUnset},
                {"right", {"a3", "a4"}, {}, kUnset},
                {"top", {}, {"left", "right"}, kUnset}};
  const auto start = [&](int switches, std::int64_t wait_s) {
    tiny::Jobs jobs;
    ResourceRequest one;
    one.gres_per_node = {{"gpu", "", 1}};
    for (const char* node : {"a1", "a3"}) {
      one.nodelist = node;
      jobs.add({.label = node, .submit_s = 0, .run_s = 3000}, one);
    }
    ResourceRequest two;
    two.nodes_min = two.nodes_max = 2;
    two.gres_per_node = {{"gpu", "", 1}};
    two.switches = switches;
    two.switch_wait_s = wait_s;
    jobs.add({.label = "J", .submit_s = 60, .run_s = 60, .limit_s = 7200}, two);
    return tiny::rel(
        tiny::records_of(run(tiny::scenario(tiny::federation({c}), jobs)), "J").front().start);
  };
  EXPECT_LT(start(2, kUnset), 120);
  EXPECT_LT(start(0, kUnset), 120);
  const double waited = start(1, 300);
  EXPECT_GE(waited, 60 + 300);
  EXPECT_LT(waited, 60 + 300 + 120);
  EXPECT_GE(start(1, 7200), 60 + 600) << "max_switch_wait";
}

}  // namespace
}  // namespace fedsim
