// Loops of a controller: see triggers.hpp.
#include "sched/triggers.hpp"

#include <algorithm>

#include "base/delays.hpp"

namespace fedsim {
namespace {

constexpr std::int64_t kNs = 1'000'000'000;

std::int64_t ns(SimTime t) {
  return t.time_since_epoch().count();
}
std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

/// From 24.11 on passes begin on the whole second and a little: each second has its own offset.
std::int64_t offset_in(const Controller& c, std::int64_t second) {
  const std::uint64_t bits = draw(c.options.seed, Stream::pass_offset, c.cluster.index(),
                                  static_cast<std::uint64_t>(second));
  return drawn_delay(kPassOffset24, bits).count();
}

/// First tick of the background loop at or after `t`.
std::int64_t tick_at_or_after(const Controller& c, std::int64_t t) {
  const ClusterState& own = c.own();
  if (has_aligned_passes(c.model.release)) {
    const std::int64_t second = floor_div(t, kNs);
    const std::int64_t here = second * kNs + offset_in(c, second);
    return here >= t ? here : (second + 1) * kNs + offset_in(c, second + 1);
  }
  const std::int64_t k =
      floor_div(t - own.tick_phase_ns + own.tick_period_ns - 1, own.tick_period_ns);
  return own.tick_phase_ns + k * own.tick_period_ns;
}

/// First tick at which slurmctld's whole-second clock shows `second` or more.
std::int64_t tick_at_second(const Controller& c, std::int64_t second) {
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
    const std::int64_t next = tick_at_second(c, own.last_full_s + interval);
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
    at = std::max(tick_at_or_after(c, soon),
                  tick_at_second(c, own.last_main_s + p.batch_sched_delay_s));
  }
  // A full pass with nothing new decides nothing: it is not simulated, and catch_up_full() moves
  // its clock.
  const bool news = own.changed_for_main || own.next_eligible_s != INT64_MAX;
  if (own.queued_n + own.dependents_n > 0 && news && p.sched_interval_s > 0) {
    const std::int64_t full = std::max(tick_at_or_after(c, soon),
                                       tick_at_second(c, own.last_full_s + p.sched_interval_s));
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

/// Draws of this life of the controller.
std::uint64_t phase_bits(const Controller& c, std::uint64_t n) {
  const std::uint64_t entity = c.cluster.index() | (std::uint64_t{c.own().fed.life} << 8);
  return draw(c.options.seed, Stream::controller_phase, entity, n);
}

/// Phases of the loops of a controller that began to work as primary at `primary`.
void set_phases(const Controller& c, std::int64_t primary) {
  ClusterState& own = c.own();
  if (has_aligned_passes(c.model.release)) {
    own.tick_phase_ns = floor_div(primary, kNs) * kNs;
    own.tick_period_ns = kNs;
  } else {
    // The first round ends 0.2 to 0.5 s late; then one second of sleep and the work of the loop:
    // 10 to 50 ms on the recording machine.
    own.tick_phase_ns =
        primary + static_cast<std::int64_t>((0.2 + uniform(phase_bits(c, 1)) * 0.3) * 1e9);
    own.tick_period_ns =
        kNs + 10'000'000 + static_cast<std::int64_t>(uniform(phase_bits(c, 2)) * 40e6);
  }
  own.last_full_s = floor_div(primary, kNs);
  own.last_main_s = own.last_full_s;
  own.bf_next_ns = primary + c.model.scheduler.bf_interval_s * kNs;
  own.bf_last_s = floor_div(primary, kNs);
  own.last_update_s = own.bf_last_s;
  catch_up_full(c);
}

SimTime recorded_start(const Controller& c) {
  const auto& list = c.options.controller_start;
  return c.cluster.index() < list.size() ? list[c.cluster.index()] : kNoTime;
}

}  // namespace

void start_loops(const Controller& c) {
  const double age = uniform(phase_bits(c, 0));
  std::int64_t primary = ns(c.state.now) - static_cast<std::int64_t>(age * 30e9) - 30 * kNs;
  // Of a controller that was restarted the recording has the last start.
  const SimTime recorded = recorded_start(c);
  if (recorded != kNoTime && recorded <= c.state.now)
    primary = ns(recorded + boot_delay(c.model.release,
                                       draw(c.options.seed, Stream::controller_boot, 0, 0),
                                       phase_bits(c, 3)));
  set_phases(c, primary);
}

void restart_loops(const Controller& c) {
  ClusterState& own = c.own();
  own.pass_requested = false;
  own.pass_at = own.bf_at = kNoTime;
  ++own.pass_generation;  // what was scheduled before is stale
  ++own.bf_generation;
  set_phases(c, ns(c.state.now));
}

void note_update(const Controller& c) {
  c.own().changed_for_backfill = true;
  c.own().last_update_s = floor_seconds(c.state.now);
  if (looped(c) && c.own().fed.schedules()) schedule_backfill(c);
}

void note_news(const Controller& c) {
  c.own().changed_for_main = true;
  c.own().changed_for_backfill = true;
  c.own().last_update_s = floor_seconds(c.state.now);
  if (c.options.fidelity == Fidelity::ideal) c.state.dirty.add(c.cluster);
  plan_loops(c);
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
  if (!looped(c) || own.queued_n + own.dependents_n == 0 || !own.fed.schedules()) return;
  own.pass_requested = true;
  catch_up_full(c);
  plan_loops(c);
}

void plan_loops(const Controller& c) {
  if (!looped(c) || !c.own().fed.schedules()) return;
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
