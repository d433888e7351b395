// Commands of users and administrators on jobs of a federation: semantics 1.9, 9.2; recordings 06,
// 07, 20.
#include <algorithm>

#include "fed/context.hpp"

namespace fedsim {
namespace {

/// From the end of a requeued execution to the origin's new record (recorded 0.1 to 2 s).
constexpr Duration kRequeueKill{300'000'000};

void requeue(const Context& ctx, JobId job, bool hold) {
  SimState& s = ctx.state;
  JobLive& live = s.jobs[job.index()];
  if (live.requeueing || !ctx.spec(job).requeue) return;
  if (live.running_record == kNoIndex && !live.finished) return;  // pending jobs are not requeued
  if (s.job_rows[job.index()].state == RecordState::rejected) return;
  live.requeueing = true;
  live.requeue_held = hold;
  const ClusterId origin = s.job_rows[job.index()].origin;
  Duration delay = ctx.slurm() ? kRequeueKill : Duration{1};
  if (live.running_record != kNoIndex) {
    const std::uint32_t r = live.running_record;
    if (s.record_rows[r].cluster != origin && ctx.slurm())
      delay += ctx.model.latency.sibling_message;
    end_record(ctx, r, RecordState::requeued);
  }
  s.queue.push({(s.now + delay).time_since_epoch().count(), 0, job.index(), 0, 0,
                EventKind::requeue, static_cast<std::uint8_t>(origin.index())},
               Phase::message, static_cast<std::uint8_t>(origin.index()));
}

/// Priority of a job at its origin as submission gave it, by its local id; equal under multifactor.
std::uint32_t kept_priority(const Context& ctx, JobId job) {
  const JobRow& row = ctx.state.job_rows[job.index()];
  const bool equal = ctx.cluster(row.origin).scheduler.priority == PriorityType::multifactor;
  return equal ? 1 : kTopPriority - decode_job_id(row.job_id).local;
}

/// Siblings' pending copies go; the origin's record stays (hold, cancel at the origin).
void revoke_siblings(const Context& ctx, JobId job) {
  JobLive& live = ctx.state.jobs[job.index()];
  const ClusterId origin = ctx.state.job_rows[job.index()].origin;
  const ClusterSet siblings = live.active - ClusterSet::only(origin);
  live.active = live.active & ClusterSet::only(origin);
  siblings.for_each([&](ClusterId c) { send(ctx, EventKind::sibling_revoke, c, job); });
}

void hold(const Context& ctx, JobId job) {
  SimState& s = ctx.state;
  JobLive& live = s.jobs[job.index()];
  const std::uint32_t r = live.origin_record;
  if (r == kNoIndex || s.record_rows[r].state != RecordState::pending) return;
  forget(s, s.record_rows[r].cluster, r);
  s.records[r].priority = 0;
  s.record_rows[r].reason = static_cast<std::uint8_t>(Reason::job_held_user);
  revoke_siblings(ctx, job);
  tell(ctx, StoryKind::hold, s.record_rows[r].cluster, job);
}

void release(const Context& ctx, JobId job) {
  SimState& s = ctx.state;
  JobLive& live = s.jobs[job.index()];
  const std::uint32_t r = live.origin_record;
  if (r == kNoIndex || s.record_rows[r].state != RecordState::pending || s.records[r].priority != 0)
    return;
  s.records[r].priority = kept_priority(ctx, job);  // as if it had never been held
  tell(ctx, StoryKind::release, s.record_rows[r].cluster, job);
  send_copies(ctx, job);
}

void cancel_record(const Context& ctx, std::uint32_t r) {
  SimState& s = ctx.state;
  RecordRow& row = s.record_rows[r];
  if (row.state == RecordState::running) {
    end_record(ctx, r, RecordState::cancelled);
  } else {
    dequeue(s, row.cluster, r);
    row.state = RecordState::cancelled;
    row.end = stamp(ctx, s.now);
    note_update(ctx.controller(row.cluster));
  }
}

void finish_cancelled(const Context& ctx, JobId job) {
  SimState& s = ctx.state;
  JobLive& live = s.jobs[job.index()];
  if (live.finished) return;
  live.finished = true;
  s.job_rows[job.index()].state = RecordState::cancelled;
  ++s.jobs_done;
}

/// A pending copy cancelled where it is: 22.05 tells the origin, whose record goes REVOKED; copies
/// at third clusters stay and may run (recording 07b).
void cancel_copy(const Context& ctx, JobId job, ClusterId at, std::uint32_t r) {
  JobLive& live = ctx.state.jobs[job.index()];
  const ClusterId origin = ctx.state.job_rows[job.index()].origin;
  cancel_record(ctx, r);
  live.active.remove(at);
  if (at != origin) {
    live.active.remove(origin);
    revoke_record(ctx, origin, job);
  }
  if (live.active.empty()) finish_cancelled(ctx, job);
}

}  // namespace

void cancel_job(const Context& ctx, JobId job, ClusterId at) {
  SimState& s = ctx.state;
  JobLive& live = s.jobs[job.index()];
  if (live.finished) return;
  tell(ctx, StoryKind::cancel, at, job);
  if (live.running_record != kNoIndex) {
    cancel_record(ctx, live.running_record);
    finish_cancelled(ctx, job);
    return;
  }
  const ClusterId origin = s.job_rows[job.index()].origin;
  const bool routed = ctx.cluster(at).release >= SlurmRelease{24, 11};
  const std::uint32_t copy = record_on(s, job, at);
  if (at != origin && !routed && copy != kNoIndex &&
      s.record_rows[copy].state == RecordState::pending) {
    cancel_copy(ctx, job, at, copy);
    return;
  }
  revoke_siblings(ctx, job);
  const std::uint32_t r = live.origin_record;
  if (r != kNoIndex && s.record_rows[r].state == RecordState::pending) cancel_record(ctx, r);
  finish_cancelled(ctx, job);
}

void on_requeue(const Context& ctx, JobId job) {
  SimState& s = ctx.state;
  JobLive& live = s.jobs[job.index()];
  const ClusterId origin = s.job_rows[job.index()].origin;
  live.requeueing = false;
  if (live.finished) --s.jobs_done;
  live.finished = false;
  live.lock = JobLive::kFree;
  JobRow& row = s.job_rows[job.index()];
  row.state = RecordState::pending;
  ++row.restarts;
  const std::int64_t delay = ctx.slurm() ? ctx.cluster(origin).requeue_delay_s : 0;
  live.eligible = from_unix_seconds(floor_seconds(s.now) + delay);
  const std::uint32_t r = make_record(ctx, origin, job, live.eligible);
  live.origin_record = r;
  tell(ctx, StoryKind::requeue, origin, job);
  if (live.requeue_held) {
    s.record_rows[r].reason = static_cast<std::uint8_t>(Reason::job_requeued_in_held_state);
    live.active = ClusterSet::only(origin);
    return;
  }
  // priority/basic keeps a requeued job's number; with equal priorities it goes by its new
  // submission time.
  s.records[r].priority = kept_priority(ctx, job);
  send_copies(ctx, job);
}

void apply_operation(const Context& ctx, const Operation& op) {
  const JobId job = ctx.names.labels.at(op.target.index());
  const JobLive& live = ctx.state.jobs[job.index()];
  if (live.newest_record == kNoIndex) return;  // not submitted yet: Slurm says "Invalid job id"
  const auto at_or_first = [&](StringId id) {
    return id.index() == 0 ? ClusterId{0} : ctx.names.clusters.at(id.index());
  };
  const ClusterId at = at_or_first(op.sibling.index() != 0 ? op.sibling : op.cluster);
  switch (op.kind) {
    case OperationKind::scancel:
      cancel_job(ctx, job, at);
      break;
    case OperationKind::requeue:
      requeue(ctx, job, false);
      break;
    case OperationKind::requeuehold:
      requeue(ctx, job, true);
      break;
    case OperationKind::hold:
      hold(ctx, job);
      break;
    case OperationKind::release:
      release(ctx, job);
      break;
  }
}

}  // namespace fedsim
