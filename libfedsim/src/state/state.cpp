// Queue, slots and running lists: see state.hpp.
#include "state/state.hpp"

#include <algorithm>

namespace fedsim {

std::uint32_t record_on(const SimState& state, JobId job, ClusterId cluster) {
  std::uint32_t r = state.jobs[job.index()].newest_record;
  while (r != kNoIndex && state.record_rows[r].cluster != cluster) r = state.records[r].previous;
  return r;
}

namespace {

/// Scheduling order of slurmctld's sort_job_queue2 as far as it is static (semantics 4.2 point 3).
struct QueueOrder {
  const SimState& state;
  const ClusterModel& model;
  bool operator()(const QueueEntry& a, const QueueEntry& b) const {
    const int tier_a = model.partitions[a.partition].spec.priority_tier;
    const int tier_b = model.partitions[b.partition].spec.priority_tier;
    if (tier_a != tier_b) return tier_a > tier_b;
    const RecordLive& ra = state.records[a.record];
    const RecordLive& rb = state.records[b.record];
    if (ra.priority != rb.priority) return ra.priority > rb.priority;
    if (ra.submit_s != rb.submit_s) return ra.submit_s < rb.submit_s;
    const std::uint32_t job_a = state.job_rows[state.record_rows[a.record].job.index()].job_id;
    const std::uint32_t job_b = state.job_rows[state.record_rows[b.record].job.index()].job_id;
    if (job_a != job_b) return job_a < job_b;
    if (a.record != b.record) return a.record < b.record;  // tasks of an array
    return a.partition < b.partition;
  }
};

void compact(ClusterState& c, const SimState& state) {
  std::erase_if(c.queue, [&](const QueueEntry& e) { return !state.records[e.record].queued; });
  c.queue_dead = 0;
}

/// Drops dead entries once they outnumber the living, so that the cost per removal stays constant.
void tidy(ClusterState& c, const SimState& state) {
  if (c.queued_n == 0) {
    c.queue.clear();
    c.queue_dead = 0;
  } else if (c.queue_dead > 32 && c.queue_dead > c.queued_n) {
    compact(c, state);
  }
}

bool running_before(const RunningEntry& a, const RunningEntry& b) {
  return a.end_s != b.end_s ? a.end_s < b.end_s : a.record < b.record;
}

}  // namespace

void enqueue(SimState& state, const ClusterModel& model, ClusterId cluster, QueueEntry entry) {
  ClusterState& c = state.clusters[cluster.index()];
  RecordLive& r = state.records[entry.record];
  if (!r.queued) ++c.queued_n;
  r.queued = true;
  const QueueOrder order{state, model};
  if (c.queue.empty() || order(c.queue.back(), entry)) {
    c.queue.push_back(entry);
    return;
  }
  c.queue.insert(std::lower_bound(c.queue.begin(), c.queue.end(), entry, order), entry);
}

void dequeue(SimState& state, ClusterId cluster, std::uint32_t record) {
  RecordLive& r = state.records[record];
  if (!r.queued) return;
  ClusterState& c = state.clusters[cluster.index()];
  r.queued = false;
  --c.queued_n;
  ++c.queue_dead;
  if (!c.iterating) tidy(c, state);
}

void begin_iteration(ClusterState& cluster) {
  cluster.iterating = true;
}

void end_iteration(SimState& state, ClusterId cluster) {
  ClusterState& c = state.clusters[cluster.index()];
  c.iterating = false;
  tidy(c, state);
}

void forget(SimState& state, ClusterId cluster, std::uint32_t record) {
  dequeue(state, cluster, record);
  compact(state.clusters[cluster.index()], state);
}

std::uint32_t take_slot(SimState& state) {
  if (!state.free_slots.empty()) {
    const std::uint32_t slot = state.free_slots.back();
    state.free_slots.pop_back();
    state.slots[slot].shares.clear();
    return slot;
  }
  state.slots.emplace_back();
  return static_cast<std::uint32_t>(state.slots.size() - 1);
}

void give_slot(SimState& state, std::uint32_t slot) {
  state.slots[slot].record = kNoIndex;
  state.free_slots.push_back(slot);
}

void add_running(ClusterState& cluster, RunningEntry entry) {
  auto& list = cluster.running;
  list.insert(std::upper_bound(list.begin(), list.end(), entry, running_before), entry);
}

void remove_running(ClusterState& cluster, RunningEntry entry) {
  auto& list = cluster.running;
  const auto it = std::lower_bound(list.begin(), list.end(), entry, running_before);
  FEDSIM_CHECK(it != list.end() && it->record == entry.record, "running list lost a job");
  list.erase(it);
}

}  // namespace fedsim
