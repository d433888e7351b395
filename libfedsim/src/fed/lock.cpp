// The start lock, fed_mgr_job_lock: semantics 1.6 points 1 to 3, 1.7, 1.9.
#include <algorithm>

#include "base/delays.hpp"
#include "fed/transport.hpp"

namespace fedsim {
namespace {

/// An origin waits this long for a sibling to confirm an update.
constexpr Duration kUpdateDelay = kSecond * 60;

bool updates_outstanding(const Context& ctx, JobId job) {
  auto& list = ctx.state.updates;
  std::erase_if(list,
                [&](const SimState::Update& u) { return ctx.state.now - u.sent >= kUpdateDelay; });
  return std::any_of(list.begin(), list.end(),
                     [&](const SimState::Update& u) { return u.job == job; });
}

/// Sets the lock in the table of `at`'s controller.
bool set_lock(const Context& ctx, ClusterId at, ClusterId by, JobId job) {
  const std::uint32_t r = known_record(ctx, job, at);
  if (r == kNoIndex || !is_federated(ctx.state, r)) return false;
  std::uint8_t& lock = ctx.state.records[r].lock;
  if (at == ctx.origin(job) && updates_outstanding(ctx, job)) return false;
  if (lock != kNobody && lock != by.index()) return false;
  lock = tie_of(by);
  return true;
}

void clear_lock(const Context& ctx, ClusterId at, ClusterId by, JobId job) {
  const std::uint32_t r = known_record(ctx, job, at);
  if (r == kNoIndex) return;
  std::uint8_t& lock = ctx.state.records[r].lock;
  if (lock == by.index()) lock = kNobody;
}

/// The origin takes one call at a time: another cluster's call is still on its way.
bool call_in_flight(const Context& ctx, ClusterId by, JobId job) {
  const JobLive& live = ctx.state.jobs[job.index()];
  return live.lock_busy_until != kNoTime && ctx.state.now < live.lock_busy_until &&
         live.lock_asker != by.index();
}

/// Without the origin every viable sibling that can be reached must agree, and one other than the
/// asker at least must have been asked when there is one.
bool lock_all_siblings(const Context& ctx, std::uint32_t record) {
  const ClusterId me = ctx.state.record_rows[record].cluster;
  const JobId job = ctx.state.record_rows[record].job;
  const ClusterSet viable = ctx.state.records[record].viable;
  ClusterSet agreed;
  bool all = true;
  (viable - ClusterSet::only(ctx.origin(job))).for_each([&](ClusterId c) {
    if (!all || (c != me && !connected(ctx, {me, c}))) return;
    all = set_lock(ctx, c, me, job);
    if (all) agreed.add(c);
  });
  const ClusterSet others = ClusterSet::only(me);
  if (all && ((viable - others).empty() || !(agreed - others).empty())) return true;
  agreed.for_each([&](ClusterId c) { clear_lock(ctx, c, me, job); });
  return false;
}

}  // namespace

bool ask_lock(const Context& ctx, std::uint32_t record) {
  const ClusterId me = ctx.state.record_rows[record].cluster;
  const JobId job = ctx.state.record_rows[record].job;
  const ClusterId origin = ctx.origin(job);
  JobLive& live = ctx.state.jobs[job.index()];
  if (!is_federated(ctx.state, record)) {
    // The job of a cluster that left may still run where it was sent before.
    if (live.running_record == kNoIndex) return true;
    tell(ctx, StoryKind::double_start_averted, me, job, origin);
    return false;
  }
  bool granted = false;
  if (me == origin || connected(ctx, {me, origin})) {
    granted = !call_in_flight(ctx, me, job) && set_lock(ctx, origin, me, job);
  } else if (ctx.state.database_up) {
    granted = lock_all_siblings(ctx, record);
  }
  // Real clusters that cannot see each other may both start a job; here the second one waits.
  if (granted && live.running_record != kNoIndex) {
    give_lock_back(ctx, record);
    tell(ctx, StoryKind::double_start_averted, me, job, origin);
    return false;
  }
  if (granted) {
    ctx.state.records[record].lock = tie_of(me);
    live.lock_asker = tie_of(me);
  }
  tell(ctx, granted ? StoryKind::lock : StoryKind::lock_denied, me, job, origin);
  return granted;
}

void give_lock_back(const Context& ctx, std::uint32_t record) {
  if (!is_federated(ctx.state, record)) return;
  const ClusterId me = ctx.state.record_rows[record].cluster;
  const JobId job = ctx.state.record_rows[record].job;
  const ClusterId origin = ctx.origin(job);
  ctx.state.records[record].lock = kNobody;
  if (me != origin && !connected(ctx, {me, origin})) {
    ctx.state.records[record].viable.for_each([&](ClusterId c) {
      if (c == me || connected(ctx, {me, c})) clear_lock(ctx, c, me, job);
    });
    return;
  }
  clear_lock(ctx, origin, me, job);
  // The way back to the origin; the origin itself holds the lock for no time.
  ctx.state.jobs[job.index()].lock_busy_until =
      me != origin && ctx.slurm() ? ctx.state.now + lock_call(ctx, me, job) : kNoTime;
}

Duration lock_call(const Context& ctx, ClusterId by, JobId job) {
  const std::uint64_t entity = (std::uint64_t{job.index()} << 8) | by.index();
  const auto n = static_cast<std::uint64_t>(ctx.state.now.time_since_epoch().count());
  return lock_delay(ctx.cluster(by).release, ctx.model.latency.lock_round_trip,
                    draw(ctx.options.seed, Stream::lock, entity, n));
}

void expect_update(const Context& ctx, JobId job, ClusterId to) {
  ctx.state.updates.push_back({job, to, ctx.state.now});
}

void on_update_done(const Context& ctx, JobId job, ClusterId by) {
  auto& list = ctx.state.updates;
  const auto found = std::find_if(list.begin(), list.end(), [&](const SimState::Update& u) {
    return u.job == job && u.to == by;
  });
  if (found != list.end()) list.erase(found);
}

}  // namespace fedsim
