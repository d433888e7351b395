// Requeue at the origin and back at all viable siblings, job_requeue and fed_mgr_job_requeue:
// semantics 1.9, 9.2; recordings 06.
#include <algorithm>

#include "fed/dependency.hpp"
#include "fed/transport.hpp"

namespace fedsim {
namespace {

/// From the kill of a requeued execution to its end as reported (recorded 0.1 to 2 s).
constexpr Duration kRequeueKill{300'000'000};

void make_next_execution(const Context& ctx, JobId job, ClusterId at) {
  const Duration delay = ctx.slurm() ? kRequeueKill : Duration{1};
  ctx.state.queue.push({(ctx.state.now + delay).time_since_epoch().count(), 0, job.index(), 0, 0,
                        EventKind::requeue, tie_of(at)},
                       Phase::message, tie_of(at));
}

}  // namespace

void requeue_job(const Context& ctx, JobId job, ClusterId at, bool hold) {
  SimState& s = ctx.state;
  JobLive& live = s.jobs[job.index()];
  const ClusterId origin = ctx.origin(job);
  if (at != origin && live.federated && !connected(ctx, {at, origin})) return;
  const std::uint32_t r = known_record(ctx, job, origin);
  if (r == kNoIndex || live.requeueing || !ctx.spec(job).requeue) return;
  const RecordRow& row = s.record_rows[r];
  if (row.state == RecordState::pending || row.state == RecordState::rejected) return;
  const bool elsewhere = s.records[r].tracking;
  if (elsewhere && s.records[r].lock == kNobody) return;  // queued, not running
  live.requeueing = true;
  live.requeue_held = hold;
  if (elsewhere) {
    const ClusterId runner{s.records[r].lock};
    send(ctx, EventKind::sibling_cancel, {origin, runner}, job, kCancelForRequeue);
    return;
  }
  if (row.state == RecordState::running) end_record(ctx, r, RecordState::requeued);
  make_next_execution(ctx, job, origin);
}

void finish_requeue(const Context& ctx, JobId job, ClusterId at) {
  const ClusterId origin = ctx.origin(job);
  if (at == origin) return on_requeue(ctx, job);
  send_if_connected(ctx, EventKind::sibling_complete, {at, origin}, job);
}

/// The runner's part: the execution ends as REQUEUED, the origin hears of it after the kill.
void cancel_for_requeue(const Context& ctx, std::uint32_t record) {
  const ClusterId at = ctx.state.record_rows[record].cluster;
  const JobId job = ctx.state.record_rows[record].job;
  end_record(ctx, record, RecordState::requeued);
  make_next_execution(ctx, job, at);
}

ExitRequeue exit_requeue(const Context& ctx, JobId job) {
  const ClusterModel& origin = ctx.cluster(ctx.origin(job));
  const std::uint8_t code = ctx.spec(job).exit_code;
  const auto listed = [&](const std::vector<std::uint8_t>& codes) {
    return std::binary_search(codes.begin(), codes.end(), code);
  };
  if (listed(origin.requeue_exit_hold)) return ExitRequeue::hold;
  return listed(origin.requeue_exit) ? ExitRequeue::queue : ExitRequeue::no;
}

bool requeues_on_exit(const Context& ctx, std::uint32_t record, RecordState end) {
  const JobId job = ctx.state.record_rows[record].job;
  JobLive& live = ctx.state.jobs[job.index()];
  const bool first = ctx.state.job_rows[job.index()].restarts == 0;
  if (end != RecordState::failed || live.requeueing || !first) return false;
  const ExitRequeue how = exit_requeue(ctx, job);
  if (how == ExitRequeue::no) return false;
  live.requeueing = true;
  live.requeue_held = how == ExitRequeue::hold;
  cancel_for_requeue(ctx, record);
  return true;
}

std::uint32_t kept_priority(const Context& ctx, JobId job) {
  const JobRow& row = ctx.state.job_rows[job.index()];
  const bool equal = ctx.cluster(row.origin).scheduler.priority == PriorityType::multifactor;
  return equal ? 1 : kTopPriority - decode_job_id(row.job_id).local;
}

void on_requeue(const Context& ctx, JobId job) {
  SimState& s = ctx.state;
  JobLive& live = s.jobs[job.index()];
  const ClusterId origin = ctx.origin(job);
  if (!live.requeueing) return;
  live.requeueing = false;
  if (live.finished) --s.jobs_done;
  live.finished = false;
  JobRow& row = s.job_rows[job.index()];
  row.state = RecordState::pending;
  ++row.restarts;
  const std::uint32_t old = live.origin_record;
  if (s.record_rows[old].state == RecordState::revoked) s.records[old].tracking = false;
  const std::int64_t delay = ctx.slurm() ? ctx.cluster(origin).requeue_delay_s : 0;
  live.eligible = from_unix_seconds(floor_seconds(s.now) + delay);
  const std::uint32_t r = make_record(ctx, origin, job, live.eligible);
  live.origin_record = r;
  s.records[r].detached = s.records[old].detached;
  Reason none = Reason::none;
  s.records[r].viable = viable_siblings(ctx, job, none);
  tell(ctx, StoryKind::requeue, origin, job);
  if (live.requeue_held) {
    s.record_rows[r].reason = static_cast<std::uint8_t>(Reason::job_requeued_in_held_state);
    s.records[r].active = s.records[r].viable & ClusterSet::only(origin);
    return;
  }
  // priority/basic keeps a requeued job's number; with equal priorities it goes by its new
  // submission time.
  s.records[r].priority = kept_priority(ctx, job);
  if (is_dependent(s, job)) {  // cancelled before its conditions were met: it still waits for them
    s.record_rows[r].reason = static_cast<std::uint8_t>(Reason::dependency);
    s.records[r].active = s.records[r].viable & ClusterSet::only(origin);
    return;
  }
  send_copies(ctx, job);
}

}  // namespace fedsim
