// Start, revocation and end of an execution, fed_mgr.c and job_mgr.c: semantics 1.6 points 4 to
// 8, 8.3, 9.1.
#include <algorithm>

#include "fed/context.hpp"
#include "sched/admission.hpp"

namespace fedsim {
namespace {

std::int64_t limit_of(const Context& ctx, const QueueEntry& e) {
  const RecordRow& row = ctx.state.record_rows[e.record];
  return effective_limit(ctx.cluster(row.cluster).partitions[e.partition],
                         ctx.spec(row.job).limit_s);
}

/// How and when the execution will end if nobody interferes.
struct Ending {
  SimTime at{};
  RecordState state = RecordState::completed;
};

RecordState state_of(Outcome o) {
  switch (o) {
    case Outcome::completed:
      return RecordState::completed;
    case Outcome::failed:
      return RecordState::failed;
    case Outcome::cancelled:
      return RecordState::cancelled;
    case Outcome::node_fail:
      return RecordState::node_fail;
    case Outcome::out_of_memory:
      return RecordState::out_of_memory;
    case Outcome::timeout:
      return RecordState::timeout;
  }
  return RecordState::completed;
}

Ending ending_of(const Context& ctx, const QueueEntry& e) {
  const RecordRow& row = ctx.state.record_rows[e.record];
  const JobSpec& spec = ctx.spec(row.job);
  const SimTime now = ctx.state.now;
  const bool launches = ctx.slurm() && !spec.run_is_elapsed;
  Ending out{now + spec.run + (launches ? ctx.model.latency.launch : Duration{0}),
             state_of(spec.outcome)};
  // Withdrawn in the queue by its user: had it started earlier it would have run until then.
  if (spec.cancel != kNoTime) out = {std::max(spec.cancel, now), RecordState::cancelled};
  const std::int64_t limit = limit_of(ctx, e);
  if (limit >= 0) {
    const ClusterModel& cluster = ctx.cluster(row.cluster);
    SimTime kill = now + kSecond * limit;
    if (ctx.slurm()) {
      const SimTime over =
          from_unix_seconds(floor_seconds(now) + limit + cluster.over_time_limit_s);
      kill = next_limit_check(ctx.controller(row.cluster), over);
    }
    if (kill < out.at) out = {kill, RecordState::timeout};
  }
  out.at = std::max(out.at, now + Duration{1});
  return out;
}

std::uint32_t allocate(const Context& ctx, const QueueEntry& e,
                       const std::vector<NodeShare>& shares, bool backfilled) {
  SimState& s = ctx.state;
  const RecordRow& row = s.record_rows[e.record];
  AllocationRow a;
  a.job = row.job;
  a.cluster = row.cluster;
  a.record = e.record;
  a.nodes_n = static_cast<std::uint32_t>(shares.size());
  a.place_offset = s.placements.size();
  a.start = row.start;
  a.backfilled = backfilled;
  a.tasks = ctx.demands.demands[e.demand].ntasks;
  for (const NodeShare& n : shares) {
    a.cpus += n.cpus;
    a.memory_mib += n.memory_mib;
    a.gpus += std::popcount(n.gpu_mask);
    if (ctx.options.keep_placement) s.placements.push_back({NodeId{n.node}, n.cpus, n.gpu_mask});
  }
  s.allocation_rows.push_back(a);
  const std::uint32_t slot = take_slot(s);
  s.slots[slot].record = e.record;
  s.slots[slot].shares = shares;
  return slot;
}

std::int64_t running_end_s(const Context& ctx, std::uint32_t record, std::int64_t limit) {
  return floor_seconds(ctx.state.record_rows[record].start) + (limit < 0 ? kYearSeconds : limit);
}

/// Start notice to the origin, or revocation of the siblings when this is the origin.
void announce_start(const Context& ctx, ClusterId by, JobId job) {
  if (!ctx.model.federated) return;
  const ClusterId origin = ctx.state.job_rows[job.index()].origin;
  if (by == origin) {
    on_started_elsewhere(ctx, job, by);
  } else {
    send(ctx, EventKind::sibling_started, origin, job, by.index());
  }
}

}  // namespace

void start_record(const Context& ctx, const QueueEntry& e, const std::vector<NodeShare>& shares,
                  bool backfilled) {
  SimState& s = ctx.state;
  RecordRow& row = s.record_rows[e.record];
  RecordLive& live = s.records[e.record];
  JobLive& job = s.jobs[row.job.index()];
  FEDSIM_CHECK(job.running_record == kNoIndex, "a job would run twice");
  FEDSIM_CHECK(row.state == RecordState::pending, "only a pending record can start");
  ClusterState& own = s.clusters[row.cluster.index()];
  dequeue(s, row.cluster, e.record);
  row.start = stamp(ctx, s.now);
  row.state = RecordState::running;
  row.reason = 0;
  row.partition = PartitionId{e.partition};
  row.allocation = static_cast<std::uint32_t>(s.allocation_rows.size());
  live.slot = allocate(ctx, e, shares, backfilled);
  own.pool.acquire(shares);
  add_running(own, {running_end_s(ctx, e.record, limit_of(ctx, e)), live.slot, e.record});
  job.running_record = e.record;
  JobRow& jr = s.job_rows[row.job.index()];
  jr.ran = row.cluster;
  jr.state = RecordState::running;
  const Ending end = ending_of(ctx, e);
  s.queue.push(
      {end.at.time_since_epoch().count(), 0, e.record, static_cast<std::uint32_t>(end.state),
       live.generation, EventKind::job_end, static_cast<std::uint8_t>(row.cluster.index())},
      Phase::end, static_cast<std::uint8_t>(row.cluster.index()));
  own.last_update_s = floor_seconds(s.now);
  own.changed_for_backfill = true;
  tell(ctx, StoryKind::start, row.cluster, row.job);
  announce_start(ctx, row.cluster, row.job);
}

void on_started_elsewhere(const Context& ctx, JobId job, ClusterId by) {
  SimState& s = ctx.state;
  JobLive& live = s.jobs[job.index()];
  const ClusterId origin = s.job_rows[job.index()].origin;
  live.lock = static_cast<std::uint8_t>(by.index());
  const ClusterSet others = live.active - ClusterSet::only(by);
  live.active = ClusterSet::only(by);
  others.for_each([&](ClusterId c) {
    if (c == origin) {
      revoke_record(ctx, c, job);
    } else {
      send(ctx, EventKind::sibling_revoke, c, job);
    }
  });
}

void revoke_record(const Context& ctx, ClusterId cluster, JobId job) {
  SimState& s = ctx.state;
  const std::uint32_t r = record_on(s, job, cluster);
  if (r == kNoIndex || s.record_rows[r].state != RecordState::pending) return;
  RecordRow& row = s.record_rows[r];
  dequeue(s, cluster, r);
  const std::uint32_t runner = s.jobs[job.index()].running_record;
  const SimTime when = runner != kNoIndex ? s.record_rows[runner].start : stamp(ctx, s.now);
  row.state = RecordState::revoked;
  row.end = std::max(when, row.submit);
  // What accounting shows as Start of a revoked copy differs by release (recordings, RELEASES).
  const SlurmRelease release = ctx.cluster(cluster).release;
  const bool at_origin = s.job_rows[job.index()].origin == cluster;
  const bool early = row.end - row.submit <= 2 * kSecond;
  const bool shown = release < SlurmRelease{24, 11} ? early : release < SlurmRelease{26, 5};
  if (!at_origin && shown) row.start = row.end;
  tell(ctx, StoryKind::revoke, cluster, job);
  note_update(ctx.controller(cluster));
}

void end_record(const Context& ctx, std::uint32_t record, RecordState state) {
  SimState& s = ctx.state;
  RecordRow& row = s.record_rows[record];
  RecordLive& live = s.records[record];
  FEDSIM_CHECK(row.state == RecordState::running, "only a running record can end");
  ClusterState& own = s.clusters[row.cluster.index()];
  AllocationRow& a = s.allocation_rows[row.allocation];
  const auto limit = effective_limit(ctx.cluster(row.cluster).partitions[row.partition.index()],
                                     ctx.spec(row.job).limit_s);
  remove_running(own, {running_end_s(ctx, record, limit), live.slot, record});
  own.pool.release(s.slots[live.slot].shares);
  row.end = stamp(ctx, s.now);
  row.state = state;
  row.exit_code = state == RecordState::failed ? ctx.spec(row.job).exit_code : 0;
  a.end = row.end;
  ++live.generation;
  s.jobs[row.job.index()].running_record = kNoIndex;
  if (ctx.slurm()) {
    own.pool.begin_completing(s.slots[live.slot].shares);
    const SimTime done = s.now + std::max(ctx.model.latency.epilog, Duration{1});
    s.queue.push({done.time_since_epoch().count(), 0, live.slot, 0, 0, EventKind::epilog_end,
                  static_cast<std::uint8_t>(row.cluster.index())},
                 Phase::end, static_cast<std::uint8_t>(row.cluster.index()));
    note_update(ctx.controller(row.cluster));
  } else {
    give_slot(s, live.slot);
    request_pass(ctx.controller(row.cluster));
  }
  live.slot = kNoIndex;
}

void on_job_end(const Context& ctx, std::uint32_t record) {
  SimState& s = ctx.state;
  const RecordRow& row = s.record_rows[record];
  JobLive& job = s.jobs[row.job.index()];
  JobRow& jr = s.job_rows[row.job.index()];
  jr.state = row.state;
  job.finished = true;
  ++s.jobs_done;
  const StoryKind kind = row.state == RecordState::timeout     ? StoryKind::timeout
                         : row.state == RecordState::cancelled ? StoryKind::cancel
                                                               : StoryKind::complete;
  tell(ctx, kind, row.cluster, row.job);
}

void on_epilog_end(const Context& ctx, std::uint32_t slot) {
  SimState& s = ctx.state;
  const ClusterId c = s.record_rows[s.slots[slot].record].cluster;
  s.clusters[c.index()].pool.end_completing(s.slots[slot].shares);
  give_slot(s, slot);
  request_pass(ctx.controller(c));
}

}  // namespace fedsim
