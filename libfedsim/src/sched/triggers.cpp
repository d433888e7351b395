// Loops of a controller: see triggers.hpp.
#include "sched/triggers.hpp"

#include <algorithm>

#include "base/rng.hpp"

namespace fedsim {
namespace {

constexpr std::int64_t kNs = 1'000'000'000;

std::int64_t ns(SimTime t) {
  return t.time_since_epoch().count();
}
std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

/// First tick of the background loop at or after `t`.
std::int64_t tick_at_or_after(const ClusterState& c, std::int64_t t) {
  const std::int64_t k = floor_div(t - c.tick_phase_ns + c.tick_period_ns - 1, c.tick_period_ns);
  return c.tick_phase_ns + k * c.tick_period_ns;
}

/// First tick at which slurmctld's whole-second clock shows `second` or more.
std::int64_t tick_at_second(const ClusterState& c, std::int64_t second) {
  return tick_at_or_after(c, second * kNs);
}

/// Brings the 60 s clock of full passes up to `now` when none was simulated while the queue was
/// empty.
void catch_up_full(const Controller& c) {
  ClusterState& own = c.own();
  const std::int64_t interval = c.model.scheduler.sched_interval_s;
  if (interval <= 0) return;
  const std::int64_t now = ns(c.state.now);
  for (;;) {
    const std::int64_t next = tick_at_second(own, own.last_full_s + interval);
    if (next >= now) return;
    own.last_full_s = floor_div(next, kNs);
    own.last_main_s = std::max(own.last_main_s, own.last_full_s);
  }
}

void schedule_main(const Controller& c) {
  ClusterState& own = c.own();
  const SchedulerModel& p = c.model.scheduler;
  std::int64_t at = INT64_MAX;
  const std::int64_t soon = ns(c.state.now) + 1;
  EventKind kind = EventKind::main_pass;
  if (own.pass_requested) {
    at = std::max(tick_at_or_after(own, soon),
                  tick_at_second(own, own.last_main_s + p.batch_sched_delay_s));
  }
  // A full pass with nothing new decides nothing: it is not simulated, and catch_up_full() moves
  // its clock.
  const bool news = own.changed_for_main || own.next_eligible_s != INT64_MAX;
  if (own.queued_n > 0 && news && p.sched_interval_s > 0) {
    const std::int64_t full = std::max(tick_at_or_after(own, soon),
                                       tick_at_second(own, own.last_full_s + p.sched_interval_s));
    if (full <= at) {
      at = full;
      kind = EventKind::full_pass;
    }
  }
  const SimTime due = at == INT64_MAX ? kNoTime : SimTime{Duration{at}};
  if (due == own.pass_at) return;
  own.pass_at = due;
  ++own.pass_generation;
  if (due == kNoTime) return;
  c.state.queue.push(
      {at, 0, 0, 0, own.pass_generation, kind, static_cast<std::uint8_t>(c.cluster.index())},
      Phase::schedule, static_cast<std::uint8_t>(c.cluster.index()));
}

/// The backfill thread wakes bf_interval after its last cycle, then every second until something
/// changed.
void schedule_backfill(const Controller& c) {
  ClusterState& own = c.own();
  if (c.model.scheduler.type != SchedulerType::backfill || c.model.scheduler.bf_interval_s <= 0)
    return;
  SimTime due = kNoTime;
  // With nothing running, nothing new and no begin time to come, jobs that wait will wait for ever.
  const bool idle =
      own.running.empty() && !own.changed_for_backfill && own.next_eligible_s == INT64_MAX;
  if (own.last_update_s >= own.bf_last_s && !idle) {
    std::int64_t at = own.bf_next_ns;
    const std::int64_t now = ns(c.state.now);
    if (at <= now) at += (now - at) / kNs * kNs + kNs;
    due = SimTime{Duration{at}};
  }
  if (due == own.bf_at) return;
  own.bf_at = due;
  ++own.bf_generation;
  if (due == kNoTime) return;
  c.state.queue.push({ns(due), 0, 0, 0, own.bf_generation, EventKind::backfill_pass,
                      static_cast<std::uint8_t>(c.cluster.index())},
                     Phase::schedule, static_cast<std::uint8_t>(c.cluster.index()));
}

bool looped(const Controller& c) {
  return c.options.fidelity == Fidelity::slurm && c.options.driven.empty();
}

}  // namespace

void start_loops(const Controller& c) {
  ClusterState& own = c.own();
  const std::uint64_t entity = c.cluster.index();
  const auto drawn = [&](std::uint64_t n) {
    return uniform(draw(c.options.seed, Stream::controller_phase, entity, n));
  };
  std::int64_t start = ns(c.state.now) - static_cast<std::int64_t>(drawn(0) * 30e9) - 30 * kNs;
  const auto& recorded = c.options.controller_start;
  if (entity < recorded.size() && recorded[entity] != kNoTime) start = ns(recorded[entity]);
  if (c.model.release >= SlurmRelease{24, 11}) {
    own.tick_phase_ns = floor_div(start, kNs) * kNs + 10'000'000;
    own.tick_period_ns = kNs;
  } else {
    // One second of sleep and the work of the loop: 10 to 50 ms on the recording machine.
    own.tick_phase_ns = start + static_cast<std::int64_t>((0.5 + drawn(1) * 0.5) * 1e9);
    own.tick_period_ns = kNs + 10'000'000 + static_cast<std::int64_t>(drawn(2) * 40e6);
  }
  own.last_full_s = floor_div(own.tick_phase_ns, kNs);
  own.last_main_s = own.last_full_s;
  own.bf_next_ns = start + kNs + c.model.scheduler.bf_interval_s * kNs +
                   static_cast<std::int64_t>(drawn(3) * 0.3e9);
  own.bf_last_s = floor_div(start, kNs);
  own.last_update_s = own.bf_last_s;
  catch_up_full(c);
}

void note_update(const Controller& c) {
  c.own().changed_for_backfill = true;
  c.own().last_update_s = floor_seconds(c.state.now);
  if (looped(c)) schedule_backfill(c);
}

void request_pass(const Controller& c) {
  ClusterState& own = c.own();
  own.changed_for_main = true;
  own.changed_for_backfill = true;
  own.last_update_s = floor_seconds(c.state.now);
  if (c.options.fidelity == Fidelity::ideal) {
    c.state.dirty.add(c.cluster);
    return;
  }
  if (!looped(c) || own.queued_n == 0) return;
  own.pass_requested = true;
  catch_up_full(c);
  plan_loops(c);
}

void plan_loops(const Controller& c) {
  if (!looped(c)) return;
  schedule_main(c);
  schedule_backfill(c);
}

SimTime next_limit_check(const Controller& c, SimTime t) {
  constexpr std::int64_t kEvery = 30 * kNs;
  const std::int64_t phase = c.own().tick_phase_ns;
  const std::int64_t k = floor_div(ns(t) - phase + kEvery - 1, kEvery);
  return SimTime{Duration{phase + k * kEvery}};
}

}  // namespace fedsim
