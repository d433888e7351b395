// Slices of a backfill plan (semantics 5.3).
#include "sched/plan.hpp"

#include <gtest/gtest.h>

namespace fedsim {
namespace {

struct Slices : testing::Test {
  PassScratch scratch;
  const Bitmap all{0b1111};
  Plan plan{scratch, {0, 1000}, all};
};

TEST_F(Slices, AReservationSplitsAtBothEnds) {
  plan.reserve(100, 200, Bitmap{0b0011});
  ASSERT_EQ(plan.size(), 3U);
  EXPECT_EQ(plan.begin(1), 100);
  EXPECT_EQ(plan.end(1), 200);
  EXPECT_EQ(plan.nodes(0)[0], 0b1111U);
  EXPECT_EQ(plan.nodes(1)[0], 0b1100U);
  EXPECT_EQ(plan.end(2), 1000);
  EXPECT_FALSE(plan.open(150, 300, Bitmap{0b0001}));
  EXPECT_TRUE(plan.open(150, 300, Bitmap{0b0100}));
  EXPECT_TRUE(plan.open(200, 300, Bitmap{0b0001}));
}

TEST_F(Slices, BeyondTheWindowNothingIsReserved) {
  plan.reserve(1000, 1100, Bitmap{0b0011});
  EXPECT_EQ(plan.size(), 1U);
  plan.reserve(900, 2000, Bitmap{0b0011});
  EXPECT_EQ(plan.size(), 2U);
  EXPECT_EQ(plan.end(1), 1000);
}

// Two reservations of the same nodes, one after the other, leave one slice; both were made.
TEST_F(Slices, EqualNeighboursAreJoinedButCounted) {
  plan.reserve(100, 200, Bitmap{0b0011});
  plan.reserve(200, 300, Bitmap{0b0011});
  EXPECT_EQ(plan.size(), 3U);
  EXPECT_EQ(plan.records(), 4U);
  EXPECT_EQ(plan.end(1), 300);
  EXPECT_EQ(plan.index_at(250), 1U);
}

TEST_F(Slices, GainsCountOnlyForNodesThatTheJobMayUse) {
  plan.reserve(100, 200, Bitmap{0b0011});
  EXPECT_EQ(plan.next_gain(0, 9, all, true), 1U);  // after slice 1 nodes 0 and 1 come back
  EXPECT_EQ(plan.next_gain(0, 9, Bitmap{0b0110}, false), 1U);
  EXPECT_EQ(plan.next_gain(0, 9, Bitmap{0b1100}, false), plan.size());
  EXPECT_EQ(plan.next_gain(0, 0, all, true), plan.size());
}

TEST_F(Slices, GainsEndWithinAReservationThatTakesThem) {
  plan.reserve(100, 200, Bitmap{0b0011});
  plan.reserve(200, 300, Bitmap{0b0011});
  plan.reserve(300, 400, Bitmap{0b0001});
  EXPECT_EQ(plan.next_gain(0, 9, all, true), 1U);  // node 1 at 300
  plan.reserve(240, 500, Bitmap{0b1000});
  plan.reserve(300, 400, Bitmap{0b0010});
  EXPECT_EQ(plan.end(plan.next_gain(0, 9, all, true)), 400);
}

TEST_F(Slices, WindowsMoveForward) {
  plan.reserve(100, 200, Bitmap{0b0001});
  plan.reserve(300, 400, Bitmap{0b0010});
  plan.reserve(500, 600, Bitmap{0b0100});
  SlidingAnd window(plan, scratch, 1);
  Bitmap out;
  window.move(0, 2);
  EXPECT_EQ(window.intersect(all, Bitmap{0b0110}, out),
            (std::pair<std::size_t, std::size_t>{3, 2}));
  EXPECT_EQ(out[0], 0b1110U);
  window.move(1, 4);
  window.intersect(all, all, out);
  EXPECT_EQ(out[0], 0b1100U);
  window.move(2, 6);
  window.intersect(all, all, out);
  EXPECT_EQ(out[0], 0b1001U);
  window.move(6, 7);
  window.intersect(all, all, out);
  EXPECT_EQ(out[0], 0b1111U);
}

}  // namespace
}  // namespace fedsim
