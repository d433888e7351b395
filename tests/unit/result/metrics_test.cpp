// The five populations, GPU-hours, waits and utilisation on runs whose answers are worked out by
// hand.
#include "result/metrics.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "support/result_fixture.hpp"

namespace fedsim {
namespace {

using test::at;
using test::devices;
using test::make_cluster;
using test::place;
using test::ResultBuilder;

TEST(Summarise, CountsTheFivePopulationsApart) {
  ResultBuilder b = test::two_by_six();
  summarise(b.raw());
  const Populations& p = b.raw().summary.populations;
  EXPECT_EQ(p.jobs, 2U);
  EXPECT_EQ(p.rejected, 1U);
  EXPECT_EQ(p.records, (std::map<std::string, std::size_t>{{"COMPLETED", 2}, {"REVOKED", 2}}));
  EXPECT_EQ(p.allocations, 2U);
  EXPECT_EQ(p.distinct_gpus, 12U);
  EXPECT_EQ(p.gpus_in_fleet, 16U);
  EXPECT_EQ(p.processes, 12U);
  EXPECT_EQ(p.process_groups, 2U);
  EXPECT_EQ(p.largest_group, 6U);
  // J1 at b 6 + J2 at a 6 + J1's revoked origin record 6; J2's copy at the sibling b shows nothing.
  EXPECT_EQ(p.naive_gpu_sum, 18);
}

TEST(Summarise, AddsUpTimeHeld) {
  ResultBuilder b = test::two_by_six();
  summarise(b.raw());
  const Summary& s = b.raw().summary;
  EXPECT_DOUBLE_EQ(s.gpu_hours, 2 * 6 * 30 / 3600.0);
  EXPECT_DOUBLE_EQ(s.cpu_hours, 2 * 6 * 30 / 3600.0);
  EXPECT_DOUBLE_EQ(s.makespan_s, 31);  // submission at 0 to the end at 31
  EXPECT_DOUBLE_EQ(s.utilisation, 360.0 / (16 * 31));
}

TEST(Summarise, WaitsAreInterpolatedQuantiles) {
  ResultBuilder b({make_cluster("a", 1, devices(8))}, false);
  for (int i = 0; i < 5; ++i) {  // waits 0, 10, 20, 30, 40
    const JobId j = b.job("J" + std::to_string(i), 0, 1, 0);
    b.ran(j, 0, RecordState::completed, 0, 10.0 * i, 10.0 * i + 5, {place(0, 1)});
  }
  summarise(b.raw());
  const WaitStats& w = b.raw().summary.wait_s;
  EXPECT_DOUBLE_EQ(w.mean, 20);
  EXPECT_DOUBLE_EQ(w.p50, 20);
  EXPECT_DOUBLE_EQ(w.p90, 36);
  EXPECT_DOUBLE_EQ(w.p95, 38);
  EXPECT_DOUBLE_EQ(w.max, 40);
}

TEST(Summarise, RunningJobsCountUpToTheHorizon) {
  ResultBuilder b({make_cluster("a", 1, devices(8))}, false);
  const JobId j = b.job("J", 0, 4, 0);
  b.ran(j, 0, RecordState::running, 0, 0, -1, {place(0, 0xF)});
  b.raw().scenario.options.horizon = at(100);
  summarise(b.raw());
  EXPECT_DOUBLE_EQ(b.raw().summary.gpu_hours, 400 / 3600.0);
  EXPECT_DOUBLE_EQ(b.raw().summary.makespan_s, 100);
  EXPECT_DOUBLE_EQ(b.raw().summary.utilisation, 0.5);
}

TEST(Summarise, WithoutGpusUtilisationIsOfCpus) {
  ResultBuilder b({make_cluster("a", 2, {}, 4)}, false);
  const JobId j = b.job("J", 0, 0, 0);
  b.ran(j, 0, RecordState::completed, 0, 0, 10, {place(0, 0, 4)});
  summarise(b.raw());
  EXPECT_DOUBLE_EQ(b.raw().summary.utilisation, 0.5);
  EXPECT_EQ(b.raw().summary.populations.naive_gpu_sum, 0);
}

TEST(Summarise, ARequeuedJobCountsEachExecutionOnce) {
  ResultBuilder b({make_cluster("alpha", 1, devices(8)), make_cluster("beta", 1, devices(8))});
  const JobId j = b.job("J1", 0, 6, 0);
  b.revoked(j, 0, 0, 1);
  b.ran(j, 1, RecordState::requeued, 0, 1, 11, {place(0, 0x3F)});
  b.ran(j, 0, RecordState::completed, 11, 140, 150, {place(0, 0x3F)});
  b.revoked(j, 1, 11, 140);
  summarise(b.raw());
  EXPECT_DOUBLE_EQ(b.raw().summary.gpu_hours, 120 / 3600.0);
  EXPECT_EQ(b.raw().summary.populations.naive_gpu_sum, 18);
  EXPECT_EQ(b.raw().summary.populations.jobs, 1U);
}

TEST(Summarise, NothingAtAll) {
  ResultBuilder b({make_cluster("a", 1, devices(8))}, false);
  summarise(b.raw());
  EXPECT_EQ(b.raw().summary.makespan_s, 0);
  EXPECT_EQ(b.raw().summary.utilisation, 0);
  EXPECT_EQ(b.raw().summary.wait_s.p95, 0);
}

}  // namespace
}  // namespace fedsim
