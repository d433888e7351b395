// Commands of users on jobs of a federation: semantics 1.9; recordings 05b, 07, 20. A command typed
// on a sibling is carried out by the origin, except that a sibling cancels its own pending copy
// (up to 23.11).
#include <algorithm>

#include "fed/dependency.hpp"
#include "fed/transport.hpp"

namespace fedsim {
namespace {

/// Held and released records keep their place at the siblings that have them.
void forward_update(const Context& ctx, std::uint32_t r) {
  const RecordRow& row = ctx.state.record_rows[r];
  if (!is_federated(ctx.state, r)) return;
  (ctx.state.records[r].active - ClusterSet::only(row.cluster)).for_each([&](ClusterId c) {
    send(ctx, EventKind::sibling_update, {row.cluster, c}, row.job);
    expect_update(ctx, row.job, c);
  });
}

void set_held(const Context& ctx, std::uint32_t r) {
  RecordRow& row = ctx.state.record_rows[r];
  forget(ctx.state, row.cluster, r);
  ctx.state.records[r].priority = 0;
  row.reason = static_cast<std::uint8_t>(Reason::job_held_admin);
  note_update(ctx.controller(row.cluster));
}

void hold(const Context& ctx, std::uint32_t r) {
  SimState& s = ctx.state;
  const RecordRow& row = s.record_rows[r];
  RecordLive& live = s.records[r];
  const bool waits = row.state == RecordState::pending;
  if (!waits && !(live.tracking && live.lock == kNobody)) return;
  tell(ctx, StoryKind::hold, row.cluster, row.job);
  if (!waits) {  // the copies elsewhere are held where they are (recording 05b)
    live.priority = 0;
    return forward_update(ctx, r);
  }
  set_held(ctx, r);
  revoke_siblings(ctx, r);
  live.active = live.active & ClusterSet::only(row.cluster);
}

void release(const Context& ctx, std::uint32_t r) {
  SimState& s = ctx.state;
  const RecordRow& row = s.record_rows[r];
  RecordLive& live = s.records[r];
  if (live.priority != 0 || is_over(s, r) || row.state == RecordState::running) return;
  live.priority = kept_priority(ctx, row.job);  // as if it had never been held
  tell(ctx, StoryKind::release, row.cluster, row.job);
  Reason none = Reason::none;
  live.viable = viable_siblings(ctx, row.job, none);
  if (!is_dependent(s, row.job)) send_copies(ctx, row.job);
}

/// The origin's part of an update of Clusters or ClusterFeatures: siblings that are no longer
/// viable are revoked, new ones get copies.
void change_siblings(const Context& ctx, std::uint32_t r) {
  SimState& s = ctx.state;
  RecordLive& live = s.records[r];
  const RecordRow row = s.record_rows[r];
  const ClusterSet own = ClusterSet::only(row.cluster);
  Reason none = Reason::none;
  const ClusterSet now = viable_siblings(ctx, row.job, none);
  const ClusterSet gone = live.active - now;
  const ClusterSet added = now - live.active;
  live.viable = now;
  if (is_dependent(s, row.job)) {  // copies go out when its conditions are met
    live.active = now & own;
    return;
  }
  live.active = live.active - gone;
  tell_complete(ctx, row.cluster, gone - own, row.job);
  if (gone.has(row.cluster)) revoke_record(ctx, r, false);
  if (live.priority == 0) return;
  if (added.has(row.cluster)) {
    live.active.add(row.cluster);
    live.tracking = false;
    queue_again(ctx, r);
  }
  submit_siblings(ctx, row.job, added - own);
}

void update(const Context& ctx, std::uint32_t r, const Operation& op) {
  SimState& s = ctx.state;
  const RecordRow& row = s.record_rows[r];
  JobLive& live = s.jobs[row.job.index()];
  // "Job is no longer pending execution": locked or running (ESLURM_JOB_NOT_PENDING).
  const bool pending = row.state == RecordState::pending || s.records[r].tracking;
  if (!pending || s.records[r].lock != kNobody || !is_federated(s, r)) return;
  if (op.kind == OperationKind::update_clusters) {
    if (ctx.names.unknown_lists.contains(op.value.index())) return;
    live.clusters = op.value;
  } else {
    if (op.value.index() != 0 && !ctx.names.constraints.at(op.value.index()).valid) return;
    live.cluster_constraint = op.value;
  }
  tell(ctx, StoryKind::update, row.cluster, row.job);
  change_siblings(ctx, r);
  forward_update(ctx, r);
}

/// scancel --sibling=NAME: that copy alone goes.
void remove_sibling(const Context& ctx, std::uint32_t r, ClusterId sibling) {
  SimState& s = ctx.state;
  const RecordRow& row = s.record_rows[r];
  RecordLive& live = s.records[r];
  if (live.lock != kNobody || !live.active.has(sibling)) return;
  live.active.remove(sibling);
  if (sibling == row.cluster) {
    revoke_record(ctx, r, false);
  } else {
    send_if_connected(ctx, EventKind::sibling_complete, {row.cluster, sibling}, row.job);
  }
  tell(ctx, StoryKind::cancel, sibling, row.job);
}

/// The origin and its siblings cancel a job that none of them runs, or that one of them runs.
void cancel_at_origin(const Context& ctx, std::uint32_t r) {
  SimState& s = ctx.state;
  const RecordRow& row = s.record_rows[r];
  if (!is_federated(s, r) || !s.records[r].tracking) {
    revoke_siblings(ctx, r);
    return cancel_pending(ctx, r);
  }
  // The origin's record follows when they report.
  (s.records[r].active - ClusterSet::only(row.cluster)).for_each([&](ClusterId c) {
    send(ctx, EventKind::sibling_cancel, {row.cluster, c}, row.job, kCancel);
  });
}

/// A sibling cancels its pending copy: the origin is told; without it every viable sibling that can
/// be reached.
void cancel_copy(const Context& ctx, std::uint32_t r) {
  const RecordRow row = ctx.state.record_rows[r];
  const ClusterId origin = ctx.origin(row.job);
  const ClusterSet others =
      ctx.state.records[r].viable - ClusterSet::only(row.cluster) - ClusterSet::only(origin);
  cancel_pending(ctx, r);
  if (connected(ctx, {row.cluster, origin})) return report_end(ctx, r);
  others.for_each([&](ClusterId c) {
    if (connected(ctx, {row.cluster, c}))
      send(ctx, EventKind::sibling_cancel, {row.cluster, c}, row.job, kCancelAlone);
  });
}

void kill_running(const Context& ctx, std::uint32_t r) {
  JobRow& job = ctx.state.job_rows[ctx.state.record_rows[r].job.index()];
  job.state = RecordState::cancelled;
  end_record(ctx, r, RecordState::cancelled);
  report_end(ctx, r);
}

/// Cluster whose controller carries out a scancel typed at `at`: the origin when it is routed
/// (24.11; with -M 26.05) or when `at` does not know the job.
ClusterId canceller(const Context& ctx, JobId job, ClusterId at, bool remote) {
  const ClusterId origin = ctx.origin(job);
  if (at == origin || !connected(ctx, {at, origin})) return at;
  const SlurmRelease release = ctx.cluster(at).release;
  const bool routed = release >= (remote ? SlurmRelease{26, 5} : SlurmRelease{24, 11});
  return routed || known_record(ctx, job, at) == kNoIndex ? origin : at;
}

}  // namespace

void cancel_pending(const Context& ctx, std::uint32_t r) {
  SimState& s = ctx.state;
  RecordRow& row = s.record_rows[r];
  dequeue(s, row.cluster, r);
  row.state = RecordState::cancelled;
  row.end = stamp(ctx, s.now);
  s.records[r].tracking = false;
  note_update(ctx.controller(row.cluster));
}

void cancel_job(const Context& ctx, JobId job, ClusterId at, bool remote) {
  SimState& s = ctx.state;
  const ClusterId by = canceller(ctx, job, at, remote);
  const std::uint32_t r = known_record(ctx, job, by);
  if (r == kNoIndex || is_over(s, r)) return;
  tell(ctx, StoryKind::cancel, by, job);
  if (s.record_rows[r].state == RecordState::running) {
    kill_running(ctx, r);
  } else if (by == ctx.origin(job) || !is_federated(s, r)) {
    cancel_at_origin(ctx, r);
  } else {
    cancel_copy(ctx, r);
  }
  settle(ctx, job);
}

void withdraw_job(const Context& ctx, const Event& event, ClusterId at) {
  if (ctx.state.clusters[at.index()].fed.up)
    return cancel_job(ctx, JobId{event.subject}, at, false);
  ctx.state.parked.push_back(event);
}

void on_sibling_cancel(const Context& ctx, JobId job, ClusterId cluster, std::uint32_t how) {
  SimState& s = ctx.state;
  const std::uint32_t r = known_record(ctx, job, cluster);
  if (r == kNoIndex || is_over(s, r)) return;
  if (s.record_rows[r].state == RecordState::running) {
    if (how == kCancelForRequeue) return cancel_for_requeue(ctx, r);
    kill_running(ctx, r);
  } else if (how == kCancelAlone) {
    cancel_pending(ctx, r);
  } else if (s.record_rows[r].state == RecordState::pending) {
    cancel_pending(ctx, r);
    report_end(ctx, r);
  }
  settle(ctx, job);
}

void on_sibling_update(const Context& ctx, JobId job, ClusterId cluster) {
  SimState& s = ctx.state;
  const std::uint32_t r = known_record(ctx, job, cluster);
  const std::uint32_t from = s.jobs[job.index()].origin_record;
  send(ctx, EventKind::update_done, {cluster, ctx.origin(job)}, job);
  if (r == kNoIndex || s.record_rows[r].state != RecordState::pending || from == kNoIndex) return;
  s.records[r].viable = s.records[from].viable;
  if (s.records[from].priority == 0 && s.records[r].priority != 0) set_held(ctx, r);
}

namespace {

/// A command on one job; `at` takes it.
void apply_to_job(const Context& ctx, const Operation& op, ClusterId at, JobId job) {
  SimState& s = ctx.state;
  if (s.jobs[job.index()].newest_record == kNoIndex) return;  // "Invalid job id specified"
  if (!s.clusters[at.index()].fed.up) return;  // "Unable to contact slurm controller"
  const ClusterId origin = ctx.origin(job);
  if (op.kind == OperationKind::scancel && op.sibling.index() == 0)
    return cancel_job(ctx, job, at, op.remote);
  if (op.kind == OperationKind::requeue || op.kind == OperationKind::requeuehold)
    return requeue_job(ctx, job, at, op.kind == OperationKind::requeuehold);
  // Everything else is the origin's to do.
  const bool reached = at == origin || !ctx.model.federated || connected(ctx, {at, origin});
  const std::uint32_t r = known_record(ctx, job, origin);
  if (!reached || r == kNoIndex) return;
  switch (op.kind) {
    case OperationKind::scancel:
      remove_sibling(ctx, r, ctx.names.clusters.at(op.sibling.index()));
      return settle(ctx, job);
    case OperationKind::hold:
      return hold(ctx, r);
    case OperationKind::release:
      return release(ctx, r);
    default:
      return update(ctx, r, op);
  }
}

FedState fed_state_of(std::string_view word) {
  if (word == "INACTIVE") return FedState::inactive;
  if (word == "DRAIN") return FedState::drain;
  return word == "DRAIN+REMOVE" ? FedState::drain_remove : FedState::active;
}

}  // namespace

void apply_operation(const Context& ctx, const Operation& op) {
  const auto at_or_first = [&](StringId id) {
    return id.index() == 0 ? ClusterId{0} : ctx.names.clusters.at(id.index());
  };
  const ClusterId at = at_or_first(op.cluster);
  switch (op.kind) {
    case OperationKind::fed_state:
      return set_fed_state(ctx, at, fed_state_of(ctx.trace.strings.view(op.value)));
    case OperationKind::fed_join:
      return join_federation(ctx, at);
    case OperationKind::fed_leave:
      return leave_federation(ctx, at);
    case OperationKind::controller_down:
      return stop_controller(ctx, at);
    case OperationKind::controller_up:
      return start_controller(ctx, at);
    case OperationKind::link_down:
      return cut_link(ctx, {at, at_or_first(op.sibling)});
    case OperationKind::link_up:
      return mend_link(ctx, {at, at_or_first(op.sibling)});
    case OperationKind::database_down:
    case OperationKind::database_up:
      ctx.state.database_up = op.kind == OperationKind::database_up;
      return;
    default:
      break;
  }
  const LabelledJobs jobs = ctx.names.labels.at(op.target.index());
  for (std::uint32_t k = 0; k < jobs.count; ++k)
    apply_to_job(ctx, op, at, JobId{jobs.first.index() + k});
}

}  // namespace fedsim
