// slurmctld's main scheduling pass, job_scheduler.c: semantics 4.3. A job that does not fit fails
// its partition: everything below it there waits, and other partitions lose those nodes for this
// pass. Leaves out: reservations, licences, accounting limits, preemption.
#include <algorithm>

#include "sched/admission.hpp"
#include "sched/pass.hpp"

namespace fedsim {

std::int64_t PassView::limit_s(const QueueEntry& e) const {
  return effective_limit(partition(e), spec(e).limit_s);
}

bool array_is_full(const PassView& v, const QueueEntry& e) {
  if (v.state.arrays.empty()) return false;  // spares most runs a look at the job
  const JobSpec& spec = v.spec(e);
  return spec.array_limit != 0 && v.host.array_running(e.record) >= spec.array_limit;
}

bool waits_for_switches(const PassView& v, const QueueEntry& e,
                        const std::vector<NodeShare>& shares) {
  const Demand& d = v.demand(e);
  if (d.switches == 0 || v.model.hardware->switches.empty()) return false;
  const std::int64_t waited = v.now_s - floor_seconds(v.state.record_rows[e.record].eligible);
  if (waited >= d.switch_wait_s) return false;
  Bitmap nodes(v.model.bitmap_words(), 0);
  for (const NodeShare& share : shares) set_bit(nodes, share.node);
  return v.model.hardware->switches.leaves(nodes) > d.switches;
}

namespace {

/// Nodes on which a job may start now: up and without a running epilog.
void open_nodes(const PassView& v) {
  const NodePool& pool = v.own().pool;
  v.scratch.open = pool.usable();
  if (pool.any_completing()) subtract_from(v.scratch.open, pool.completing_nodes());
}

void fail_partition(const PassView& v, const QueueEntry& e) {
  v.scratch.failed_partitions[e.partition] = 1;
  subtract_from(v.scratch.open, v.partition(e).nodes);
}

enum class Tried { started, failed };

Tried try_entry(const PassView& v, const QueueEntry& e, PassOutcome& outcome) {
  PassScratch& s = v.scratch;
  const Demand& d = v.demand(e);
  if (v.spec(e).het_job != 0) return Tried::failed;  // backfill's alone to start
  s.job_nodes = s.open;
  and_into(s.job_nodes, v.partition(e).nodes);
  if (count_bits(s.job_nodes) < d.min_nodes) {
    v.host.set_reason(e.record, Reason::resources);
    return Tried::failed;
  }
  // The lock is asked before nodes are looked for, also when the cluster turns out to be full.
  if (!v.host.lock(e.record)) {
    v.host.set_reason(e.record, Reason::fed_job_lock);
    outcome.look_again = true;
    return Tried::failed;
  }
  if (select_nodes(v.model, v.own().pool, d, s.job_nodes, s.select, s.shares)) {
    if (!waits_for_switches(v, e, s.shares)) {
      v.host.start(e, s.shares, false);
      return Tried::started;
    }
    outcome.look_again = true;
  }
  v.host.unlock(e.record);
  v.host.set_reason(e.record, Reason::resources);
  return Tried::failed;
}

}  // namespace

PassOutcome main_pass(const PassView& v, bool full) {
  PassOutcome outcome;
  ClusterState& own = v.own();
  PassScratch& s = v.scratch;
  s.failed_partitions.assign(v.model.partitions.size(), 0);
  open_nodes(v);
  int depth = 0;
  std::size_t failed = 0;
  for (std::size_t i = 0; i < own.queue.size(); ++i) {
    const QueueEntry e = own.queue[i];
    if (!v.state.records[e.record].queued) continue;
    if (floor_seconds(v.state.record_rows[e.record].eligible) > v.now_s) {
      v.host.set_reason(e.record, Reason::begin_time);
      continue;
    }
    const Reason limit = partition_limit(v.partition(e), v.demand(e), v.limit_s(e));
    if (limit != Reason::none) {
      v.host.set_reason(e.record, limit);
      continue;
    }
    if (array_is_full(v, e)) {
      v.host.set_reason(e.record, Reason::job_array_task_limit);
      continue;
    }
    if (!full && depth++ > v.model.scheduler.default_queue_depth) {
      outcome.reached_end = false;
      break;
    }
    if (s.failed_partitions[e.partition] != 0) {
      v.host.set_reason(e.record, Reason::priority);
      if (failed == v.model.partitions.size()) break;  // nothing below can start in this pass
      continue;
    }
    if (try_entry(v, e, outcome) == Tried::failed) {
      fail_partition(v, e);
      ++failed;
    }
  }
  return outcome;
}

}  // namespace fedsim
