// Submission at the origin and copies at the siblings, fed_mgr.c: semantics 1.3 and 1.4.
#include <algorithm>

#include "fed/context.hpp"
#include "sched/admission.hpp"
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

/// Clusters that may get a copy; `refusal` when there are none.
ClusterSet viable_of(const Context& ctx, const JobSpec& spec, ClusterId origin, Reason& refusal) {
  if (!ctx.model.federated) return ClusterSet::only(origin);
  ClusterSet set = ClusterSet::first(ctx.model.clusters.size());
  if (spec.clusters.index() != 0) set = set & ctx.names.cluster_lists.at(spec.clusters.index());
  if (spec.cluster_constraint.index() != 0) {
    const auto& constraint = ctx.names.constraints.at(spec.cluster_constraint.index());
    if (!constraint.valid) refusal = Reason::invalid_cluster_feature;
    set = set & constraint.clusters;
  }
  if (set.empty() && refusal == Reason::none) refusal = Reason::no_valid_clusters;
  return set;
}

/// Best verdict over the partitions of the list: any that takes the job is enough.
Admission admit_anywhere(const Context& ctx, ClusterId c, const JobSpec& spec) {
  const auto& list = ctx.names.partitions[c.index()].at(spec.partition.index());
  if (list.empty()) return {Reason::invalid_partition, Reason::none};
  Admission best{Reason::invalid_partition, Reason::none};
  for (const PartitionId p : list) {
    const DemandTable::Verdict v = demand_of(ctx, c, p, spec.request);
    AdmissionQuery q;
    q.cluster = &ctx.cluster(c);
    q.partition = &ctx.cluster(c).partitions[p.index()];
    q.demand = &ctx.demands.demands[v.demand];
    q.limit_s = spec.limit_s;
    q.fits_empty = v.fits_empty;
    q.held = spec.held;
    const Admission a = admit(q);
    if (a.refusal == Reason::none && a.pending == Reason::none) return a;
    if (a.refusal == Reason::none || best.refusal == Reason::invalid_partition) best = a;
  }
  return best;
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

DemandTable::Verdict demand_of(const Context& ctx, ClusterId c, PartitionId p,
                               std::uint32_t request) {
  DemandTable& t = ctx.demands;
  auto& verdicts = t.by_partition[t.first_partition[c.index()] + p.index()];
  if (verdicts.size() <= request) verdicts.resize(ctx.trace.requests.size());
  DemandTable::Verdict& v = verdicts[request];
  if (!v.known) {
    const ClusterModel& cluster = ctx.cluster(c);
    const PartitionModel& partition = cluster.partitions[p.index()];
    v.known = true;
    v.demand = static_cast<std::uint32_t>(t.demands.size());
    t.demands.push_back(resolve_demand(cluster, partition, ctx.trace.requests[request]));
    v.fits_empty =
        t.demands.back().refusal == Reason::none && ever_fits(cluster, partition, t.demands.back());
  }
  return v;
}

SimTime stamp(const Context& ctx, SimTime t) {
  return ctx.slurm() ? from_unix_seconds(floor_seconds(t)) : t;
}

void tell(const Context& ctx, StoryKind kind, ClusterId where, JobId job, ClusterId other) {
  if (!ctx.options.keep_events && ctx.observer == nullptr) return;
  const StoryEvent event{ctx.state.now, kind, where, job, other};
  if (ctx.options.keep_events) ctx.state.story.push_back(event);
  if (ctx.observer != nullptr) ctx.observer->on_event(event);
}

void send(const Context& ctx, EventKind kind, ClusterId to, JobId job, std::uint32_t aux) {
  const Duration latency = ctx.slurm() ? ctx.model.latency.sibling_message : Duration{1};
  const std::int64_t at =
      (ctx.state.now + std::max(latency, Duration{1})).time_since_epoch().count();
  ctx.state.queue.push({at, 0, job.index(), aux, 0, kind, static_cast<std::uint8_t>(to.index())},
                       Phase::message, static_cast<std::uint8_t>(to.index()));
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

void queue_record(const Context& ctx, std::uint32_t record) {
  const RecordRow& row = ctx.state.record_rows[record];
  const ClusterId c = row.cluster;
  const JobSpec& spec = ctx.spec(row.job);
  ClusterState& own = ctx.state.clusters[c.index()];
  bool first = true;
  for (const PartitionId p : ctx.names.partitions[c.index()].at(spec.partition.index())) {
    const DemandTable::Verdict v = demand_of(ctx, c, p, spec.request);
    if (ctx.demands.demands[v.demand].refusal != Reason::none) continue;
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
  request_pass(ctx.controller(c));
}

void submit_job(const Context& ctx, JobId job) {
  const JobSpec& spec = ctx.spec(job);
  const ClusterId origin = origin_of(ctx, spec);
  ClusterState& own = ctx.state.clusters[origin.index()];
  JobRow& row = ctx.state.job_rows[job.index()];
  JobLive& live = ctx.state.jobs[job.index()];
  row.origin = origin;
  // The id is drawn before validation: a refused submission uses one up (semantics 1.3 point 3).
  const std::uint32_t local = own.next_local_id++;
  row.job_id = encode_job_id({ctx.model.federated ? origin.index() + 1 : 0U, local});
  Reason refusal = Reason::none;
  live.viable = viable_of(ctx, spec, origin, refusal);
  live.eligible = spec.begin;
  Admission a;
  if (refusal == Reason::none) {
    a = admit_anywhere(ctx, origin, spec);
    refusal = a.refusal;
  }
  if (refusal != Reason::none) return refuse(ctx, origin, job, refusal);
  tell(ctx, StoryKind::submit, origin, job);
  const std::uint32_t r = make_record(ctx, origin, job, live.eligible);
  live.origin_record = r;
  ctx.state.records[r].priority = first_priority(ctx, origin);
  if (spec.cancel != kNoTime) {
    ctx.state.queue.push(
        {std::max(spec.cancel, ctx.state.now + Duration{1}).time_since_epoch().count(), 0,
         job.index(), 0, 0, EventKind::cancel, static_cast<std::uint8_t>(origin.index())},
        Phase::control, static_cast<std::uint8_t>(origin.index()));
  }
  RecordRow& record = ctx.state.record_rows[r];
  if (spec.held) {
    ctx.state.records[r].priority = 0;
    record.reason = static_cast<std::uint8_t>(Reason::job_held_user);
    live.active = ClusterSet::only(origin);
    return;
  }
  send_copies(ctx, job);
}

void send_copies(const Context& ctx, JobId job) {
  JobLive& live = ctx.state.jobs[job.index()];
  const ClusterId origin = ctx.state.job_rows[job.index()].origin;
  const std::uint32_t r = live.origin_record;
  live.active = ClusterSet{};
  if (live.viable.has(origin)) {
    live.active.add(origin);
    queue_record(ctx, r);
  } else {
    // Not viable at home: the record only tracks the job (semantics 1.3 point 7).
    ctx.state.record_rows[r].state = RecordState::revoked;
  }
  live.viable.for_each([&](ClusterId c) {
    if (c == origin) return;
    live.active.add(c);
    tell(ctx, StoryKind::sibling_submit, origin, job, c);
    send(ctx, EventKind::sibling_submit, c, job);
  });
}

void receive_copy(const Context& ctx, ClusterId cluster, JobId job) {
  JobLive& live = ctx.state.jobs[job.index()];
  if (live.finished || !live.active.has(cluster)) return;
  const JobSpec& spec = ctx.spec(job);
  const Admission a = admit_anywhere(ctx, cluster, spec);
  if (a.refusal != Reason::none) {
    live.active.remove(cluster);
    // A copy that no node could ever hold leaves a FAILED record; other refusals leave none
    // (recording 18a).
    if (a.refusal != Reason::node_config_unavailable) return;
    RecordRow& row = ctx.state.record_rows[make_record(ctx, cluster, job, kNoTime)];
    row.state = RecordState::failed;
    row.exit_code = 1;
    row.end = row.submit;
    if (ctx.cluster(cluster).release < SlurmRelease{24, 11}) row.start = row.submit;
    return;
  }
  const std::uint32_t r = make_record(ctx, cluster, job, live.eligible);
  ctx.state.records[r].priority = first_priority(ctx, cluster);
  queue_record(ctx, r);
}

}  // namespace fedsim
