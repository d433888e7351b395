// States of a cluster in its federation, joining and leaving: semantics 1.8; recordings 08.
#include <algorithm>

#include "fed/dependency.hpp"
#include "fed/transport.hpp"

namespace fedsim {
namespace {

/// A draining member looks this often whether all its jobs are over.
constexpr Duration kWatch = kSecond * 5;

void watch(const Context& ctx, ClusterId cluster) {
  const SimTime at = ctx.state.now + kWatch;
  ctx.state.queue.push(
      {at.time_since_epoch().count(), 0, 0, 0, 0, EventKind::drain_watch, tie_of(cluster)},
      Phase::control, tie_of(cluster));
}

/// Calls `f(record)` for every record that the cluster's controller has and that is not over.
template <class F>
void for_each_open_record(const Context& ctx, ClusterId cluster, F&& f) {
  SimState& s = ctx.state;
  for (std::uint32_t r = 0; r < s.record_rows.size(); ++r) {
    if (s.record_rows[r].cluster != cluster || !s.records[r].linked || is_over(s, r)) continue;
    f(r);
  }
}

/// REVOKED for good, without telling anybody.
void drop(const Context& ctx, std::uint32_t r) {
  ctx.state.records[r].tracking = false;
  revoke_record(ctx, r, true);
  ctx.state.records[r].linked = false;
}

/// On the cluster that leaves: what runs goes on as an ordinary job, what only it may run stays,
/// and what is queued at its origin here.
void clean_up_leaver(const Context& ctx, ClusterId cluster) {
  SimState& s = ctx.state;
  for_each_open_record(ctx, cluster, [&](std::uint32_t r) {
    if (!is_federated(s, r)) return;
    const RecordRow& row = s.record_rows[r];
    const bool only_here = (s.records[r].viable - ClusterSet::only(cluster)).empty();
    const bool mine = ctx.origin(row.job) == cluster && row.state == RecordState::pending;
    s.records[r].detached = true;
    if (row.state != RecordState::running && !only_here && !mine) drop(ctx, r);
    settle(ctx, row.job);
  });
}

/// On a member that stays, for the jobs that had to do with the leaver.
void clean_up_member(const Context& ctx, ClusterId me, ClusterId leaver) {
  SimState& s = ctx.state;
  const ClusterSet gone = ClusterSet::only(leaver);
  for_each_open_record(ctx, me, [&](std::uint32_t r) {
    if (!is_federated(s, r)) return;
    RecordLive& live = s.records[r];
    const RecordRow& row = s.record_rows[r];
    const ClusterId origin = ctx.origin(row.job);
    const ClusterSet viable = live.viable;
    live.viable = live.viable - gone;
    live.active = live.active - gone;
    const bool from_leaver = origin == leaver;
    const bool tracks = origin == me && live.lock == leaver.index();
    if (!from_leaver && !tracks && !(viable.has(leaver) && (viable - gone).empty())) return;
    const bool others = !(viable - ClusterSet::only(me)).empty();
    if (row.state == RecordState::pending && from_leaver && !viable.has(origin) && others) return;
    live.detached = true;
    if ((from_leaver && !others) || row.state == RecordState::running) return;
    drop(ctx, r);
    settle(ctx, row.job);
  });
}

}  // namespace

void set_fed_state(const Context& ctx, ClusterId cluster, FedState state) {
  Member& m = ctx.member(cluster);
  if (!m.joined) return;
  const bool was_draining = m.state == FedState::drain || m.state == FedState::drain_remove;
  m.state = state;
  tell(ctx, StoryKind::fed_state, cluster, JobId{});
  if (state == FedState::active) request_pass(ctx.controller(cluster));
  const bool draining = state == FedState::drain || state == FedState::drain_remove;
  if (draining && !was_draining) watch(ctx, cluster);
}

void on_drain_watch(const Context& ctx, ClusterId cluster) {
  Member& m = ctx.member(cluster);
  if (!m.joined || (m.state != FedState::drain && m.state != FedState::drain_remove)) return;
  bool open = !m.up;
  if (m.up) for_each_open_record(ctx, cluster, [&](std::uint32_t) { open = true; });
  if (open) return watch(ctx, cluster);
  if (m.state == FedState::drain_remove) return leave_federation(ctx, cluster);
  m.state = FedState::drained;
  tell(ctx, StoryKind::fed_state, cluster, JobId{});
}

void leave_federation(const Context& ctx, ClusterId cluster) {
  Member& m = ctx.member(cluster);
  if (!m.joined) return;
  m.joined = false;
  m.state = FedState::active;
  disconnect(ctx, cluster);
  clean_up_leaver(ctx, cluster);
  for (std::size_t c = 0; c < ctx.model.clusters.size(); ++c) {
    if (ClusterId{c} != cluster && ctx.member(ClusterId{c}).joined)
      clean_up_member(ctx, ClusterId{c}, cluster);
  }
  tell(ctx, StoryKind::fed_state, cluster, JobId{});
  if (!ctx.state.dependents.empty()) wake_dependents(ctx);
  request_pass(ctx.controller(cluster));
}

void join_federation(const Context& ctx, ClusterId cluster) {
  Member& m = ctx.member(cluster);
  if (m.joined || !ctx.model.federated) return;
  m.joined = true;  // and keeps its number
  m.state = FedState::active;
  tell(ctx, StoryKind::fed_state, cluster, JobId{});
  connect_member(ctx, cluster);
}

}  // namespace fedsim
