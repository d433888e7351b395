// Order of events: instant, phase, tie, creation.
#include <gtest/gtest.h>

#include "state/state.hpp"

namespace fedsim {
namespace {

TEST(EventQueue, TotalOrder) {
  EventQueue q;
  const auto push = [&](std::int64_t at, Phase phase, std::uint8_t tie, std::uint32_t subject) {
    q.push({at, 0, subject, 0, 0, EventKind::job_end, 0}, phase, tie);
  };
  push(5, Phase::schedule, 0, 1);
  push(5, Phase::end, 1, 2);
  push(5, Phase::end, 0, 3);
  push(5, Phase::message, 0, 4);
  push(4, Phase::sample, 9, 5);
  push(5, Phase::end, 0, 6);
  std::vector<std::uint32_t> order;
  for (; !q.empty(); q.pop()) order.push_back(q.top().subject);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{5, 3, 6, 2, 4, 1}));
}

TEST(EventQueue, CopyIsACopyOfTheFuture) {
  EventQueue a;
  for (std::int64_t t : {7, 3, 9}) a.push({t, 0, 0, 0, 0, EventKind::job_end, 0}, Phase::end, 0);
  EventQueue b = a;
  a.pop();
  EXPECT_EQ(b.top().at, 3);
  EXPECT_EQ(a.top().at, 7);
}

}  // namespace
}  // namespace fedsim
