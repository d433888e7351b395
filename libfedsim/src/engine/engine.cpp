// Event loop: see engine.hpp. Order of simultaneous events: docs/reference/event-order.md.
#include "engine/engine.hpp"

#include <algorithm>

#include "base/delays.hpp"
#include "base/mix.hpp"
#include "base/rng.hpp"
#include "engine/pass_host.hpp"
#include "fed/dependency.hpp"
#include "fed/transport.hpp"
#include "sched/estimate.hpp"
#include "trace/faults.hpp"

namespace fedsim {
namespace {

std::int64_t ns(SimTime t) {
  return t.time_since_epoch().count();
}

void check_driven(const FederationModel& model, const Scenario& scenario) {
  std::vector<Diagnostic> wrong;
  for (const DrivenPass& p : scenario.options.driven) {
    const std::string name{scenario.trace->strings.view(p.cluster)};
    if (!model.find_cluster(name).valid()) {
      wrong.push_back(
          {Severity::error, "C103", "passes.csv", 0, "unknown cluster '" + name + "'", ""});
      break;
    }
  }
  if (!wrong.empty()) throw InputError(std::move(wrong));
}

void push_driven(const FederationModel& model, const Scenario& scenario, SimState& state) {
  for (const DrivenPass& p : scenario.options.driven) {
    const ClusterId c = model.find_cluster(std::string(scenario.trace->strings.view(p.cluster)));
    const EventKind kind = p.kind == DrivenPass::Kind::main   ? EventKind::main_pass
                           : p.kind == DrivenPass::Kind::full ? EventKind::full_pass
                                                              : EventKind::backfill_pass;
    state.queue.push({ns(p.at), 0, 0, 0, 0, kind, static_cast<std::uint8_t>(c.index())},
                     Phase::schedule, static_cast<std::uint8_t>(c.index()));
  }
}

}  // namespace

Controllers::Controllers(const FederationModel& model) {
  views.reserve(model.clusters.size());
  for (std::size_t c = 0; c < model.clusters.size(); ++c)
    views.emplace_back(model.spec->clusters[c], accounting, model.clusters[c].hardware);
}

Engine::Engine(Scenario scenario)
    : scenario_(std::move(scenario)),
      trace_(with_faults(scenario_.trace, *scenario_.model, scenario_.options)) {
  const FederationModel& model = *scenario_.model;
  const Trace& trace = *trace_;
  names_ = resolve_names(model, trace);
  check_driven(model, scenario_);
  controllers_ = std::make_shared<const Controllers>(model);
  for (const ClusterModel& c : model.clusters) {
    demands_.first_partition.push_back(demands_.by_partition.size());
    demands_.by_partition.resize(demands_.by_partition.size() + c.partitions.size());
    state_.clusters.emplace_back().pool = NodePool(c);
  }
  state_.job_rows.resize(trace.jobs.size());
  state_.jobs.resize(trace.jobs.size());
  state_.record_rows.reserve(trace.jobs.size());
  state_.records.reserve(trace.jobs.size());
  state_.allocation_rows.reserve(trace.jobs.size());
  SimTime first = trace.t0;
  if (!trace.relative_times) first = trace.jobs.empty() ? SimTime{} : trace.jobs.front().submit;
  for (const DrivenPass& p : scenario_.options.driven) first = std::min(first, p.at);
  state_.now = first;
  for (std::size_t c = 0; c < model.clusters.size(); ++c) {
    start_loops({model.clusters[c], scenario_.options, state_, ClusterId{c}});
  }
  state_.arrays = names_.array_sizes;
  connect_all(model, state_);
  push_driven(model, scenario_, state_);
}

Context Engine::context() {
  return {*scenario_.model, *trace_, scenario_.options,   state_,
          demands_,         names_,  controllers_->views, observer_};
}

/// Copies whose lock is never granted keep their controller's loops going for ever (semantics 1.7).
/// With only passes to come, and none that started a job for longer than every interval, the run
/// is over.
bool Engine::is_quiet(std::int64_t at) const {
  const SimState& s = state_;
  const auto to_come = [&](const DrivenPass& pass) { return ns(pass.at) >= at; };
  const std::vector<DrivenPass>& driven = scenario_.options.driven;
  if (std::any_of(driven.rbegin(), driven.rend(), to_come) || !s.queue.only_polls() ||
      s.next_submit < trace_->jobs.size() || s.next_operation < trace_->operations.size())
    return false;
  std::int64_t longest_s = 60;
  std::int64_t from = ns(s.last_change);
  for (std::size_t c = 0; c < s.clusters.size(); ++c) {
    const SchedulerModel& p = scenario_.model->clusters[c].scheduler;
    longest_s = std::max({longest_s, p.sched_interval_s, p.bf_interval_s});
    const ClusterState& own = s.clusters[c];
    if (own.queued_n + own.dependents_n == 0 || own.next_eligible_s == INT64_MAX) continue;
    from = std::max(from, s.clusters[c].next_eligible_s * kSecond.count());
  }
  return at - from > 3 * longest_s * kSecond.count();
}

Engine::Next Engine::next() const {
  const Trace& trace = *trace_;
  Next out;
  const auto offer = [&](Source source, const Event& event) {
    if (out.source != Source::none && !before(event, out.event)) return;
    out.source = source;
    out.event = event;
  };
  if (!state_.queue.empty()) offer(Source::queue, state_.queue.top());
  if (state_.next_submit < trace.jobs.size()) {
    const auto j = static_cast<std::uint32_t>(state_.next_submit);
    offer(Source::submit, {ns(trace.jobs[j].submit), pack_order({Phase::submit, 0, j}), j, 0, 0,
                           EventKind::submit, 0});
  }
  if (state_.next_operation < trace.operations.size()) {
    const auto i = static_cast<std::uint32_t>(state_.next_operation);
    offer(Source::operation, {ns(trace.operations[i].at), pack_order({Phase::control, 0, i}), i, 0,
                              0, EventKind::operation, 0});
  }
  if (out.source == Source::queue && is_quiet(out.event.at)) out.source = Source::none;
  if (!state_.dirty.empty()) {
    const auto c = static_cast<std::uint8_t>(std::countr_zero(state_.dirty.bits()));
    offer(Source::ideal,
          {ns(state_.now), pack_order({Phase::schedule, c, 0}), 0, 0, 0, EventKind::ideal_pass, c});
  }
  return out;
}

bool Engine::step(SimTime until) {
  const Next n = next();
  if (n.source == Source::none || SimTime{Duration{n.event.at}} > until) return false;
  if (n.source == Source::queue) state_.queue.pop();
  if (n.source == Source::submit) ++state_.next_submit;
  if (n.source == Source::operation) ++state_.next_operation;
  if (n.source == Source::ideal) state_.dirty.remove(ClusterId{int{n.event.cluster}});
  FEDSIM_CHECK(n.event.at >= ns(state_.now), "time would run backwards from " +
                                                 std::to_string(ns(state_.now)) + " to " +
                                                 std::to_string(n.event.at) + " ns, event kind " +
                                                 std::to_string(static_cast<int>(n.event.kind)) +
                                                 " of " + std::to_string(n.event.subject));
  state_.now = SimTime{Duration{n.event.at}};
  if (!is_poll(n.event.kind)) state_.last_change = state_.now;
  dispatch(n.event);
  return true;
}

void Engine::count(const Event& e, std::uint64_t outcome) {
  ++state_.events;
  const std::uint64_t what =
      (std::uint64_t{e.subject} << 32) | (static_cast<std::uint64_t>(e.kind) << 8) | e.cluster;
  std::uint64_t h = state_.fingerprint ^ static_cast<std::uint64_t>(e.at);
  h = (h ^ (h >> 32)) * 0x9e37'79b9'7f4a'7c15ULL;
  h ^= what + outcome * 0xd6e8'feb8'6659'fd93ULL;
  state_.fingerprint = (h ^ (h >> 29)) * 0xbf58'476d'1ce4'e5b9ULL;
}

namespace {

/// Commands of users and administrators, other than faults.
bool is_command(OperationKind kind) {
  return kind < OperationKind::controller_down;
}

}  // namespace

/// A command reaches its controller a while after it is typed; the next one is typed when it has
/// been answered.
bool Engine::is_on_its_way(const Context& ctx, const Event& e) {
  constexpr std::uint32_t kArrived = 1;
  constexpr Duration kAnswer{33'000'000};  // median, 22.05
  const Duration median = ctx.model.latency.client_command;
  if (median == Duration{} || !ctx.slurm()) return false;
  const bool submits = e.kind == EventKind::submit;
  if (e.aux == kArrived) {
    state_.submits_on_way -= submits ? 1U : 0U;
    return false;
  }
  if (!submits && !is_command(ctx.trace.operations[e.subject].kind)) return false;
  const std::uint64_t bits =
      draw(ctx.options.seed, Stream::client_command, e.subject, submits ? 0 : 1);
  const SimTime typed = std::max(state_.now, state_.client_free);
  const SimTime at = typed + command_delay(ctx.cluster(ClusterId{0}).release, median, bits);
  state_.client_free = at + kAnswer;
  state_.submits_on_way += submits ? 1U : 0U;
  Event later = e;
  later.aux = kArrived;
  later.at = ns(at);
  state_.queue.push(later, submits ? Phase::submit : Phase::control, 0);
  return true;
}

/// -M with clusters that are no federation: sbatch asks each when it would start the job, and sends
/// it to the earliest, its own cluster first among equals. Of a federation it asks one cluster.
ClusterId Engine::earliest_cluster(const Context& ctx, JobId job) {
  const JobSpec& spec = ctx.spec(job);
  if (spec.clusters.index() == 0) return {};
  const ClusterSet list = ctx.names.cluster_lists.at(spec.clusters.index());
  if (list.count() < 2 || ctx.names.unknown_lists.contains(spec.clusters.index())) return {};
  ClusterSet members;
  list.for_each([&](ClusterId c) {
    if (ctx.model.federated && ctx.member(c).joined) members.add(c);
  });
  if (members == list) return {};  // one federation: it chooses by itself
  const ClusterId typed =
      spec.origin.index() == 0 ? ClusterId{0} : ctx.names.clusters.at(spec.origin.index());
  ClusterId best;
  std::int64_t earliest = INT64_MAX;
  bool asked_federation = false;
  list.for_each([&](ClusterId c) {
    if (members.has(c) && asked_federation) return;
    const std::int64_t start = would_start(ctx, c, job);
    if (start == INT64_MAX) return;
    asked_federation = asked_federation || members.has(c);
    if (start < earliest || (start == earliest && c == typed)) best = c;
    earliest = std::min(earliest, start);
  });
  return best;
}

/// INT64_MAX: the cluster would not take it, or can't be reached.
std::int64_t Engine::would_start(const Context& ctx, ClusterId cluster, JobId job) {
  if (!ctx.member(cluster).up) return INT64_MAX;
  std::int64_t latest = INT64_MIN;
  const ComponentRange parts = components_of(ctx.trace, job);
  const bool het = ctx.spec(job).het_job != 0;
  for (std::size_t j = het ? parts.first : job.index(); j < (het ? parts.last : job.index() + 1);
       ++j) {
    const JobSpec& spec = ctx.spec(JobId{j});
    const auto place = place_of(ctx, cluster, spec);
    if (!place) return INT64_MAX;
    FederatedHost host(ctx);
    // priority/basic: below all that wait; else the same for all.
    const bool equal = ctx.cluster(cluster).scheduler.priority == PriorityType::multifactor;
    const StartQuestion question{place->demand, place->partition, equal ? 1U : 0U};
    latest = std::max(latest, estimate_start(view(ctx, host, cluster), question));
  }
  take_local_id(ctx, cluster);  // the question has a job id of its own
  return latest;
}

void Engine::dispatch(const Event& e) {
  const Context ctx = context();
  const ClusterId cluster{int{e.cluster}};
  switch (e.kind) {
    case EventKind::job_end: {
      if (state_.records[e.subject].generation != e.generation) return;  // stale: ended otherwise
      if (!on_job_end(ctx, e)) return;
      if (!state_.dependents.empty()) wake_dependents(ctx);
      return count(e, e.aux);
    }
    case EventKind::epilog_end:
      on_epilog_end(ctx, e.subject);
      break;
    case EventKind::operation:
      if (is_on_its_way(ctx, e)) return;
      apply_operation(ctx, ctx.trace.operations[e.subject]);
      break;
    case EventKind::requeue:
      finish_requeue(ctx, JobId{e.subject}, cluster);
      break;
    case EventKind::drain_watch:
      on_drain_watch(ctx, cluster);
      break;
    case EventKind::dependency_test:
      test_remote_dependencies(ctx, cluster);
      return count(e, 0);
    case EventKind::controller_up:
      on_controller_up(ctx, e);
      break;
    case EventKind::submit:
      if (is_on_its_way(ctx, e)) return;
      submit_job(ctx, JobId{e.subject}, earliest_cluster(ctx, JobId{e.subject}));
      break;
    case EventKind::cancel:
      withdraw_job(ctx, e, cluster);
      break;
    case EventKind::main_pass:
    case EventKind::full_pass:
      return run_main(e);
    case EventKind::backfill_pass:
      return run_backfill(e);
    case EventKind::ideal_pass:
      if (phase_of(e.order) == Phase::control) {
        state_.dirty.add(cluster);  // a begin time has come
        return;
      }
      return run_ideal(cluster);
    default:
      if (!arrives(ctx, e)) return;
      deliver(ctx, e);
  }
  if (!is_poll(e.kind) && !state_.dependents.empty()) wake_dependents(ctx);
  count(e, state_.job_rows.empty() ? 0 : state_.records.size());
}

void Engine::deliver(const Context& ctx, const Event& e) {
  const ClusterId to{int{e.cluster}};
  const JobId job{e.subject};
  switch (e.kind) {
    case EventKind::sibling_submit:
      return receive_copy(ctx, to, job);
    case EventKind::submit_refused:
      return on_submit_refused(ctx, job, sender_of(e));
    case EventKind::sibling_started:
      return on_started_elsewhere(ctx, job, sender_of(e));
    case EventKind::sibling_complete:
      return on_complete_elsewhere(ctx, job, to);
    case EventKind::sibling_cancel:
      return on_sibling_cancel(ctx, job, to, payload_of(e));
    case EventKind::sibling_update:
      return on_sibling_update(ctx, job, to);
    case EventKind::dependency_result:
      return on_dependency_result(ctx, job, sender_of(e), payload_of(e));
    case EventKind::update_done:
      return on_update_done(ctx, job, sender_of(e));
    case EventKind::sync:
      return on_sync(ctx, {sender_of(e), to}, payload_of(e) != 0);
    default:
      FEDSIM_CHECK(false, "not a message");
  }
}

PassView Engine::view(const Context& ctx, PassHost& host, ClusterId cluster) {
  return {ctx.model,
          ctx.cluster(cluster),
          ctx.trace,
          state_,
          cluster,
          demands_.demands,
          scratch_,
          host,
          floor_seconds(state_.now),
          ctx.names.any_het};
}

namespace {

/// Longest step of the plan's grid: a running job that ends within it may move a reservation.
constexpr std::int64_t kSteadyMargin = 3600;

/// Earliest begin time still in the future among queued records.
std::int64_t next_eligible(const SimState& state, const ClusterState& c, std::int64_t now_s) {
  std::int64_t next = INT64_MAX;
  for (const QueueEntry& e : c.queue) {
    if (!state.records[e.record].queued) continue;
    const std::int64_t s = floor_seconds(state.record_rows[e.record].eligible);
    if (s > now_s) next = std::min(next, s);
  }
  return next;
}

}  // namespace

/// A pass that begins with a call for a lock at another cluster is carried out when the call
/// arrives there: whoever asks meanwhile comes first.
bool Engine::waits_for_lock_call(const Context& ctx, const Event& e) {
  constexpr std::uint32_t kCalled = 1;
  if (!ctx.model.federated || !ctx.slurm() || e.aux == kCalled) return false;
  const ClusterId me{int{e.cluster}};
  const std::int64_t now_s = floor_seconds(state_.now);
  for (const QueueEntry& entry : state_.clusters[e.cluster].queue) {
    if (!state_.records[entry.record].queued) continue;
    const RecordRow& row = state_.record_rows[entry.record];
    if (floor_seconds(row.eligible) > now_s) continue;
    const ClusterId origin = ctx.origin(row.job);
    if (origin == me || !is_federated(state_, entry.record) || !connected(ctx, {me, origin}))
      return false;
    Event later = e;
    later.aux = kCalled;
    later.at += lock_call(ctx, me, row.job).count();
    state_.queue.push(later, Phase::schedule, e.cluster);
    return true;
  }
  return false;
}

void Engine::run_main(const Event& e) {
  const ClusterId cluster{int{e.cluster}};
  ClusterState& own = state_.clusters[e.cluster];
  const bool driven = !scenario_.options.driven.empty();
  if (!driven && e.generation != own.pass_generation) return;
  const Context ctx = context();
  if (!own.fed.up || waits_for_lock_call(ctx, e)) return;
  const std::int64_t now_s = floor_seconds(state_.now);
  const bool full = e.kind == EventKind::full_pass;
  own.pass_at = kNoTime;
  own.pass_requested = false;
  own.last_main_s = now_s;
  if (full) own.last_full_s = now_s;
  const bool eligible_now = now_s >= own.next_eligible_s;
  const bool may_start = may_schedule(ctx, cluster);
  std::int64_t due_s = INT64_MAX;
  if (own.dependents_n > 0 && may_start) due_s = clear_dependencies(ctx, cluster);
  // With nothing new since the last whole look a pass decides what that one decided: skip it.
  const bool look = own.changed_for_main || eligible_now || driven;
  std::uint64_t started = 0;
  if (!may_start) {
    own.changed_for_main = true;  // what is new stays so
  } else if (look && own.queued_n > 0) {
    FederatedHost host(ctx);
    tell(ctx, StoryKind::main_pass, cluster, JobId{});
    begin_iteration(own);
    const PassOutcome out = main_pass(view(ctx, host, cluster), full);
    end_iteration(state_, cluster);
    own.changed_for_main = !out.reached_end || out.look_again;
    if (eligible_now) own.next_eligible_s = next_eligible(state_, own, now_s);
    started = host.started();
    ++state_.main_passes;
  } else {
    own.changed_for_main = false;
  }
  own.next_eligible_s = std::min(own.next_eligible_s, due_s);
  plan_loops(ctx.controller(cluster));
  count(e, started);
}

void Engine::run_backfill(const Event& e) {
  const ClusterId cluster{int{e.cluster}};
  ClusterState& own = state_.clusters[e.cluster];
  if (scenario_.options.driven.empty() && e.generation != own.bf_generation) return;
  const Context ctx = context();
  if (!own.fed.up || waits_for_lock_call(ctx, e)) return;
  own.bf_at = kNoTime;
  const std::int64_t now_s = floor_seconds(state_.now);
  if (own.dependents_n > 0 && may_schedule(ctx, cluster)) clear_dependencies(ctx, cluster);
  // The same jobs, running set and order plan the same cycle again, until a running job passes its
  // limit or a begin time comes: such a cycle would start nothing and is not computed.
  const bool steady = !own.changed_for_backfill && now_s < own.next_eligible_s &&
                      (own.running.empty() || own.running.front().end_s > now_s + kSteadyMargin) &&
                      scenario_.options.driven.empty();
  std::uint64_t started = 0;
  if (own.queued_n == 0) {
    own.backfill_tested = false;
  } else if (!steady && may_schedule(ctx, cluster)) {
    FederatedHost host(ctx);
    tell(ctx, StoryKind::backfill_pass, cluster, JobId{});
    own.changed_for_backfill = false;
    begin_iteration(own);
    const PassOutcome out = backfill_pass(view(ctx, host, cluster));
    end_iteration(state_, cluster);
    own.backfill_tested = out.tested > 0;
    own.changed_for_backfill = own.changed_for_backfill || out.look_again;
    started = host.started();
    ++state_.backfill_passes;
  }
  own.bf_last_s = floor_seconds(state_.now);
  own.bf_next_ns =
      ns(state_.now) + ctx.cluster(cluster).scheduler.bf_interval_s * 1'000'000'000 + 10'000'000;
  // A cycle clears and sets estimated starts: while eligible jobs wait, the next one is never
  // skipped.
  if (own.backfill_tested)
    own.last_update_s = own.bf_last_s;
  else if (own.last_update_s == own.bf_last_s)
    --own.last_update_s;
  plan_loops(ctx.controller(cluster));
  count(e, started);
}

void Engine::run_ideal(ClusterId cluster) {
  ClusterState& own = state_.clusters[cluster.index()];
  const Context ctx = context();
  if (own.dependents_n > 0) clear_dependencies(ctx, cluster);
  if (own.queued_n == 0 || !may_schedule(ctx, cluster)) return;
  FederatedHost host(ctx);
  begin_iteration(own);
  ideal_pass(view(ctx, host, cluster), scenario_.options.policy, state_.now);
  end_iteration(state_, cluster);
  ++state_.main_passes;
  count({ns(state_.now), 0, 0, 0, 0, EventKind::ideal_pass,
         static_cast<std::uint8_t>(cluster.index())},
        host.started());
}

void Engine::audit() const {
  fedsim::audit(*scenario_.model, state_);
}

}  // namespace fedsim
