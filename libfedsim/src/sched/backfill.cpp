// sched/backfill, backfill.c: one cycle over the queue with a plan of time slices (semantics 5.3
// to 5.5).
//
// Nodes are planned whole; running jobs are not in the plan but taken away one group after the
// other by the will-run test, at the end of their time limits. Zero compute time: a cycle never
// yields. Leaves out: reservations, licences, preemption, time-min, bf_running_job_reserve.
#include <algorithm>
#include <map>

#include "sched/admission.hpp"
#include "sched/plan.hpp"

namespace fedsim {
namespace {

std::int64_t floor_to(std::int64_t t, std::int64_t step) {
  return t / step * step;
}

/// One cycle's working values.
struct Cycle {
  const PassView& v;
  const BackfillSettings& set;
  Plan& plan;
  std::int64_t window_end;
  bool lock_denied = false;
};

/// When a running job is expected to end; jobs past their limit get KillWait more (semantics 5.5
/// point 4).
std::int64_t expected_end(const PassView& v, const RunningEntry& r) {
  if (r.end_s > v.now_s) return r.end_s;
  return std::max(r.end_s + v.model.kill_wait_s, v.now_s + 1);
}

bool touches(BitSpan nodes, const std::vector<NodeShare>& shares) {
  for (const NodeShare& s : shares) {
    if (test_bit(nodes, s.node)) return true;
  }
  return false;
}

/// Number of nodes of `open` on which the job could run now; stops counting at `enough`.
std::size_t usable_nodes(const PassView& v, const Demand& d, BitSpan open, std::size_t enough) {
  const NodePool& pool = v.own().pool;
  const Bitmap& with_cpus = pool.with_free_cpus();
  std::size_t n = 0;
  for (std::size_t w = 0; w < open.size() && n < enough; ++w) {
    const std::uint64_t bits = open[w] & with_cpus[w];
    if (d.simple_units) {
      n += static_cast<std::size_t>(std::popcount(bits));
      continue;
    }
    for (std::uint64_t b = bits; b != 0 && n < enough; b &= b - 1) {
      n +=
          usable_cpus(v.model, pool, d, w * 64 + static_cast<std::size_t>(std::countr_zero(b))) > 0;
    }
  }
  return n;
}

bool fits(const PassView& v, const Demand& d, BitSpan open) {
  PassScratch& s = v.scratch;
  if (usable_nodes(v, d, open, d.min_nodes) < d.min_nodes) return false;
  return select_nodes(v.model, v.own().pool, d, open, s.select, s.shares);
}

/// The window over the next group doubles, or grows by bf_window_linear, until it holds the next
/// job's end.
void next_window(const PassView& v, const BackfillSettings& set, std::size_t next,
                 std::int64_t& window, std::int64_t& limit) {
  if (set.exact) return;
  const std::vector<RunningEntry>& running = v.own().running;
  const std::int64_t base = limit - window;
  const std::int64_t linear = v.model.scheduler.bf_window_linear_s;
  do {
    window = linear > 0 ? window + linear : window * 2;
    limit = base + window;
  } while (next < running.size() && running[next].end_s != INT64_MAX &&
           expected_end(v, running[next]) > limit);
}

/// Takes running jobs of one group away, from `i` on; true when there were any. `last_end`: their
/// last end.
bool release_group(const PassView& v, const BackfillSettings& set, BitSpan open, std::size_t& i,
                   std::int64_t& limit, std::int64_t& last_end) {
  ClusterState& own = v.own();
  std::size_t removed = 0;
  for (; i < own.running.size(); ++i) {
    const RunningEntry& r = own.running[i];
    if (!touches(open, v.state.slots[r.slot].shares)) continue;
    const std::int64_t end = expected_end(v, r);
    if (set.exact && removed == 0) limit = end;
    if (limit == 0) limit = (end / 30 + 1) * 30 + 30;  // base, and the first window
    if (removed > 200 || (removed > 0 && end > limit)) break;
    own.pool.release(v.state.slots[r.slot].shares);
    v.scratch.taken_away.push_back(r.slot);
    last_end = end;
    ++removed;
  }
  return removed > 0;
}

/// will_run() on a pool of unit nodes: counts decide, so nothing is taken away and put back.
std::int64_t will_run_units(const PassView& v, const BackfillSettings& set, const Demand& d,
                            BitSpan open) {
  PassScratch& s = v.scratch;
  const ClusterState& own = v.own();
  const std::size_t need = d.min_cpus;
  Bitmap& cand = s.candidates;
  cand.assign(open.begin(), open.end());
  and_into(cand, own.pool.with_free_cpus());
  std::size_t n = count_bits(cand);
  std::int64_t start = n >= need ? v.now_s : INT64_MAX;
  std::int64_t window = 30;
  std::int64_t limit = 0;
  for (std::size_t i = 0; start == INT64_MAX && i < own.running.size();) {
    std::int64_t last_end = 0;
    std::size_t removed = 0;
    for (; i < own.running.size(); ++i) {
      const Bitmap& nodes = v.state.slots[own.running[i].slot].nodes;
      std::size_t gained = 0;
      for (std::size_t w = 0; w < open.size(); ++w) {
        gained += static_cast<std::size_t>(std::popcount(open[w] & nodes[w]));
      }
      if (gained == 0) continue;
      const std::int64_t end = expected_end(v, own.running[i]);
      if (set.exact && removed == 0) limit = end;
      if (limit == 0) limit = (end / 30 + 1) * 30 + 30;
      if (removed > 200 || (removed > 0 && end > limit)) break;
      for (std::size_t w = 0; w < open.size(); ++w) cand[w] |= open[w] & nodes[w];
      n += gained;
      last_end = end;
      ++removed;
    }
    if (removed > 0 && n >= need) start = last_end;
    next_window(v, set, i, window, limit);
  }
  return start;  // nodes are chosen among s.candidates once the start is accepted
}

/// Lower bound of any start of a job that needs `need` nodes of a unit pool, whatever the plan.
std::int64_t earliest_units(const PassView& v, std::size_t need) {
  for (const auto& [end, nodes] : v.scratch.free_by) {
    if (nodes >= need) return end;
  }
  return INT64_MAX;
}

/// Fills scratch.free_by: nodes of a unit pool that are free at each end of a running job,
/// cumulated.
void count_free_by(const PassView& v) {
  auto& out = v.scratch.free_by;
  out.clear();
  if (!v.model.unit_nodes) return;
  const ClusterState& own = v.own();
  std::size_t nodes = 0;
  for (std::size_t w = 0; w < own.pool.usable().size(); ++w) {
    nodes += static_cast<std::size_t>(
        std::popcount(own.pool.usable()[w] & own.pool.with_free_cpus()[w]));
  }
  out.emplace_back(v.now_s, nodes);
  for (const RunningEntry& r : own.running) {
    nodes += v.state.slots[r.slot].shares.size();
    out.emplace_back(std::max(r.end_s, v.now_s + 1), nodes);
  }
}

/// Expected start on `open`, nodes in scratch.shares; INT64_MAX: not even with every job gone.
/// Groups of running jobs are taken away by growing windows (semantics 5.5 point 3), then put back.
std::int64_t will_run(const PassView& v, const BackfillSettings& set, const Demand& d,
                      BitSpan open) {
  if (v.model.unit_nodes && d.simple_units) return will_run_units(v, set, d, open);
  if (fits(v, d, open)) return v.now_s;
  ClusterState& own = v.own();
  v.scratch.taken_away.clear();
  std::int64_t window = 30;
  std::int64_t limit = 0;
  std::int64_t last_end = 0;
  std::int64_t start = INT64_MAX;
  for (std::size_t i = 0; start == INT64_MAX && release_group(v, set, open, i, limit, last_end);) {
    if (fits(v, d, open)) start = last_end;
    next_window(v, set, i, window, limit);
  }
  for (auto it = v.scratch.taken_away.rbegin(); it != v.scratch.taken_away.rend(); ++it) {
    own.pool.acquire(v.state.slots[*it].shares);
  }
  return start;
}

bool plan_overlaps(const Cycle& c, std::int64_t from, std::int64_t to, BitSpan nodes) {
  if (from >= c.plan.window_end()) return false;
  for (std::size_t i = c.plan.index_at(from); i < c.plan.size() && c.plan.begin(i) < to; ++i) {
    if (!is_subset(nodes, c.plan.nodes(i))) return true;
  }
  return false;
}

void shares_to_bits(const std::vector<NodeShare>& shares, Bitmap& bits, std::size_t words) {
  bits.assign(words, 0);
  for (const NodeShare& s : shares) set_bit(bits, s.node);
}

enum class Step { started, planned, skipped };

/// Starts the job on exactly the planned nodes if the lock is granted.
bool start_now(Cycle& c, const QueueEntry& e) {
  const PassView& v = c.v;
  if (!v.host.lock(e.record)) {
    v.host.set_reason(e.record, Reason::fed_job_lock);
    c.lock_denied = true;
    return false;
  }
  v.host.start(e, v.scratch.shares, true);
  return true;
}

/// One job of the queue: start it, reserve for it, or leave it (semantics 5.4 point 5).
Step plan_job(Cycle& c, const QueueEntry& e, bool may_reserve) {
  const PassView& v = c.v;
  PassScratch& s = v.scratch;
  const Demand& d = v.demand(e);
  std::int64_t limit = v.limit_s(e);
  if (limit < 0) limit = kYearSeconds;
  std::int64_t at = v.now_s;
  SlidingAnd window(c.plan, s, v.model.bitmap_words());
  const bool units = v.model.unit_nodes && d.simple_units;
  const std::int64_t earliest = units ? earliest_units(v, d.min_cpus) : v.now_s;
  for (int attempt = 0; attempt < 4096; ++attempt) {
    const std::size_t first = c.plan.index_at(at);
    // Inclusive as in Slurm: a slice that begins exactly as the job ends still counts
    // (semantics 5.7).
    const std::size_t last = c.plan.index_at(at + limit - (c.set.exact ? 1 : 0)) + 1;
    std::int64_t later = c.plan.next_gain(first, last);
    if (may_reserve && later != 0 && earliest > later) {
      at = later;  // no set of nodes starts it before the next change of the plan
      continue;
    }
    window.move(first, last);
    s.job_nodes = v.own().pool.usable();
    and_into(s.job_nodes, v.partition(e).nodes);
    window.intersect(s.job_nodes);
    if (count_bits(s.job_nodes) < d.min_nodes ||
        (!d.required.empty() && !is_subset(d.required, s.job_nodes))) {
      if (later == 0 || !may_reserve) return Step::skipped;
      at = later;
      continue;
    }
    std::int64_t start = will_run(v, c.set, d, s.job_nodes);
    if (start == INT64_MAX) return Step::skipped;
    start = std::max(start, at);
    if (later != 0 && start > later && start > v.now_s) {
      at = later;
      continue;
    }
    if (units) select_units(d.min_cpus, s.candidates, s.select, s.shares);
    shares_to_bits(s.shares, s.reserved, v.model.bitmap_words());
    if (start <= v.now_s && overlaps(s.reserved, v.own().pool.completing_nodes())) {
      start = v.now_s + 1;
      later = 0;
    }
    if (start <= v.now_s) {
      if (start_now(c, e)) return Step::started;
      later = 0;
    }
    if (start > c.window_end || (start > v.now_s && !may_reserve)) return Step::skipped;
    const std::int64_t from = floor_to(start, c.set.resolution_s);
    const bool round_up = v.model.release >= SlurmRelease{24, 11};
    const std::int64_t to =
        floor_to(start + limit + (round_up ? c.set.resolution_s - 1 : 0), c.set.resolution_s);
    if (plan_overlaps(c, from, to, s.reserved)) {
      at = start > at ? start : start + (later > start ? later - start : c.set.resolution_s);
      continue;
    }
    c.plan.reserve(from, std::max(to, from + c.set.resolution_s), s.reserved);
    return Step::planned;
  }
  return Step::skipped;
}

/// bf_max_job_user, bf_max_job_part: jobs tested so far.
struct Counters {
  std::map<std::uint32_t, int> by_user;
  std::vector<int> by_partition;

  bool over(const PassView& v, const QueueEntry& e) {
    const SchedulerModel& p = v.model.scheduler;
    if (p.bf_max_job_part > 0 && by_partition[e.partition]++ >= p.bf_max_job_part) return true;
    return p.bf_max_job_user > 0 && by_user[v.spec(e).user.index()]++ >= p.bf_max_job_user;
  }
};

bool runnable(const PassView& v, const QueueEntry& e) {
  if (!v.state.records[e.record].queued) return false;
  if (floor_seconds(v.state.record_rows[e.record].eligible) > v.now_s) return false;
  return partition_limit(v.partition(e), v.demand(e), v.limit_s(e)) == Reason::none;
}

/// Number of leading queue entries after which no job could start now even without any plan: their
/// reservations would decide nothing. Monotone counts only, so that nothing startable is cut off.
std::size_t last_startable(const PassView& v) {
  const ClusterState& own = v.own();
  const Bitmap& up = own.pool.usable();
  std::vector<std::uint8_t>& could = v.scratch.could_start;  // by demand: 0 unknown, 1 no, 2 yes
  could.assign(v.demands.size(), 0);
  for (std::size_t i = own.queue.size(); i > 0; --i) {
    const QueueEntry& e = own.queue[i - 1];
    std::uint8_t& answer = could[e.demand];
    if (answer == 0) {
      const Demand& d = v.demand(e);
      const std::size_t need = d.simple_units && v.model.unit_nodes ? d.min_cpus : d.min_nodes;
      answer = usable_nodes(v, d, up, need) >= need ? 2 : 1;
    }
    if (answer == 2 && runnable(v, e)) return i;
  }
  return 0;
}

bool any_runnable(const PassView& v) {
  const std::vector<QueueEntry>& queue = v.own().queue;
  return std::any_of(queue.begin(), queue.end(),
                     [&](const QueueEntry& e) { return runnable(v, e); });
}

}  // namespace

PassOutcome run_backfill(const PassView& v, const BackfillSettings& set) {
  const SchedulerModel& p = v.model.scheduler;
  ClusterState& own = v.own();
  const std::int64_t begin = floor_to(v.now_s, set.resolution_s);
  Plan plan(v.scratch, {begin, begin + set.window_s}, own.pool.usable());
  Cycle cycle{v, set, plan, v.now_s + set.window_s, false};
  Counters counters{{}, std::vector<int>(p.bf_max_job_part > 0 ? v.model.partitions.size() : 0, 0)};
  int tested = 0;
  int started = 0;
  const std::size_t last = last_startable(v);
  if (last > 0) count_free_by(v);
  for (std::size_t i = 0; i < last; ++i) {
    const QueueEntry e = own.queue[i];
    if (!runnable(v, e) || counters.over(v, e)) continue;
    if (tested++ >= set.max_job_test) break;
    const std::int64_t age = v.now_s - floor_seconds(v.state.record_rows[e.record].submit);
    const bool may_reserve = age >= p.bf_min_age_reserve_s &&
                             v.state.records[e.record].priority >= p.bf_min_prio_reserve;
    if (plan_job(cycle, e, may_reserve) == Step::started && p.bf_max_job_start > 0 &&
        ++started >= p.bf_max_job_start) {
      break;
    }
    if (plan.size() >= set.max_slices) break;
  }
  if (tested == 0) tested = any_runnable(v) ? 1 : 0;
  return {true, cycle.lock_denied, tested};
}

PassOutcome backfill_pass(const PassView& v) {
  const SchedulerModel& p = v.model.scheduler;
  BackfillSettings set;
  set.resolution_s = std::max<std::int64_t>(p.bf_resolution_s, 1);
  set.window_s = p.bf_window_s;
  set.max_job_test = p.bf_max_job_test;
  set.max_slices = static_cast<std::size_t>(std::max(p.bf_node_space_size, 2));
  return run_backfill(v, set);
}

}  // namespace fedsim
