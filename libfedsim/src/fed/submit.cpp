// Submission at the origin and copies at the siblings, fed_mgr.c: semantics 1.3 and 1.4.
#include <algorithm>

#include "fed/dependency.hpp"
#include "fed/transport.hpp"
#include "sched/admission.hpp"
#include "sched/pass.hpp"
#include "sched/select.hpp"

namespace fedsim {
namespace {

std::uint32_t first_priority(const Context& ctx, ClusterId c) {
  ClusterState& own = ctx.state.clusters[c.index()];
  if (ctx.cluster(c).scheduler.priority == PriorityType::multifactor) return 1;
  if (own.next_priority == 0) own.next_priority = kTopPriority;
  return own.next_priority = std::max(own.next_priority - 1, 1U);
}

ClusterId origin_of(const Context& ctx, const JobSpec& spec) {
  const ClusterId typed =
      spec.origin.index() == 0 ? ClusterId{0} : ctx.names.clusters.at(spec.origin.index());
  if (spec.clusters.index() == 0) return typed;
  const ClusterSet list = ctx.names.cluster_lists.at(spec.clusters.index());
  if (list.empty() || list.has(typed)) return typed;
  ClusterId first;
  list.for_each([&](ClusterId c) {
    if (!first.valid()) first = c;
  });
  return first;
}

/// The components of a heterogeneous job are taken or refused together.
Reason admit_components(const Context& ctx, ClusterId origin, JobId job) {
  const ComponentRange parts = components_of(ctx.trace, job);
  for (std::size_t j = parts.first; j < parts.last; ++j) {
    const Reason refusal = refusal_of(ctx, origin, ctx.spec(JobId{j}));
    if (refusal != Reason::none) return refusal;
  }
  return Reason::none;
}

void refuse(const Context& ctx, ClusterId origin, JobId job, Reason reason) {
  const std::uint32_t r = make_record(ctx, origin, job, kNoTime);
  RecordRow& row = ctx.state.record_rows[r];
  row.state = RecordState::rejected;
  row.reason = static_cast<std::uint8_t>(reason);
  row.end = row.submit;
  JobRow& j = ctx.state.job_rows[job.index()];
  j.state = RecordState::rejected;
  j.reason = row.reason;
  ctx.state.jobs[job.index()].finished = true;
  ++ctx.state.jobs_done;
  tell(ctx, StoryKind::reject, origin, job);
}

}  // namespace

SimTime stamp(const Context& ctx, SimTime t) {
  return ctx.slurm() ? from_unix_seconds(floor_seconds(t)) : t;
}

void tell(const Context& ctx, StoryKind kind, ClusterId where, JobId job, ClusterId other) {
  if (!ctx.options.keep_events && ctx.observer == nullptr) return;
  const StoryEvent event{ctx.state.now, kind, where, job, other};
  if (ctx.options.keep_events) ctx.state.story.push_back(event);
  if (ctx.observer != nullptr) ctx.observer->on_event(event);
}

std::uint32_t known_record(const Context& ctx, JobId job, ClusterId cluster) {
  const SimState& s = ctx.state;
  const std::uint32_t r = record_on(s, job, cluster);
  if (r == kNoIndex || !s.records[r].linked) return kNoIndex;
  const RecordRow& row = s.record_rows[r];
  const std::int64_t age = ctx.cluster(cluster).min_job_age_s;
  if (!is_over(s, r) || age == 0 || row.end + kSecond * age > s.now) return r;
  // Kept until an origin that is out of reach has seen it (semantics 1.7).
  const ClusterId origin = ctx.origin(job);
  const bool kept = is_federated(s, r) && cluster != origin && !connected(ctx, {cluster, origin});
  return kept ? r : kNoIndex;
}

bool is_over(const SimState& state, std::uint32_t record) {
  switch (state.record_rows[record].state) {
    case RecordState::pending:
    case RecordState::running:
      return false;
    case RecordState::revoked:
      return !state.records[record].tracking;
    default:
      return true;
  }
}

bool is_federated(const SimState& state, std::uint32_t record) {
  return state.jobs[state.record_rows[record].job.index()].federated &&
         !state.records[record].detached;
}

ClusterSet viable_siblings(const Context& ctx, JobId job, Reason& refusal) {
  const JobLive& live = ctx.state.jobs[job.index()];
  const ClusterId origin = ctx.origin(job);
  if (!live.federated) return ClusterSet::only(origin);
  ClusterSet set;
  ClusterSet closed;
  for (std::size_t c = 0; c < ctx.model.clusters.size(); ++c) {
    const Member& m = ctx.state.clusters[c].fed;
    if (m.joined) set.add(ClusterId{c});
    if (m.state != FedState::active) closed.add(ClusterId{c});
  }
  if (live.clusters.index() != 0) set = set & ctx.names.cluster_lists.at(live.clusters.index());
  if (live.cluster_constraint.index() != 0) {
    const auto& constraint = ctx.names.constraints.at(live.cluster_constraint.index());
    if (!constraint.valid) refusal = Reason::invalid_cluster_feature;
    set = set & constraint.clusters;
  }
  set = set - closed;
  // "federated job arrays must run on local cluster"
  if (ctx.spec(job).array_task >= 0) set = set & ClusterSet::only(origin);
  if (set.empty() && refusal == Reason::none) refusal = Reason::no_valid_clusters;
  return set;
}

std::uint32_t make_record(const Context& ctx, ClusterId cluster, JobId job, SimTime eligible) {
  SimState& s = ctx.state;
  const auto r = static_cast<std::uint32_t>(s.record_rows.size());
  RecordRow row;
  row.job = job;
  row.cluster = cluster;
  row.submit = stamp(ctx, s.now);
  row.eligible = eligible == kNoTime ? row.submit : std::max(row.submit, eligible);
  s.record_rows.push_back(row);
  RecordLive live;
  live.previous = s.jobs[job.index()].newest_record;
  live.submit_s = floor_seconds(s.now);
  s.records.push_back(live);
  s.jobs[job.index()].newest_record = r;
  ++s.job_rows[job.index()].records_n;
  return r;
}

void queue_record(const Context& ctx, std::uint32_t record, bool looks_at_once) {
  const RecordRow& row = ctx.state.record_rows[record];
  const ClusterId c = row.cluster;
  const JobSpec& spec = ctx.spec(row.job);
  ClusterState& own = ctx.state.clusters[c.index()];
  const auto& list = ctx.names.partitions[c.index()].at(spec.partition.index());
  // A partition that could never hold the job takes no part in the search for one that can.
  const bool some_fit = std::any_of(list.begin(), list.end(), [&](PartitionId p) {
    return demand_of(ctx, c, p, spec.request).fits_empty;
  });
  bool first = true;
  for (const PartitionId p : list) {
    const DemandTable::Verdict v = demand_of(ctx, c, p, spec.request);
    if (ctx.demands.demands[v.demand].refusal != Reason::none) continue;
    if (some_fit && !v.fits_empty) continue;
    if (first) ctx.state.record_rows[record].partition = p;
    first = false;
    enqueue(ctx.state, ctx.cluster(c), c, {record, p.index(), v.demand});
  }
  ctx.state.record_rows[record].reason =
      static_cast<std::uint8_t>(own.queued_n > 1 ? Reason::priority : Reason::none);
  if (row.eligible > ctx.state.now) {
    own.next_eligible_s = std::min(own.next_eligible_s, floor_seconds(row.eligible));
    if (!ctx.slurm()) {
      ctx.state.queue.push({row.eligible.time_since_epoch().count(), 0, row.job.index(), 0, 0,
                            EventKind::ideal_pass, static_cast<std::uint8_t>(c.index())},
                           Phase::control, static_cast<std::uint8_t>(c.index()));
    }
  }
  looks_at_once ? request_pass(ctx.controller(c)) : note_news(ctx.controller(c));
}

namespace {

/// Why the controller takes no submission at all; an id is not even drawn then.
Reason closed_to_submissions(const Context& ctx, ClusterId origin) {
  const Member& m = ctx.state.clusters[origin.index()].fed;
  if (!m.up) return Reason::controller_unreachable;
  return m.joined && m.state != FedState::active ? Reason::system_submissions_disabled
                                                 : Reason::none;
}

/// Draws the next local id; the federated id has the origin's number in its upper bits.
std::uint32_t draw_id(const Context& ctx, ClusterId origin, bool federated) {
  return encode_job_id({federated ? origin.index() + 1 : 0U, take_local_id(ctx, origin)});
}

/// The tasks of an array share the array's id until they start.
std::uint32_t job_id_for(const Context& ctx, const JobSpec& spec, ClusterId origin, bool member) {
  if (spec.array_job == 0) return draw_id(ctx, origin, member);
  ArrayLive& array = ctx.state.arrays[ctx.names.arrays.at(spec.array_job)];
  if (array.base_id == 0) array.base_id = draw_id(ctx, origin, member);
  return array.base_id;
}

/// sbatch asks for a will-run answer when -M names several clusters: that takes an id.
bool asks_first(const Context& ctx, const JobSpec& spec) {
  return spec.clusters.index() != 0 &&
         ctx.names.cluster_lists.at(spec.clusters.index()).count() > 1;
}

void schedule_withdrawal(const Context& ctx, JobId job, SimTime at) {
  const ClusterId origin = ctx.origin(job);
  ctx.state.queue.push({std::max(at, ctx.state.now + Duration{1}).time_since_epoch().count(), 0,
                        job.index(), 0, 0, EventKind::cancel, tie_of(origin)},
                       Phase::control, tie_of(origin));
}

}  // namespace

std::optional<PlaceOnCluster> place_of(const Context& ctx, ClusterId cluster, const JobSpec& spec) {
  if (closed_to_submissions(ctx, cluster) != Reason::none) return std::nullopt;
  if (refusal_of(ctx, cluster, spec) != Reason::none) return std::nullopt;
  for (const PartitionId p : ctx.names.partitions[cluster.index()].at(spec.partition.index())) {
    const DemandTable::Verdict v = demand_of(ctx, cluster, p, spec.request);
    if (v.fits_empty) return PlaceOnCluster{p, v.demand};
  }
  return std::nullopt;
}

std::uint32_t take_local_id(const Context& ctx, ClusterId cluster) {
  ClusterState& own = ctx.state.clusters[cluster.index()];
  const ClusterModel& model = ctx.cluster(cluster);
  const auto in_use = [&](std::uint32_t local) {
    for (std::size_t j = 0; j < ctx.state.job_rows.size(); ++j) {
      const JobRow& row = ctx.state.job_rows[j];
      if (row.origin == cluster && row.job_id != 0 && decode_job_id(row.job_id).local == local &&
          known_record(ctx, JobId{j}, cluster) != kNoIndex)
        return true;
    }
    return false;
  };
  const std::uint32_t ids = model.max_job_id - model.first_job_id + 1;
  for (std::uint32_t tries = 0; tries < ids; ++tries) {
    if (own.next_local_id > model.max_job_id) own.ids_went_round = true;
    if (own.next_local_id < model.first_job_id || own.next_local_id > model.max_job_id)
      own.next_local_id = model.first_job_id;
    const std::uint32_t local = own.next_local_id++;
    if (!own.ids_went_round || !in_use(local)) return local;
  }
  throw InputError(Diagnostic{Severity::error, "C114", "", 0,
                              "all job ids of " + model.name + " are in use (" +
                                  std::to_string(ids) + " from FirstJobId to MaxJobId)",
                              "raise MaxJobId or lower MinJobAge"});
}

void submit_job(const Context& ctx, JobId job, ClusterId asked) {
  const JobSpec& spec = ctx.spec(job);
  const ClusterId origin = asked.valid() ? asked : origin_of(ctx, spec);
  JobRow& row = ctx.state.job_rows[job.index()];
  JobLive& live = ctx.state.jobs[job.index()];
  row.origin = origin;
  const bool member = ctx.model.federated && ctx.state.clusters[origin.index()].fed.joined;
  live.federated = member && spec.het_job == 0;  // het jobs stay here, whole
  live.clusters = spec.clusters;
  live.cluster_constraint = spec.cluster_constraint;
  live.eligible = spec.begin;
  Reason refusal = closed_to_submissions(ctx, origin);
  if (ctx.names.unknown_lists.contains(spec.clusters.index()))
    refusal = Reason::cluster_not_reachable;
  if (!member && !asked.valid() && asks_first(ctx, spec)) refusal = Reason::no_valid_clusters;
  if (refusal != Reason::none) return refuse(ctx, origin, job, refusal);
  if (live.federated && asks_first(ctx, spec)) take_local_id(ctx, origin);
  const ClusterSet viable = viable_siblings(ctx, job, refusal);
  // A feature that no cluster has is found before the id is drawn, everything else after
  // (semantics 1.3 point 3): a refused submission uses an id up.
  if (refusal == Reason::invalid_cluster_feature) return refuse(ctx, origin, job, refusal);
  row.job_id = job_id_for(ctx, spec, origin, member);
  if (refusal == Reason::none)
    refusal =
        spec.het_job != 0 ? admit_components(ctx, origin, job) : refusal_of(ctx, origin, spec);
  if (refusal != Reason::none) return refuse(ctx, origin, job, refusal);
  tell(ctx, StoryKind::submit, origin, job);
  const std::uint32_t r = make_record(ctx, origin, job, live.eligible);
  live.origin_record = r;
  RecordLive& record = ctx.state.records[r];
  record.viable = viable;
  record.priority = first_priority(ctx, origin);
  if (spec.cancel != kNoTime) schedule_withdrawal(ctx, job, spec.cancel);
  if (spec.held) {
    record.priority = 0;
    ctx.state.record_rows[r].reason = static_cast<std::uint8_t>(Reason::job_held_user);
    record.active = viable & ClusterSet::only(origin);
    must_wait(ctx, job);
    return;
  }
  if (must_wait(ctx, job)) {
    record.active = viable & ClusterSet::only(origin);
    wake_dependents(ctx);
    return;
  }
  send_copies(ctx, job);
}

void queue_again(const Context& ctx, std::uint32_t record, bool looks_at_once) {
  RecordRow& row = ctx.state.record_rows[record];
  // What is left of its older entries would come alive again.
  if (row.state == RecordState::revoked) forget(ctx.state, row.cluster, record);
  row.state = RecordState::pending;
  row.end = kNoTime;
  queue_record(ctx, record, looks_at_once);
}

void send_copies(const Context& ctx, JobId job, bool looks_at_once) {
  const ClusterId origin = ctx.origin(job);
  const std::uint32_t r = ctx.state.jobs[job.index()].origin_record;
  RecordLive& record = ctx.state.records[r];
  RecordRow& row = ctx.state.record_rows[r];
  record.active = ClusterSet{};
  record.lock = kNobody;
  record.tracking = !record.viable.has(origin);
  if (record.tracking) {
    row.state = RecordState::revoked;  // not viable at home (semantics 1.3 point 7)
  } else {
    record.active.add(origin);
    queue_again(ctx, r, looks_at_once);
  }
  submit_siblings(ctx, job, record.viable - ClusterSet::only(origin));
}

void on_submit_refused(const Context& ctx, JobId job, ClusterId by) {
  const std::uint32_t r = known_record(ctx, job, ctx.origin(job));
  if (r != kNoIndex) ctx.state.records[r].active.remove(by);
}

void submit_siblings(const Context& ctx, JobId job, ClusterSet to) {
  const ClusterId origin = ctx.origin(job);
  RecordLive& record = ctx.state.records[ctx.state.jobs[job.index()].origin_record];
  to.for_each([&](ClusterId c) {
    // Active as soon as the message is queued, not when it is accepted (semantics 1.3 point 9).
    record.active.add(c);
    tell(ctx, StoryKind::sibling_submit, origin, job, c);
    send(ctx, EventKind::sibling_submit, {origin, c}, job);
  });
}

namespace {

/// The record for a new copy: that of an older copy that is still there is made anew.
std::uint32_t copy_record(const Context& ctx, ClusterId cluster, JobId job) {
  const SimTime eligible = ctx.state.jobs[job.index()].eligible;
  const std::uint32_t old = known_record(ctx, job, cluster);
  if (old == kNoIndex || ctx.state.record_rows[old].state != RecordState::pending)
    return make_record(ctx, cluster, job, eligible);
  forget(ctx.state, cluster, old);
  RecordRow& row = ctx.state.record_rows[old];
  row.submit = stamp(ctx, ctx.state.now);
  row.eligible = eligible == kNoTime ? row.submit : std::max(row.submit, eligible);
  ctx.state.records[old].submit_s = floor_seconds(ctx.state.now);
  return old;
}

/// A copy that no node could ever hold leaves a FAILED record; other refusals leave none
/// (recording 18a).
void leave_failed_record(const Context& ctx, ClusterId cluster, JobId job) {
  const std::uint32_t r = make_record(ctx, cluster, job, kNoTime);
  RecordRow& row = ctx.state.record_rows[r];
  row.state = RecordState::failed;
  row.exit_code = 1;
  row.end = row.submit;
  if (ctx.cluster(cluster).release < SlurmRelease{24, 11}) row.start = row.submit;
  ctx.state.records[r].linked = false;
}

}  // namespace

void receive_copy(const Context& ctx, ClusterId cluster, JobId job) {
  SimState& s = ctx.state;
  const std::uint32_t running = known_record(ctx, job, cluster);
  if (running != kNoIndex && s.record_rows[running].state == RecordState::running) return;
  const Reason refusal = refusal_of(ctx, cluster, ctx.spec(job));
  if (refusal != Reason::none) {
    send(ctx, EventKind::submit_refused, {cluster, ctx.origin(job)}, job);
    if (refusal == Reason::node_config_unavailable) leave_failed_record(ctx, cluster, job);
    return;
  }
  const std::uint32_t r = copy_record(ctx, cluster, job);
  RecordLive& record = s.records[r];
  record.viable = s.records[s.jobs[job.index()].origin_record].viable;
  record.active = ClusterSet{};
  record.lock = kNobody;
  record.priority = first_priority(ctx, cluster);
  queue_record(ctx, r);
}

}  // namespace fedsim
