// Backfill in whole runs: shortcuts for pools of unit nodes decide nothing, in any release.
#include <gtest/gtest.h>

#include "support/tiny.hpp"

namespace fedsim {
namespace {

struct Case {
  SlurmRelease release;
  std::uint64_t seed;
};

class Backfill : public testing::TestWithParam<Case> {};

/// Starts and nodes of every allocation, in order.
std::vector<std::int64_t> decisions(const Result& r) {
  std::vector<std::int64_t> out;
  for (const AllocationRow& a : r.allocation_rows) {
    out.push_back(static_cast<std::int64_t>(a.job.index()));
    out.push_back(a.start.time_since_epoch().count());
    for (std::size_t i = 0; i < a.nodes_n; ++i)
      out.push_back(static_cast<std::int64_t>(r.placements[a.place_offset + i].node.index()));
  }
  return out;
}

TEST_P(Backfill, UnitPoolsDecideAsAnyPool) {
  SynthOptions o;
  o.jobs = 400;
  o.seed = GetParam().seed;
  o.max_units = 64;
  o.mean_interarrival_s = 320;
  FederationSpec spec = tiny::federation({machine("m", 96, 1)});
  spec.clusters[0].release = GetParam().release;
  Scenario s;
  s.trace = std::make_shared<const Trace>(synth(o));
  s.model = compile(spec);
  ASSERT_TRUE(s.model->clusters[0].unit_nodes);
  const Result fast = run(s);
  FederationModel plain = *s.model;
  plain.clusters[0].unit_nodes = false;
  s.model = std::make_shared<const FederationModel>(std::move(plain));
  const Result slow = run(s);
  EXPECT_GT(fast.summary.backfill_passes, 50U);
  std::size_t backfilled = 0;
  for (const AllocationRow& a : fast.allocation_rows) backfilled += a.backfilled ? 1 : 0;
  EXPECT_GT(backfilled, 40U);
  EXPECT_EQ(decisions(fast), decisions(slow));
}

INSTANTIATE_TEST_SUITE_P(Releases, Backfill,
                         testing::Values(Case{{22, 5}, 1}, Case{{22, 5}, 2}, Case{{24, 11}, 1},
                                         Case{{24, 11}, 2}, Case{{26, 5}, 1}, Case{{26, 5}, 2}));

}  // namespace
}  // namespace fedsim
