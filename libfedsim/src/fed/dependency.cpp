// Dependencies: see dependency.hpp. Leaves out: kill_invalid_depend, expand, burst buffers.
#include "fed/dependency.hpp"

#include <algorithm>

#include "base/rng.hpp"
#include "base/text.hpp"
#include "fed/transport.hpp"

namespace fedsim {
namespace {

constexpr std::int64_t kNever = INT64_MAX;
enum class Test { waits, met, failed };

bool ended_well(const RecordRow& row, const JobRow& job) {
  // A tracking record says nothing of how the execution ended elsewhere: its exit code does.
  return row.state == RecordState::completed ||
         (row.state == RecordState::revoked && job.state == RecordState::completed);
}

/// When the job began as its origin knows it; kNoTime: it has not.
SimTime begin_of(const Context& ctx, std::uint32_t record) {
  const SimState& s = ctx.state;
  const RecordRow& row = s.record_rows[record];
  if (row.state == RecordState::revoked && s.records[record].lock != kNobody) return row.end;
  return row.state == RecordState::pending ? kNoTime : row.start;
}

/// One condition on one job, as the controller of its origin sees it.
Test test_job(const Context& ctx, const Dependency& d, JobId target, std::int64_t& due_s) {
  const SimState& s = ctx.state;
  const JobRow& job = s.job_rows[target.index()];
  // Unknown and purged jobs are no condition (semantics 13.2 point 9, LIM-07).
  const std::uint32_t r = known_record(ctx, target, ctx.origin(target));
  if (r == kNoIndex || job.state == RecordState::rejected) return Test::met;
  const bool over = is_over(s, r);
  if (d.kind == DependencyKind::after) {
    const SimTime begun = begin_of(ctx, r);
    if (begun == kNoTime) return over ? Test::met : Test::waits;
    const std::int64_t at = floor_seconds(begun) + d.delay_s;
    if (at <= floor_seconds(s.now)) return Test::met;
    due_s = std::min(due_s, at);
    return Test::waits;
  }
  if (!over) return Test::waits;
  if (d.kind == DependencyKind::afterany) return Test::met;
  const bool well = ended_well(s.record_rows[r], job);
  return well == (d.kind != DependencyKind::afternotok) ? Test::met : Test::failed;
}

/// All tasks of an array count, with aftercorr the one of the same number.
Test test_target(const Context& ctx, const Dependency& d, JobId dependent, std::int64_t& due_s) {
  Test all = Test::met;
  for (std::uint32_t k = 0; k < d.count; ++k) {
    const JobId target{d.first.index() + k};
    if (ctx.state.jobs[target.index()].newest_record == kNoIndex) continue;  // not submitted
    if (d.kind == DependencyKind::aftercorr && d.count > 1 &&
        ctx.spec(target).array_task != ctx.spec(dependent).array_task) {
      continue;
    }
    const Test one = test_job(ctx, d, target, due_s);
    if (one == Test::failed) return one;
    if (one == Test::waits) all = one;
  }
  return all;
}

/// No older job of the same name and user is known to be open at `cluster`.
bool alone(const Context& ctx, JobId job, ClusterId cluster) {
  const SimState& s = ctx.state;
  const JobSpec& mine = ctx.spec(job);
  for (std::uint32_t r = 0; r < s.record_rows.size(); ++r) {
    const RecordRow& row = s.record_rows[r];
    if (row.cluster != cluster || !s.records[r].linked || is_over(s, r)) continue;
    const JobSpec& other = ctx.spec(row.job);
    if (row.job < job && other.name == mine.name && other.user == mine.user) return false;
  }
  return true;
}

const DependencyList& list_of(const Context& ctx, JobId job) {
  return ctx.names.dependencies.at(ctx.spec(job).dependency.index());
}

ClusterId owner(const Context& ctx, const Dependency& d) {
  const bool submitted = ctx.state.jobs[d.first.index()].newest_record != kNoIndex;
  return submitted ? ctx.origin(d.first) : ClusterId{};
}

bool agreed_by_all(const Context& ctx, const Dependent& d) {
  const ClusterId origin = ctx.origin(d.job);
  if (!ctx.cluster(origin).remote_singleton) return d.agreed.has(origin);
  ClusterSet members;
  for (std::size_t c = 0; c < ctx.model.clusters.size(); ++c) {
    if (ctx.state.clusters[c].fed.joined) members.add(ClusterId{c});
  }
  return (members - d.agreed).empty();
}

/// Tests at the origin what it can test itself.
void test_here(const Context& ctx, Dependent& d, std::int64_t& due_s) {
  const DependencyList& list = list_of(ctx, d.job);
  const ClusterId me = ctx.origin(d.job);
  const bool federated = ctx.state.jobs[d.job.index()].federated;
  for (std::size_t i = 0; i < list.conditions.size(); ++i) {
    const Dependency& c = list.conditions[i];
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((d.met & bit) != 0) continue;
    if (c.kind == DependencyKind::singleton) {
      if (alone(ctx, d.job, me)) d.agreed.add(me);
      if (federated ? agreed_by_all(ctx, d) : d.agreed.has(me)) d.met |= bit;
      continue;
    }
    const ClusterId at = owner(ctx, c);
    if (at.valid() && at != me && federated) continue;
    const Test t = test_target(ctx, c, d.job, due_s);
    if (t == Test::met) d.met |= bit;
    if (t == Test::failed) d.failed |= bit;
  }
}

bool satisfied(const Context& ctx, const Dependent& d) {
  const DependencyList& list = list_of(ctx, d.job);
  const auto n = static_cast<int>(list.conditions.size());
  return list.any ? d.met != 0 : std::popcount(d.met) == n;
}

bool hopeless(const Context& ctx, const Dependent& d) {
  const DependencyList& list = list_of(ctx, d.job);
  const auto n = static_cast<int>(list.conditions.size());
  return list.any ? std::popcount(d.failed) == n : d.failed != 0;
}

void show_reason(const Context& ctx, const Dependent& d) {
  const Reason reason = hopeless(ctx, d) ? Reason::dependency_never_satisfied : Reason::dependency;
  RecordRow& row = ctx.state.record_rows[ctx.state.jobs[d.job.index()].origin_record];
  row.reason = static_cast<std::uint8_t>(reason);
}

/// Still waits at its origin.
bool waiting(const SimState& s, JobId job) {
  const std::uint32_t r = s.jobs[job.index()].origin_record;
  return r != kNoIndex && s.record_rows[r].state == RecordState::pending && s.records[r].linked;
}

/// The conditions are met: eligible from now on, with copies at its siblings. The origin itself
/// waits for its next pass (recording 05c).
void set_free(const Context& ctx, JobId job) {
  SimState& s = ctx.state;
  const std::uint32_t r = s.jobs[job.index()].origin_record;
  s.record_rows[r].eligible = std::max(s.record_rows[r].eligible, stamp(ctx, s.now));
  s.record_rows[r].reason = 0;
  if (s.records[r].priority == 0) {
    s.record_rows[r].reason = static_cast<std::uint8_t>(Reason::job_held_user);
    return;
  }
  tell(ctx, StoryKind::release, ctx.origin(job), job);
  send_copies(ctx, job, false);
}

void recount(const Context& ctx) {
  for (ClusterState& c : ctx.state.clusters) c.dependents_n = 0;
  for (const Dependent& d : ctx.state.dependents)
    ++ctx.state.clusters[ctx.origin(d.job).index()].dependents_n;
}

/// The 30 s test of a controller, on its own phase (recorded 2 to 8 s after its process began).
void plan_remote_test(const Context& ctx, ClusterId cluster) {
  ClusterState& own = ctx.state.clusters[cluster.index()];
  if (own.dependency_test_at > ctx.state.now && own.dependency_test_at != kNoTime) return;
  constexpr std::int64_t kEvery = 30'000'000'000;
  const double part = uniform(draw(ctx.options.seed, Stream::controller_phase, cluster.index(), 9));
  const std::int64_t phase = own.tick_phase_ns + static_cast<std::int64_t>(part * 6e9);
  const std::int64_t now = ctx.state.now.time_since_epoch().count();
  const std::int64_t k = (now - phase) / kEvery + 1;
  own.dependency_test_at = SimTime{Duration{phase + k * kEvery}};
  ctx.state.queue.push(
      {phase + k * kEvery, 0, 0, 0, 0, EventKind::dependency_test, tie_of(cluster)}, Phase::control,
      tie_of(cluster));
}

/// Conditions of another origin's job that `cluster` has to test: the f-th.
template <class F>
void for_each_remote(const Context& ctx, ClusterId cluster, const Dependent& d, F&& f) {
  const ClusterId origin = ctx.origin(d.job);
  if (origin == cluster || !ctx.state.jobs[d.job.index()].federated) return;
  if (!waiting(ctx.state, d.job)) return;  // cancelled meanwhile
  // Whoever left the federation is not asked, and answers nobody.
  if (!ctx.member(cluster).joined || !ctx.member(origin).joined) return;
  const DependencyList& list = list_of(ctx, d.job);
  for (std::size_t i = 0; i < list.conditions.size(); ++i) {
    if (((d.met | d.failed) >> i & 1U) != 0) continue;
    const Dependency& c = list.conditions[i];
    const bool single = c.kind == DependencyKind::singleton;
    if (single ? !d.agreed.has(cluster) : owner(ctx, c) == cluster) f(i, c);
  }
}

}  // namespace

DependencyList parse_dependency(std::string_view text, std::string& error) {
  static constexpr std::pair<std::string_view, DependencyKind> kKinds[] = {
      {"after", DependencyKind::after},         {"afterany", DependencyKind::afterany},
      {"afterok", DependencyKind::afterok},     {"afternotok", DependencyKind::afternotok},
      {"aftercorr", DependencyKind::aftercorr}, {"singleton", DependencyKind::singleton}};
  DependencyList out;
  out.any = text.find('?') != std::string_view::npos;
  for (const std::string& piece : split(text, out.any ? '?' : ',')) {
    const std::vector<std::string> words = split(piece, ':');
    const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                    [&](const auto& k) { return iequals(k.first, words[0]); });
    const bool single = kind != std::end(kKinds) && kind->second == DependencyKind::singleton;
    if (kind == std::end(kKinds) || single != (words.size() == 1)) {
      error = "can't read '" + piece + "'";
      return {};
    }
    if (single) out.conditions.push_back({kind->second, "", JobId{}, 0, 0});
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::size_t plus = words[i].find('+');
      const auto minutes = plus == std::string::npos ? std::optional<std::int64_t>{0}
                                                     : parse_int(words[i].substr(plus + 1));
      if (!minutes) error = "can't read '" + words[i] + "'";
      out.conditions.push_back(
          {kind->second, words[i].substr(0, plus), JobId{}, 0, minutes.value_or(0) * 60});
    }
  }
  if (out.conditions.size() > 64) error = "more than 64 conditions";
  return out;
}

bool is_dependent(const SimState& state, JobId job) {
  return std::any_of(state.dependents.begin(), state.dependents.end(),
                     [&](const Dependent& d) { return d.job == job; });
}

bool must_wait(const Context& ctx, JobId job) {
  if (ctx.spec(job).dependency.index() == 0) return false;
  Dependent d{job, {}, 0, 0};
  std::int64_t due_s = kNever;
  test_here(ctx, d, due_s);
  if (satisfied(ctx, d)) return false;
  show_reason(ctx, d);
  ctx.state.dependents.push_back(d);
  recount(ctx);
  return true;
}

std::int64_t clear_dependencies(const Context& ctx, ClusterId cluster) {
  SimState& s = ctx.state;
  std::int64_t due_s = kNever;
  std::vector<JobId> free;
  std::vector<JobId> lost;  // to kill_invalid_depend
  for (Dependent& d : s.dependents) {
    if (ctx.origin(d.job) != cluster || !waiting(s, d.job)) continue;
    test_here(ctx, d, due_s);
    if (satisfied(ctx, d)) free.push_back(d.job);
    show_reason(ctx, d);
    if (hopeless(ctx, d) && ctx.cluster(cluster).kill_invalid_depend) lost.push_back(d.job);
  }
  for (const JobId job : lost) {
    tell(ctx, StoryKind::cancel, cluster, job);
    cancel_pending(ctx, s.jobs[job.index()].origin_record);
    settle(ctx, job);
  }
  std::erase_if(s.dependents, [&](const Dependent& d) {
    return !waiting(s, d.job) || std::find(free.begin(), free.end(), d.job) != free.end();
  });
  recount(ctx);
  for (const JobId job : free) set_free(ctx, job);
  return due_s;
}

void wake_dependents(const Context& ctx) {
  SimState& s = ctx.state;
  for (std::size_t c = 0; c < s.clusters.size(); ++c) {
    const ClusterId cluster{c};
    if (s.clusters[c].dependents_n > 0) note_news(ctx.controller(cluster));
    for (const Dependent& d : s.dependents) {
      for_each_remote(ctx, cluster, d,
                      [&](std::size_t, const Dependency&) { plan_remote_test(ctx, cluster); });
    }
  }
}

void test_remote_dependencies(const Context& ctx, ClusterId cluster) {
  SimState& s = ctx.state;
  if (!s.clusters[cluster.index()].fed.up) return;
  for (const Dependent& d : s.dependents) {
    for_each_remote(ctx, cluster, d, [&](std::size_t i, const Dependency& c) {
      std::int64_t due_s = kNever;
      const Test t = c.kind == DependencyKind::singleton
                         ? (alone(ctx, d.job, cluster) ? Test::met : Test::waits)
                         : test_target(ctx, c, d.job, due_s);
      if (due_s != kNever) plan_remote_test(ctx, cluster);
      if (t == Test::waits) return;
      const std::uint32_t result = static_cast<std::uint32_t>(i) << 1 | (t == Test::failed);
      send(ctx, EventKind::dependency_result, {cluster, ctx.origin(d.job)}, d.job, result);
    });
  }
}

void on_dependency_result(const Context& ctx, JobId job, ClusterId from, std::uint32_t which) {
  SimState& s = ctx.state;
  const auto d = std::find_if(s.dependents.begin(), s.dependents.end(),
                              [&](const Dependent& x) { return x.job == job; });
  if (d == s.dependents.end() || !waiting(s, job)) return;
  const std::uint64_t bit = std::uint64_t{1} << (which >> 1);
  const Dependency& c = list_of(ctx, job).conditions[which >> 1];
  if (c.kind == DependencyKind::singleton) {
    d->agreed.add(from);
    if (agreed_by_all(ctx, *d)) d->met |= bit;
  } else {
    ((which & 1U) != 0 ? d->failed : d->met) |= bit;
  }
  show_reason(ctx, *d);
  if (!satisfied(ctx, *d)) return;
  s.dependents.erase(d);
  recount(ctx);
  set_free(ctx, job);
}

}  // namespace fedsim
