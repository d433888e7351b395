// The hold model on the event queue: pop the earliest event, push it back later, with N events
// pending.
#include <benchmark/benchmark.h>

#include "base/rng.hpp"
#include "state/event_queue.hpp"

namespace fedsim {
namespace {

void queue_hold(benchmark::State& state) {
  const auto pending = static_cast<std::uint64_t>(state.range(0));
  EventQueue q;
  std::uint64_t n = 0;
  const auto later = [&] {
    return static_cast<std::int64_t>(exponential(draw(1, Stream::sampling, 0, n++ & 0xFFFF), 1e6)) +
           1;
  };
  for (std::uint64_t i = 0; i < pending; ++i) {
    q.push({later(), 0, 0, 0, 0, EventKind::job_end, 0}, Phase::end, 0);
  }
  for (auto _ : state) {
    Event e = q.top();
    q.pop();
    e.at += later();
    q.push(e, Phase::end, 0);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(queue_hold)->Arg(1000)->Arg(100'000)->Arg(1'000'000);

}  // namespace
}  // namespace fedsim
