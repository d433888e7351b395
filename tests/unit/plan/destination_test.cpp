// F20 to F25 of the feature list: capacity, eligibility and rejection of one job on a federation.
#include <gtest/gtest.h>

#include "base/reason.hpp"
#include "fedsim/plan.hpp"
#include "support/tiny.hpp"

namespace fedsim {
namespace {

using tiny::at;
using tiny::cluster;
using tiny::federation;

ResourceRequest gpus(int n) {
  ResourceRequest r;
  r.gres_per_job = {{"gpu", "", n}};
  return r;
}

// F20: eight and eight never make twelve.
TEST(Destination, TwelveExceedsEightPlusEight) {
  const auto model = compile(federation({cluster("a", 1, 8), cluster("b", 1, 8)}));
  const FitReport r = fit(*model, gpus(12));
  EXPECT_EQ(r.fleet_gpus, 16);
  EXPECT_EQ(r.max_domain, 8);
  EXPECT_EQ(r.requested, 12);
  EXPECT_EQ(r.shortfall, 4);
  EXPECT_FALSE(r.feasible);
  EXPECT_EQ(r.code, "EXCEEDS_EVERY_DOMAIN");
}

// F21: a third eight changes nothing, sixteen in one cluster does.
TEST(Destination, AThirdEightAddsNoDestination) {
  const auto three =
      compile(federation({cluster("a", 1, 8), cluster("b", 1, 8), cluster("c", 1, 8)}));
  const FitReport r3 = fit(*three, gpus(12));
  EXPECT_EQ(r3.fleet_gpus, 24);
  EXPECT_EQ(r3.max_domain, 8);
  EXPECT_EQ(r3.eligible, 0U);
  const auto four =
      compile(federation({cluster("a", 1, 8), cluster("b", 1, 8), cluster("d", 2, 8)}));
  const FitReport r4 = fit(*four, gpus(12));
  EXPECT_TRUE(r4.feasible);
  ASSERT_EQ(r4.eligible, 1U);
  EXPECT_TRUE(r4.destinations[2].eligible);
}

Scenario two_sixes_and_a_third() {
  tiny::Jobs jobs;
  jobs.add({.label = "J2",
            .submit_s = 0,
            .run_s = 600,
            .gpus = 6,
            .tasks = 6,
            .origin = "a",
            .clusters = "a"});
  jobs.add({.label = "J1", .submit_s = 1, .run_s = 600, .gpus = 6, .tasks = 6, .origin = "a"});
  jobs.add({.label = "J3", .submit_s = 2, .run_s = 60, .gpus = 6, .tasks = 6, .origin = "a"});
  return tiny::scenario(federation({cluster("a", 1, 8), cluster("b", 1, 8)}), std::move(jobs));
}

// F22: the two sixes run side by side on different clusters; four GPUs stay outside.
TEST(Destination, TwoSixesRunConcurrently) {
  Simulation sim(two_sixes_and_a_third());
  sim.run_until(at(60));
  const Result r = sim.result();
  const auto j1 = tiny::records_of(r, "J1");
  const auto j2 = tiny::records_of(r, "J2");
  const auto running = [](const std::vector<RecordRow>& rows) {
    for (const RecordRow& row : rows) {
      if (row.state == RecordState::running) return static_cast<int>(row.cluster.index());
    }
    return -1;
  };
  EXPECT_EQ(running(j1), 1);
  EXPECT_EQ(running(j2), 0);
  EXPECT_EQ(r.allocation_rows.size(), 2U);
  for (const AllocationRow& a : r.allocation_rows) {
    EXPECT_EQ(r.placements[a.place_offset].gpu_mask, 0b111111U);
  }
  EXPECT_EQ(r.summary.populations.distinct_gpus, 12U);
  EXPECT_EQ(r.summary.populations.gpus_in_fleet - r.summary.populations.distinct_gpus, 4U);
}

// F23: the third six is eligible on both and can start on neither. F24: eight is a ceiling.
TEST(Destination, EligibleIsNotSchedulable) {
  Simulation sim(two_sixes_and_a_third());
  sim.run_until(at(60));
  const FitReport r =
      fit(sim.scenario().model ? *sim.scenario().model : FederationModel{}, gpus(6), &sim.state());
  EXPECT_EQ(r.eligible, 2U);
  EXPECT_EQ(r.schedulable_now, 0U);
  EXPECT_EQ(r.guaranteed, 0U);
  const Result result = sim.result();
  for (const RecordRow& row : tiny::records_of(result, "J3")) {
    EXPECT_EQ(row.state, RecordState::pending);
    EXPECT_EQ(static_cast<Reason>(row.reason), Reason::resources);
  }
}

TEST(Destination, CeilingIsNotTheLargestFreeBlock) {
  tiny::Jobs jobs;
  jobs.add({.label = "A", .run_s = 600, .gpus = 2, .origin = "a", .clusters = "a"});
  jobs.add({.label = "B", .run_s = 600, .gpus = 2, .origin = "b", .clusters = "b"});
  Simulation sim(
      tiny::scenario(federation({cluster("a", 1, 8), cluster("b", 1, 8)}), std::move(jobs)));
  sim.run_until(at(30));
  const FitReport r = fit(*sim.scenario().model, gpus(8), &sim.state());
  EXPECT_EQ(r.max_domain, 8);
  EXPECT_EQ(r.largest_free_block, 6);
  EXPECT_EQ(r.schedulable_now, 0U);
}

// F25: the origin's refusal is final; the remedy is another submit route.
TEST(Destination, OriginRejectsWhatASiblingCouldRun) {
  const FederationSpec spec = federation({cluster("a", 1, 8), cluster("b", 1, 16)});
  tiny::Jobs jobs;
  jobs.add({.label = "AT_A", .gpus = 12, .tasks = 12, .origin = "a"});
  jobs.add(
      {.label = "AT_B", .submit_s = 1, .gpus = 12, .tasks = 12, .origin = "a", .clusters = "b"});
  const Result r = run(tiny::scenario(spec, std::move(jobs)));
  const auto refused = tiny::records_of(r, "AT_A");
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].state, RecordState::rejected);
  EXPECT_EQ(reason_text(refused[0].reason), "Requested node configuration is not available");
  const auto routed = tiny::records_of(r, "AT_B");
  ASSERT_EQ(routed.size(), 1U);
  EXPECT_EQ(routed[0].state, RecordState::completed);
  EXPECT_EQ(routed[0].cluster, ClusterId{1});
  EXPECT_EQ(decode_job_id(r.job_rows[1].job_id).cluster, 2U);
  EXPECT_EQ(remedy(fit(*compile(spec), gpus(12)), "a"), "sbatch -M b ...");
}

}  // namespace
}  // namespace fedsim
