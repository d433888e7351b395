// sched/backfill, backfill.c: one cycle over the queue with a plan of time slices (semantics 5.3
// to 5.5).
//
// Nodes are planned whole; running jobs are not in the plan but taken away one group after the
// other by the will-run test, at the end of their time limits. Zero compute time: a cycle never
// yields. Leaves out: reservations, licences, preemption, time-min, bf_running_job_reserve.
#include <algorithm>
#include <map>
#include <optional>

#include "sched/admission.hpp"
#include "sched/plan.hpp"
#include "sched/will_run.hpp"

namespace fedsim {
namespace {

std::int64_t floor_to(std::int64_t t, std::int64_t step) {
  return t / step * step;
}

bool runnable(const PassView& v, const QueueEntry& e) {
  if (!v.state.records[e.record].queued) return false;
  if (floor_seconds(v.state.record_rows[e.record].eligible) > v.now_s) return false;
  if (array_is_full(v, e)) return false;
  return partition_limit(v.partition(e), v.demand(e), v.limit_s(e)) == Reason::none;
}

std::int64_t planned_limit(const PassView& v, const QueueEntry& e) {
  const std::int64_t limit = v.limit_s(e);
  return limit < 0 ? kYearSeconds : limit;
}

/// Number of nodes of `open` on which the job could run now; stops counting at `enough`.
std::size_t usable_nodes(const PassView& v, const Demand& d, BitSpan open, std::size_t enough) {
  const NodePool& pool = v.own().pool;
  const Bitmap& with_cpus = with_cores(pool, d);
  std::size_t n = 0;
  for (std::size_t w = 0; w < open.size() && n < enough; ++w) {
    const std::uint64_t bits = open[w] & with_cpus[w] & d.request.nodes[w];
    if (d.simple_units) {
      n += static_cast<std::size_t>(std::popcount(bits));
      continue;
    }
    for (std::uint64_t b = bits; b != 0 && n < enough; b &= b - 1) {
      n += may_use(v.model, pool, d, w * 64 + static_cast<std::size_t>(std::countr_zero(b)));
    }
  }
  return n;
}

/// How far down the queue a job could still start in this cycle. Beyond it reservations decide
/// nothing, so a cycle ends there. Reservations and starts only ever take nodes away: a job that
/// lacks them now is not looked at again.
class Reach {
 public:
  Reach(const PassView& v, const BackfillSettings& set, const Plan& plan)
      : v_(v), set_(set), plan_(plan), last_(v.own().queue.size()) {
    v.scratch.could_start.assign(v.demands.size(), 0);
    shrink();
  }

  /// Number of leading queue entries to look at.
  std::size_t last() const { return last_; }

  /// The plan lost `nodes` from `from` on.
  void reserved(std::int64_t from, BitSpan nodes) {
    if (last_ == 0 || from > end_) return;
    subtract_from(v_.scratch.reach_nodes, nodes);
    if (!enough()) shrink();
  }

  /// A job took nodes now.
  void started() {
    if (last_ > 0 && !enough()) shrink();
  }

 private:
  void shrink() {
    for (; last_ > 0; --last_) {
      const QueueEntry& e = v_.own().queue[last_ - 1];
      if (!ever(e) || !runnable(v_, e)) continue;
      demand_ = e.demand;
      end_ = v_.now_s + planned_limit(v_, e) - (set_.exact ? 1 : 0);
      v_.scratch.reach_nodes = v_.own().pool.usable();
      and_into(v_.scratch.reach_nodes, v_.partition(e).nodes);
      const std::size_t last = plan_.index_at(end_);
      for (std::size_t i = plan_.index_at(v_.now_s); i <= last; ++i) {
        and_into(v_.scratch.reach_nodes, plan_.nodes(i));
      }
      if (enough()) return;
    }
  }

  bool enough() const {
    const Demand& d = v_.demands[demand_];
    const std::size_t need = least_nodes(v_, d);
    return usable_nodes(v_, d, v_.scratch.reach_nodes, need) >= need;
  }

  /// The demand could start if nothing were reserved.
  bool ever(const QueueEntry& e) {
    std::uint8_t& answer = v_.scratch.could_start[e.demand];  // 0 unknown, 1 no, 2 yes
    if (answer == 0) {
      const Demand& d = v_.demand(e);
      const std::size_t need = least_nodes(v_, d);
      answer = usable_nodes(v_, d, v_.own().pool.usable(), need) >= need ? 2 : 1;
    }
    return answer == 2;
  }

  const PassView& v_;
  const BackfillSettings& set_;
  const Plan& plan_;
  std::size_t last_;
  std::uint32_t demand_ = 0;  ///< of entry last - 1, with the time until which it would run
  std::int64_t end_ = 0;
};

/// Nodes that a queue entry may use: up, in its partition, not excluded.
struct Base {
  BitSpan nodes;
  bool all = false;  ///< every node that is up
};

/// One cycle's working values.
struct Cycle {
  const PassView& v;
  const BackfillSettings& set;
  Plan& plan;
  FreeBy free_by;
  Reach reach;
  std::int64_t window_end;
  bool look_again = false;
  Base base(const QueueEntry& e) const {
    const Bitmap& up = v.own().pool.usable();
    const Bitmap& fit = v.demand(e).request.nodes;
    if (is_subset(up, fit)) return {up, true};
    Bitmap& nodes = v.scratch.base;
    nodes = up;
    and_into(nodes, fit);
    return {nodes, false};
  }
};

enum class Step { started, planned, skipped };

/// Starts the job on exactly the planned nodes if the lock is granted.
bool start_now(Cycle& c, const QueueEntry& e) {
  const PassView& v = c.v;
  if (waits_for_switches(v, e, v.scratch.shares)) {
    c.look_again = true;
    return false;
  }
  if (!v.host.lock(e.record)) {
    v.host.set_reason(e.record, Reason::fed_job_lock);
    c.look_again = true;
    return false;
  }
  chosen_shares(v, v.demand(e), v.scratch.reserved);
  v.host.start(e, v.scratch.shares, true);
  return true;
}

/// Takes [start, start + limit) out of the plan for `nodes`; false when an earlier reservation is
/// in the way.
bool reserve(Cycle& c, std::int64_t start, std::int64_t limit, BitSpan nodes) {
  const std::int64_t step = c.set.resolution_s;
  const std::int64_t from = floor_to(start, step);
  const std::int64_t to = floor_to(start + limit + (c.set.bounded ? step - 1 : 0), step);
  if (!c.plan.open(from, to, nodes)) return false;
  c.plan.reserve(from, std::max(to, from + step), nodes);
  c.reach.reserved(from, nodes);
  return true;
}

/// Tries one job at ever later times of the plan (semantics 5.4 point 5).
class JobPlanner {
 public:
  JobPlanner(Cycle& c, const QueueEntry& e, bool may_reserve)
      : c_(c),
        v_(c.v),
        e_(e),
        d_(c.v.demand(e)),
        base_(c.base(e)),
        may_reserve_(may_reserve),
        limit_(planned_limit(c.v, e)),
        need_(least_nodes(c.v, d_)),
        shape_(c.free_by.shape_of(e.demand)),
        earliest_(c.free_by.earliest(shape_, need_)),
        window_(c.plan, c.v.scratch, c.v.model.bitmap_words()),
        like_(d_.simple_units ? UINT32_MAX : e.demand),
        comparable_(base_.all && d_.required.empty() && !c.set.bounded) {
    if (!comparable_) return;
    for (const NoneBefore& n : v_.scratch.none_before) {
      // A window counts slices that begin as the job ends, a reservation does not: one step apart.
      if (n.demand == like_ && n.need <= need_ && n.limit + c.set.resolution_s <= limit_)
        none_before_ = std::max(none_before_, n.at);
    }
  }

  Step run() {
    std::int64_t at = v_.now_s;
    first_ = c_.plan.index_at(at);
    for (int attempt = 0; attempt < 4096; ++attempt) {
      if (c_.set.bounded && at > c_.plan.window_end()) return Step::skipped;
      look(at);
      const bool maybe = !hopeless() && nodes_suffice();
      if (maybe && !tried_) remember(at);
      const std::int64_t start = maybe ? start_at(at) : kNever;
      if (start == kNever || (later_ != 0 && start > later_ && start > v_.now_s)) {
        if (later_ == 0 || !may_reserve_) return Step::skipped;
        at = later_;
        first_ = later_first_;
        continue;
      }
      chosen_nodes(v_, d_, v_.scratch.reserved);
      if (const auto step = take(start)) return *step;
      // An earlier reservation is in the way.
      at = start > at ? start : start + c_.set.resolution_s;
      first_ = c_.plan.index_at(at);
    }
    return Step::skipped;
  }

 private:
  /// Moves the window to `at`, and finds the next time when nodes come that it lacks.
  void look(std::int64_t at) {
    const Plan& plan = c_.plan;
    // Inclusive as in Slurm: a slice that begins exactly as the job ends still counts
    // (semantics 5.7).
    const std::int64_t end = at + limit_ - (c_.set.exact ? 1 : 0);
    last_ = std::max(last_, first_);
    while (last_ < plan.size() && plan.begin(last_) <= end) ++last_;
    const std::size_t gain = plan.next_gain(first_, last_, base_.nodes, base_.all);
    later_first_ = gain + 1;
    // 24.11 also tries again after the slice beyond the window.
    if (c_.set.bounded && gain == plan.size()) later_first_ = last_ + 2;
    later_ = later_first_ < plan.size() ? plan.begin(later_first_) : 0;
  }

  /// A job that needs no more nodes for no more time found none before `later_`, and the plan has
  /// only shrunk since: whatever is chosen here would be in the way of a reservation.
  bool hopeless() const { return may_reserve_ && later_ != 0 && later_ < none_before_; }

  /// No `need_` nodes are free together for `limit_` before `at`, the first time that counts allow.
  void remember(std::int64_t at) {
    tried_ = true;
    if (comparable_ && at > std::max(v_.now_s, none_before_))
      v_.scratch.none_before.push_back({like_, need_, limit_, at});
  }

  /// Fills scratch.job_nodes. False when the job can't start on them by `later_`, by counts alone.
  bool nodes_suffice() {
    const bool until = later_ != 0 && may_reserve_;
    if (until && earliest_ > later_) return false;
    window_.move(first_, last_);
    free_row_ = until ? c_.free_by.row_at(later_, free_row_) : c_.free_by.rows() - 1;
    Bitmap& nodes = v_.scratch.job_nodes;
    const auto [open, free] =
        window_.intersect(base_.nodes, c_.free_by.row(shape_, free_row_), nodes);
    if (open < d_.min_nodes || free < need_) return false;
    return d_.required.empty() || is_subset(d_.required, nodes);
  }

  std::int64_t start_at(std::int64_t at) {
    const std::int64_t start =
        will_run(v_, c_.set, c_.free_by, {d_, shape_, v_.scratch.job_nodes, at, later_});
    return start == kNever ? start : std::max(start, at);
  }

  /// Starts the job or reserves its nodes; nothing when an earlier reservation is in the way.
  std::optional<Step> take(std::int64_t start) {
    if (start <= v_.now_s && overlaps(v_.scratch.reserved, v_.own().pool.completing_nodes()))
      start = v_.now_s + 1;
    if (start <= v_.now_s && v_.spec(e_).het_job != 0) {
      keep_component();
    } else if (start <= v_.now_s && start_now(c_, e_)) {
      return Step::started;
    }
    if (start > c_.window_end || (start > v_.now_s && !may_reserve_)) return Step::skipped;
    if (reserve(c_, start, limit_, v_.scratch.reserved)) return Step::planned;
    return std::nullopt;
  }

  /// Once for each component, whatever partitions it lists.
  void keep_component() {
    std::vector<HetComponent>& all = v_.scratch.het_components;
    const bool known = std::any_of(
        all.begin(), all.end(), [&](const HetComponent& x) { return x.entry.record == e_.record; });
    if (known) return;
    chosen_shares(v_, d_, v_.scratch.reserved);
    all.push_back({e_, v_.scratch.shares});
  }

  Cycle& c_;
  const PassView& v_;
  const QueueEntry& e_;
  const Demand& d_;
  const Base base_;
  bool may_reserve_;
  std::int64_t limit_;
  std::size_t need_;
  FreeBy::Shape shape_;
  std::int64_t earliest_;
  SlidingAnd window_;
  std::size_t first_ = 0, last_ = 0;  ///< slices of the window, last excluded
  std::int64_t later_ = 0;            ///< next time to try; 0: there is none
  std::size_t later_first_ = 0;       ///< slice that begins then
  std::size_t free_row_ = 0;
  std::uint32_t like_;  ///< demand, the same for all that ask for CPUs only
  bool comparable_;     ///< with other jobs of the cycle, by counts
  bool tried_ = false;  ///< counts have allowed a start
  std::int64_t none_before_ = 0;
};

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

/// Starts the heterogeneous jobs of which every component could start now. The plan held each one's
/// nodes, so that they are on distinct nodes (semantics 9.4; BF-19).
void start_het_jobs(Cycle& c) {
  const PassView& v = c.v;
  std::vector<HetComponent>& all = v.scratch.het_components;
  while (!all.empty()) {
    const JobId leader = v.state.record_rows[all.front().entry.record].job;
    const std::uint32_t id = v.trace.jobs[leader.index()].het_job;
    const auto rest = std::stable_partition(all.begin(), all.end(), [&](const HetComponent& x) {
      return v.spec(x.entry).het_job == id;
    });
    const ComponentRange parts = components_of(v.trace, leader);
    if (static_cast<std::size_t>(rest - all.begin()) == parts.last - parts.first) {
      for (auto x = all.begin(); x != rest; ++x) v.host.start(x->entry, x->shares, true);
    }
    all.erase(all.begin(), rest);
  }
}

bool any_runnable(const PassView& v) {
  const std::vector<QueueEntry>& queue = v.own().queue;
  return std::any_of(queue.begin(), queue.end(),
                     [&](const QueueEntry& e) { return runnable(v, e); });
}

}  // namespace

ComponentRange components_of(const Trace& trace, JobId job) {
  const std::vector<JobSpec>& jobs = trace.jobs;
  const std::uint32_t id = jobs[job.index()].het_job;
  ComponentRange out{job.index(), job.index() + 1};
  while (out.first > 0 && jobs[out.first - 1].het_job == id) --out.first;
  while (out.last < jobs.size() && jobs[out.last].het_job == id) ++out.last;
  return out;
}

PassOutcome run_backfill(const PassView& v, const BackfillSettings& set) {
  const SchedulerModel& p = v.model.scheduler;
  ClusterState& own = v.own();
  const std::int64_t begin = floor_to(v.now_s, set.resolution_s);
  Plan plan(v.scratch, {begin, begin + set.window_s}, own.pool.usable());
  Reach reach(v, set, plan);
  if (reach.last() == 0) return {true, false, any_runnable(v) ? 1 : 0};
  Cycle cycle{v, set, plan, FreeBy(v), reach, v.now_s + set.window_s, false};
  v.scratch.none_before.clear();
  v.scratch.het_components.clear();
  Counters counters{{}, std::vector<int>(p.bf_max_job_part > 0 ? v.model.partitions.size() : 0, 0)};
  int tested = 0;
  int started = 0;
  for (std::size_t i = 0; i < cycle.reach.last(); ++i) {
    const QueueEntry e = own.queue[i];
    if (!runnable(v, e) || counters.over(v, e)) continue;
    if (tested++ >= set.max_job_test) break;
    const std::int64_t age = v.now_s - floor_seconds(v.state.record_rows[e.record].submit);
    const bool may_reserve = age >= p.bf_min_age_reserve_s &&
                             v.state.records[e.record].priority >= p.bf_min_prio_reserve;
    if (JobPlanner(cycle, e, may_reserve).run() == Step::started) {
      cycle.free_by.update();
      cycle.reach.started();
      if (p.bf_max_job_start > 0 && ++started >= p.bf_max_job_start) break;
    }
    if (plan.records() >= set.max_slices) break;
  }
  start_het_jobs(cycle);
  if (tested == 0) tested = any_runnable(v) ? 1 : 0;
  return {true, cycle.look_again, tested};
}

PassOutcome backfill_pass(const PassView& v) {
  const SchedulerModel& p = v.model.scheduler;
  BackfillSettings set;
  set.resolution_s = std::max<std::int64_t>(p.bf_resolution_s, 1);
  set.window_s = p.bf_window_s;
  set.max_job_test = p.bf_max_job_test;
  set.max_slices = static_cast<std::size_t>(std::max(p.bf_node_space_size, 2));
  set.bounded = v.model.release >= SlurmRelease{24, 11};
  set.relevant = v.model.release >= SlurmRelease{25, 5};
  return run_backfill(v, set);
}

}  // namespace fedsim
