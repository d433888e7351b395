// The will-run test (semantics 5.5) on a pool of unit nodes and, with the shortcut off, on any
// pool.
#include "sched/will_run.hpp"

#include <gtest/gtest.h>

#include "support/demands.hpp"
#include "support/tiny.hpp"

namespace fedsim {
namespace {

class NoHost : public PassHost {
 public:
  bool lock(std::uint32_t) override { return true; }
  void unlock(std::uint32_t) override {}
  void start(const QueueEntry&, const std::vector<NodeShare>&, bool) override {}
  void set_reason(std::uint32_t, Reason) override {}
  std::uint32_t array_running(std::uint32_t) const override { return 0; }
};

/// `nodes` unit nodes at second 0; the argument of the test says whether shortcuts are on.
class WillRun : public testing::TestWithParam<bool> {
 protected:
  static constexpr int kNodes = 6;

  void SetUp() override {
    FederationModel model = *compile(tiny::federation({machine("m", kNodes, 1)}));
    ASSERT_TRUE(model.clusters[0].unit_nodes);
    model.clusters[0].unit_nodes = GetParam();
    model_ = std::make_shared<const FederationModel>(std::move(model));
    state_.clusters.emplace_back().pool = NodePool(cluster());
  }
  const ClusterModel& cluster() const { return model_->clusters[0]; }
  ClusterState& own() { return state_.clusters[0]; }

  /// A job on one node until second `end`.
  void hold(std::uint32_t node, std::int64_t end) {
    const std::uint32_t slot = take_slot(state_);
    state_.slots[slot].shares = {tiny::share(node, 1)};
    own().pool.acquire(state_.slots[slot].shares);
    add_running(own(), {end, slot, slot});
  }

  /// Expected start of a job of `tasks` on the nodes of `open`.
  std::int64_t start(const BackfillSettings& set, int tasks, const std::vector<std::size_t>& open,
                     std::int64_t at = 0, std::int64_t later = 0) {
    ResourceRequest r;
    r.ntasks = tasks;
    const std::vector<Demand> demands{tiny::demand_on(*model_, ClusterId{0}, r)};
    const Demand& d = demands[0];
    Bitmap nodes(cluster().bitmap_words(), 0);
    for (const std::size_t n : open) set_bit(nodes, n);
    NoHost host;
    const PassView view{*model_, cluster(), trace_, state_, ClusterId{0},
                        demands, scratch_,  host,   now_};
    FreeBy free(view);
    const FreeBy::Shape shape = free.shape_of(0);
    const std::int64_t t = will_run(view, set, free, {d, shape, nodes, at, later});
    if (t != kNever) chosen_nodes(view, d, chosen_);
    return t;
  }

  std::shared_ptr<const FederationModel> model_;
  Trace trace_;
  SimState state_;
  PassScratch scratch_;
  Bitmap chosen_;
  std::int64_t now_ = 0;
};

const BackfillSettings k2205;
const BackfillSettings k2411{.bounded = true};
const BackfillSettings k2505{.bounded = true, .relevant = true};
const BackfillSettings kExact{.exact = true};

TEST_P(WillRun, FreeNodesStartNow) {
  hold(0, 100);
  EXPECT_EQ(start(k2205, 2, {0, 1, 2}), 0);
  EXPECT_EQ(chosen_[0], 0b110U);
}

// The first window reaches from the next multiple of 30 s to 30 s later: ends at 100 and 125 are
// one group, and the job is expected at the end of the last of them; 25.05 looks at the nodes
// taken.
TEST_P(WillRun, StartsAsTheGroupEnds) {
  hold(0, 100);
  hold(1, 125);
  hold(2, 1000);
  EXPECT_EQ(start(k2205, 1, {0, 1, 2}), 125);
  EXPECT_EQ(start(k2411, 1, {0, 1, 2}), 125);
  EXPECT_EQ(start(k2505, 1, {0, 1, 2}), 100);
  EXPECT_EQ(start(kExact, 1, {0, 1, 2}), 100);
  EXPECT_EQ(start(k2205, 3, {0, 1, 2}), 1000);
  EXPECT_EQ(start(k2205, 4, {0, 1, 2}), kNever);
}

// 24.11 hands the next time at which the job would be tried to the test: jobs that end later stay.
TEST_P(WillRun, LooksNoFurtherThanTheNextAttempt) {
  hold(0, 100);
  hold(1, 125);
  EXPECT_EQ(start(k2411, 1, {0, 1}, 0, 110), 100);
  EXPECT_EQ(start(k2411, 2, {0, 1}, 0, 110), kNever);
  EXPECT_EQ(start(k2205, 2, {0, 1}, 0, 110), 125);
}

// 24.11 takes jobs that end before the time of the attempt away first, without windows.
TEST_P(WillRun, LaterAttemptsBeginWithWhatIsGoneByThen) {
  hold(0, 100);
  hold(1, 125);
  hold(2, 300);
  EXPECT_EQ(start(k2411, 2, {0, 1, 2}, 200), 200);
  EXPECT_EQ(start(k2411, 3, {0, 1, 2}, 200), 300);
  EXPECT_EQ(start(k2205, 1, {0, 1, 2}, 200), 125);
}

// Only the neighbour in the list is compared with the window: a job on other nodes that ends within
// it lets one more job join the group, however late it ends.
TEST_P(WillRun, ANeighbourElsewhereKeepsTheGroupOpen) {
  hold(0, 100);
  hold(1, 110);
  hold(2, 900);
  EXPECT_EQ(start(k2205, 1, {0, 2}), 900);
  EXPECT_EQ(start(k2205, 1, {0, 1, 2}), 110);
  EXPECT_EQ(start(k2505, 1, {0, 2}), 100);
}

// A job past its limit is expected to last KillWait longer.
TEST_P(WillRun, JobsPastTheirLimit) {
  now_ = 500;
  hold(0, 490);
  EXPECT_EQ(start(k2205, 1, {0}), 490 + cluster().kill_wait_s);
  now_ = 600;
  EXPECT_EQ(start(k2205, 1, {0}), 601);
  // 24.11 takes it away before the first test, starts the job, and fails: the job is reserved for.
  EXPECT_EQ(start(k2411, 1, {0}, 600), 601);
}

TEST_P(WillRun, LeavesThePoolAsItWas) {
  hold(0, 100);
  hold(3, 4000);
  start(k2205, 6, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(own().pool.free_cpus(0), 0U);
  EXPECT_EQ(own().pool.free_cpus(3), 0U);
  EXPECT_EQ(own().pool.free_cpus(1), 1U);
}

INSTANTIATE_TEST_SUITE_P(Pools, WillRun, testing::Values(true, false),
                         [](const auto& p) { return p.param ? "units" : "nodes"; });

}  // namespace
}  // namespace fedsim
