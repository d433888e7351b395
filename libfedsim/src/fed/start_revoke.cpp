// Start, revocation and end of an execution, fed_mgr.c and job_mgr.c: semantics 1.6 points 4 to
// 8, 8.3, 9.1.
#include <algorithm>

#include "base/rng.hpp"
#include "fed/transport.hpp"
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

/// When the script ends if nobody interferes.
SimTime natural_end(const Context& ctx, JobId job, SimTime start) {
  const JobSpec& spec = ctx.spec(job);
  if (ctx.slurm() && spec.run_in_seconds) {
    // Recorded ends are evenly spread over their second in all releases, though passes, and so
    // starts, of 24.11 and later come right after the whole second.
    const double part = uniform(draw(ctx.options.seed, Stream::launch, job.index(), 0));
    return from_unix_seconds(floor_seconds(start)) + spec.run +
           Duration{static_cast<std::int64_t>(part * 1e9)};
  }
  const bool launches = ctx.slurm() && !spec.run_is_elapsed;
  return start + spec.run + (launches ? ctx.model.latency.launch : Duration{0});
}

Ending ending_of(const Context& ctx, const QueueEntry& e) {
  const RecordRow& row = ctx.state.record_rows[e.record];
  const JobSpec& spec = ctx.spec(row.job);
  const SimTime now = ctx.state.now;
  Ending out{natural_end(ctx, row.job, now), state_of(spec.outcome)};
  const bool again = ctx.state.job_rows[row.job.index()].restarts > 0;
  if (again && out.state == RecordState::failed && exit_requeue(ctx, row.job) != ExitRequeue::no)
    out.state = RecordState::completed;
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
    if (ctx.options.keep_placement)
      s.placements.push_back({NodeId{n.node}, n.cpus, n.gpu_mask, n.cores.key()});
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

/// Start notice to the origin, or revocation of the siblings when this is the origin or the origin
/// is out of reach.
void announce_start(const Context& ctx, std::uint32_t record) {
  if (!is_federated(ctx.state, record)) return;
  const RecordRow& row = ctx.state.record_rows[record];
  RecordLive& live = ctx.state.records[record];
  const ClusterId me = row.cluster;
  const ClusterId origin = ctx.origin(row.job);
  if (me == origin) {
    on_started_elsewhere(ctx, row.job, me);
  } else if (connected(ctx, {me, origin})) {
    send(ctx, EventKind::sibling_started, {me, origin}, row.job);
  } else {
    tell_complete(ctx, me, live.viable - ClusterSet::only(origin) - ClusterSet::only(me), row.job);
  }
  live.active = ClusterSet::only(me);
}

/// When the end of a record that waited for its controller is known to it.
Event late_end(const Context& ctx, Event end) {
  const RecordRow& row = ctx.state.record_rows[end.subject];
  const JobSpec& spec = ctx.spec(row.job);
  const SimTime now = ctx.state.now;
  if (static_cast<RecordState>(end.aux) == RecordState::timeout) {
    // Nobody enforced the limit meanwhile: the script may have ended by itself.
    const SimTime natural = natural_end(ctx, row.job, row.start);
    const SimTime check = next_limit_check(ctx.controller(row.cluster), now + kSecond);
    const bool killed = spec.outcome == Outcome::timeout || natural > check;
    end.at = (killed ? check : natural).time_since_epoch().count();
    if (killed) return end;
    end.aux = static_cast<std::uint32_t>(state_of(spec.outcome));
    if (natural > now) return end;
  }
  // The node tells slurmctld for ten seconds, rests fifteen, and tries again (recordings 09).
  const std::int64_t round = 25'000'000'000;
  const std::int64_t since = (now - SimTime{Duration{end.at}}).count();
  const bool trying = since % round < 10'000'000'000;
  end.at += trying ? since + 1 : (since / round + 1) * round;
  return end;
}

/// A task leaves its array: it gets an id of its own, but the last keeps the array's.
void split_off(const Context& ctx, JobId job) {
  const JobSpec& spec = ctx.spec(job);
  if (spec.array_job == 0) return;
  ArrayLive& array = ctx.state.arrays[ctx.names.arrays.at(spec.array_job)];
  ++array.running;
  JobRow& row = ctx.state.job_rows[job.index()];
  if (row.restarts > 0 || row.job_id != array.base_id) return;  // has left before
  if (array.left-- == 1) return;
  const std::uint32_t origin = decode_job_id(row.job_id).cluster;
  row.job_id = encode_job_id({origin, take_local_id(ctx, row.origin)});
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
  if (job.finished) {  // a copy that outlived its job's cancellation (recording 07b)
    job.finished = false;
    --s.jobs_done;
  }
  ClusterState& own = s.clusters[row.cluster.index()];
  dequeue(s, row.cluster, e.record);
  split_off(ctx, row.job);
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
  announce_start(ctx, e.record);
}

void on_started_elsewhere(const Context& ctx, JobId job, ClusterId by) {
  SimState& s = ctx.state;
  const ClusterId origin = ctx.origin(job);
  const std::uint32_t r = known_record(ctx, job, origin);
  if (r == kNoIndex || !is_federated(s, r)) return;
  if (by != origin && s.record_rows[r].state == RecordState::running) {
    // Both started it: the origin's copy stays.
    send_if_connected(ctx, EventKind::sibling_complete, {origin, by}, job);
    return;
  }
  RecordLive& live = s.records[r];
  live.lock = tie_of(by);
  const ClusterSet others = live.active - ClusterSet::only(by) - ClusterSet::only(origin);
  live.active = ClusterSet::only(by);
  tell_complete(ctx, origin, others, job);
  if (by != origin) revoke_record(ctx, r, false);
}

void tell_complete(const Context& ctx, ClusterId from, ClusterSet to, JobId job) {
  to.for_each([&](ClusterId c) {
    send_if_connected(ctx, EventKind::sibling_complete, {from, c}, job);
  });
}

void revoke_siblings(const Context& ctx, std::uint32_t record) {
  const RecordRow& row = ctx.state.record_rows[record];
  if (!is_federated(ctx.state, record)) return;
  const ClusterSet siblings = ctx.state.records[record].active - ClusterSet::only(row.cluster);
  tell_complete(ctx, row.cluster, siblings, row.job);
}

void on_complete_elsewhere(const Context& ctx, JobId job, ClusterId cluster) {
  SimState& s = ctx.state;
  const std::uint32_t r = known_record(ctx, job, cluster);
  if (r == kNoIndex || !is_federated(s, r)) return;
  if (s.record_rows[r].state == RecordState::running) {
    // It started between the decision and this message: the copy is killed.
    end_record(ctx, r, RecordState::cancelled);
    report_end(ctx, r);
  } else if (cluster == ctx.origin(job) && s.jobs[job.index()].requeueing) {
    on_requeue(ctx, job);
    return;
  } else if (!is_over(s, r)) {
    revoke_record(ctx, r, true);
  }
  settle(ctx, job);
}

void revoke_record(const Context& ctx, std::uint32_t r, bool complete) {
  SimState& s = ctx.state;
  RecordRow& row = s.record_rows[r];
  RecordLive& live = s.records[r];
  const bool at_origin = ctx.origin(row.job) == row.cluster;
  live.tracking = at_origin && !complete;
  if (!at_origin) live.linked = false;
  const std::uint32_t runner = s.jobs[row.job.index()].running_record;
  const SimTime when = runner != kNoIndex ? s.record_rows[runner].start : stamp(ctx, s.now);
  if (row.state == RecordState::revoked && row.end == kNoTime) row.end = std::max(when, row.submit);
  if (row.state != RecordState::pending) return;  // REVOKED already
  dequeue(s, row.cluster, r);
  row.state = RecordState::revoked;
  row.end = std::max(when, row.submit);
  // What accounting shows as Start of a revoked copy differs by release (recordings, RELEASES).
  const SlurmRelease release = ctx.cluster(row.cluster).release;
  const bool early = row.end - row.submit <= 2 * kSecond;
  const bool shown = release < SlurmRelease{24, 11} ? early : release < SlurmRelease{26, 5};
  if (!at_origin && shown) row.start = row.end;
  tell(ctx, StoryKind::revoke, row.cluster, row.job);
  note_update(ctx.controller(row.cluster));
}

void report_end(const Context& ctx, std::uint32_t record) {
  if (!is_federated(ctx.state, record)) return;
  const RecordRow& row = ctx.state.record_rows[record];
  const ClusterId origin = ctx.origin(row.job);
  if (row.cluster == origin) {
    revoke_siblings(ctx, record);
  } else {
    send_if_connected(ctx, EventKind::sibling_complete, {row.cluster, origin}, row.job);
  }
}

void settle(const Context& ctx, JobId job) {
  SimState& s = ctx.state;
  JobLive& live = s.jobs[job.index()];
  if (live.finished || live.running_record != kNoIndex || live.requeueing) return;
  for (std::uint32_t r = live.newest_record; r != kNoIndex; r = s.records[r].previous) {
    if (s.record_rows[r].state == RecordState::pending && s.records[r].linked) return;
    if (s.records[r].tracking) return;  // the origin still waits for news
  }
  live.finished = true;
  ++s.jobs_done;
  JobRow& row = s.job_rows[job.index()];
  // Running still: a copy that started late was killed.
  if (row.state == RecordState::pending || row.state == RecordState::running)
    row.state = RecordState::cancelled;
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
  if (const std::uint32_t id = ctx.spec(row.job).array_job; id != 0)
    --s.arrays[ctx.names.arrays.at(id)].running;
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

bool on_job_end(const Context& ctx, const Event& event) {
  SimState& s = ctx.state;
  const std::uint32_t record = event.subject;
  const RecordRow& row = s.record_rows[record];
  const auto state = static_cast<RecordState>(event.aux);
  if (!s.clusters[row.cluster.index()].fed.up) {
    s.parked.push_back(event);
    return false;
  }
  if (requeues_on_exit(ctx, record, state)) return true;
  end_record(ctx, record, state);
  JobRow& jr = s.job_rows[row.job.index()];
  JobLive& job = s.jobs[row.job.index()];
  jr.state = state;
  if (!job.requeueing) {
    job.finished = true;
    ++s.jobs_done;
  }
  const StoryKind kind = state == RecordState::timeout     ? StoryKind::timeout
                         : state == RecordState::cancelled ? StoryKind::cancel
                                                           : StoryKind::complete;
  tell(ctx, kind, row.cluster, row.job);
  report_end(ctx, record);
  return true;
}

void resume_parked(const Context& ctx, ClusterId cluster) {
  std::vector<Event> due;
  std::erase_if(ctx.state.parked, [&](const Event& e) {
    const bool mine = !is_message(e.kind) && e.cluster == tie_of(cluster);
    if (mine) due.push_back(e);
    return mine;
  });
  for (Event e : due) {
    if (e.kind == EventKind::job_end) {
      ctx.state.queue.push(late_end(ctx, e), Phase::end, e.cluster);
    } else {
      e.at = ctx.state.now.time_since_epoch().count() + 1;
      ctx.state.queue.push(e, Phase::control, e.cluster);
    }
  }
}

void on_epilog_end(const Context& ctx, std::uint32_t slot) {
  SimState& s = ctx.state;
  const ClusterId c = s.record_rows[s.slots[slot].record].cluster;
  s.clusters[c.index()].pool.end_completing(s.slots[slot].shares);
  give_slot(s, slot);
  request_pass(ctx.controller(c));
}

}  // namespace fedsim
