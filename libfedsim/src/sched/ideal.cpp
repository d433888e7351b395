// Textbook policies, applied at every event: FCFS, EASY and conservative backfilling.
//
// EASY (Lifka 1995): the first job that does not fit gets a reservation at the earliest time its
// nodes are free by the limits of running jobs ("shadow time"); a later job may start if it fits
// now and either ends by then or leaves that reservation alone. On a pool of single-CPU nodes the
// reservation is a count of nodes ("extra" nodes stay usable); elsewhere it is a set of whole
// nodes.
#include <algorithm>

#include "sched/admission.hpp"
#include "sched/will_run.hpp"

namespace fedsim {
namespace {

constexpr std::int64_t kFar = INT64_MAX / 4;

bool waiting(const PassView& v, const QueueEntry& e, SimTime now) {
  return v.state.records[e.record].queued && v.state.record_rows[e.record].eligible <= now;
}

/// Expected end of a job started now, by its limit.
std::int64_t end_if_started(const PassView& v, const QueueEntry& e) {
  const std::int64_t limit = v.limit_s(e);
  return limit < 0 ? kFar : v.now_s + limit;
}

bool start_if_fits(const PassView& v, const QueueEntry& e, BitSpan open) {
  PassScratch& s = v.scratch;
  s.job_nodes.assign(open.begin(), open.end());
  and_into(s.job_nodes, v.partition(e).nodes);
  if (!select_nodes(v.model, v.own().pool, v.demand(e), s.job_nodes, s.select, s.shares))
    return false;
  if (!v.host.lock(e.record)) return false;
  v.host.start(e, s.shares, false);
  return true;
}

/// Chooses nodes of `open` for one component and takes them away from it.
bool choose_component(const PassView& v, std::size_t job, SimTime now, Bitmap& open) {
  PassScratch& s = v.scratch;
  for (const QueueEntry& e : v.own().queue) {
    if (v.state.record_rows[e.record].job.index() != job || !waiting(v, e, now)) continue;
    s.job_nodes = open;
    and_into(s.job_nodes, v.partition(e).nodes);
    if (!select_nodes(v.model, v.own().pool, v.demand(e), s.job_nodes, s.select, s.shares))
      continue;
    for (const NodeShare& share : s.shares) clear_bit(open, share.node);
    s.het_components.push_back({e, s.shares});
    return true;
  }
  return false;
}

/// Starts a heterogeneous job when all its components fit at once, each on its own nodes.
bool start_together(const PassView& v, const QueueEntry& e, BitSpan open, SimTime now) {
  PassScratch& s = v.scratch;
  const ComponentRange parts = components_of(v.trace, v.state.record_rows[e.record].job);
  Bitmap left(open.begin(), open.end());
  s.het_components.clear();
  for (std::size_t job = parts.first; job < parts.last; ++job)
    if (!choose_component(v, job, now, left)) return false;
  for (const HetComponent& c : s.het_components) v.host.start(c.entry, c.shares, false);
  return true;
}

/// A component other than the first: it starts with that one.
bool follows(const PassView& v, const QueueEntry& e) {
  const JobId job = v.state.record_rows[e.record].job;
  return components_of(v.trace, job).first != job.index();
}

bool never_here(const PassView& v, const QueueEntry& e) {
  return partition_limit(v.partition(e), v.demand(e), v.limit_s(e)) != Reason::none;
}

// --- pool of unit nodes: counts decide, the lowest free nodes are taken ---

/// A cluster of single-CPU nodes where only the number of free nodes matters for this queue entry.
bool unit_pool(const PassView& v) {
  return v.model.unit_nodes && v.model.partitions.size() == 1 && !v.any_het;
}

void start_units(const PassView& v, const QueueEntry& e) {
  PassScratch& s = v.scratch;
  s.shares.clear();
  std::uint32_t need = v.demand(e).min_cpus;
  const Bitmap& free = v.own().pool.with_free_cpus();
  for (std::size_t w = 0; need > 0 && w < free.size(); ++w) {
    for (std::uint64_t b = free[w] & v.own().pool.usable()[w]; b != 0 && need > 0;
         b &= b - 1, --need) {
      const auto node =
          static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(b)));
      NodeShare& share = s.shares.emplace_back();
      share.node = node;
      share.cpus = 1;
    }
  }
  FEDSIM_CHECK(need == 0, "a unit pool has fewer free nodes than counted");
  v.host.start(e, s.shares, false);
}

struct Shadow {
  std::int64_t at = kFar;
  std::int64_t extra = 0;  ///< free then beyond what the head needs
};

/// When `need` nodes are free by the limits of running jobs, and how many more are then.
Shadow shadow_of(const PassView& v, std::int64_t free, std::int64_t need) {
  Shadow shadow;
  std::int64_t available = free;
  for (const RunningEntry& r : v.own().running) {
    if (r.end_s > shadow.at) break;
    available += static_cast<std::int64_t>(v.state.slots[r.slot].shares.size());
    if (shadow.at == kFar && available >= need) shadow.at = r.end_s;
  }
  shadow.extra = available - need;
  return shadow;
}

std::int64_t free_units(const PassView& v) {
  std::int64_t n = 0;
  const NodePool& pool = v.own().pool;
  for (std::size_t w = 0; w < pool.usable().size(); ++w) {
    n += std::popcount(pool.with_free_cpus()[w] & pool.usable()[w]);
  }
  return n;
}

void easy_units(const PassView& v, Policy policy, SimTime now) {
  ClusterState& own = v.own();
  std::int64_t free = free_units(v);
  bool blocked = false;
  Shadow shadow;
  for (std::size_t i = 0; i < own.queue.size() && free > 0; ++i) {
    const QueueEntry e = own.queue[i];
    const std::int64_t need = v.demands[e.demand].min_cpus;
    if (need > free && blocked) continue;
    if (!waiting(v, e, now) || never_here(v, e)) continue;
    if (!blocked && need > free) {
      if (policy == Policy::fcfs) return;
      blocked = true;
      shadow = shadow_of(v, free, need);
      continue;
    }
    const bool ends_before = !blocked || end_if_started(v, e) <= shadow.at;
    if (!ends_before && need > shadow.extra) continue;
    if (!v.host.lock(e.record)) continue;
    if (!ends_before) shadow.extra -= need;
    free -= need;
    start_units(v, e);
  }
}

// --- any cluster ---

/// The head's reservation: time and whole nodes.
struct Reservation {
  std::int64_t at = kFar;
  Bitmap nodes;
};

Reservation reserve_head(const PassView& v, const QueueEntry& e) {
  PassScratch& s = v.scratch;
  ClusterState& own = v.own();
  Reservation out;
  s.job_nodes = own.pool.usable();
  and_into(s.job_nodes, v.partition(e).nodes);
  std::size_t taken = 0;
  while (taken < own.running.size() && out.at == kFar) {
    const std::int64_t end = own.running[taken].end_s;
    for (; taken < own.running.size() && own.running[taken].end_s == end; ++taken) {
      own.pool.release(v.state.slots[own.running[taken].slot].shares);
    }
    if (select_nodes(v.model, own.pool, v.demand(e), s.job_nodes, s.select, s.shares)) out.at = end;
  }
  while (taken > 0) own.pool.acquire(v.state.slots[own.running[--taken].slot].shares);
  out.nodes.assign(v.model.bitmap_words(), 0);
  if (out.at == kFar) return out;
  for (const NodeShare& share : s.shares) set_bit(out.nodes, share.node);
  return out;
}

void easy_nodes(const PassView& v, Policy policy, SimTime now) {
  ClusterState& own = v.own();
  bool blocked = false;
  Reservation head;
  Bitmap rest;
  for (std::size_t i = 0; i < own.queue.size(); ++i) {
    const QueueEntry e = own.queue[i];
    if (!waiting(v, e, now) || never_here(v, e)) continue;
    const bool het = v.any_het && v.spec(e).het_job != 0;
    if (het && follows(v, e)) continue;
    const auto start = [&](BitSpan open) {
      return het ? start_together(v, e, open, now) : start_if_fits(v, e, open);
    };
    if (!blocked) {
      if (start(own.pool.usable())) continue;
      if (policy == Policy::fcfs) return;
      blocked = true;
      head = reserve_head(v, e);
      rest = own.pool.usable();
      subtract_from(rest, head.nodes);
      continue;
    }
    start(end_if_started(v, e) <= head.at ? own.pool.usable() : rest);
  }
}

}  // namespace

void ideal_pass(const PassView& v, Policy policy, SimTime now) {
  if (policy == Policy::conservative) {
    BackfillSettings set;
    set.resolution_s = 1;
    set.window_s = kFar / 2;
    set.max_job_test = INT32_MAX;
    set.max_slices = SIZE_MAX;
    set.exact = true;
    run_backfill(v, set);
  } else if (unit_pool(v)) {
    easy_units(v, policy, now);
  } else {
    easy_nodes(v, policy, now);
  }
}

}  // namespace fedsim
