// Messages and connections, fed_mgr.c: see transport.hpp. Times of restarts and retries are those
// of the recordings 09.
#include "fed/transport.hpp"

#include <algorithm>

#include "base/delays.hpp"

namespace fedsim {
namespace {

/// Up to 23.11 a sibling's list of jobs is refused while the restarted controller opens its port,
/// and comes with the next try; later releases take it at once.
constexpr Duration kFirstSync22{3'100'000'000};
constexpr Duration kFirstSync24{150'000'000};
/// The sending thread wakes every two seconds and tries what is older than its wait.
constexpr Duration kWake{1'500'000'000};
constexpr std::uint32_t kLongestWait = 30;  ///< doublings

/// Messages between two controllers arrive in the order in which they were queued.
void push(const Context& ctx, Event message, Duration delay) {
  std::int64_t& last = ctx.member(sender_of(message)).last_arrival[message.cluster];
  message.at = (ctx.state.now + std::max(delay, Duration{1})).time_since_epoch().count();
  message.at = last = std::max(message.at, last + 1);
  ctx.state.queue.push(message, Phase::message, message.cluster);
}

Duration latency(const Context& ctx, Route route, JobId job) {
  if (!ctx.slurm()) return Duration{1};
  const std::uint64_t entity = (std::uint64_t{job.index()} << 16) |
                               (std::uint64_t{tie_of(route.from)} << 8) | tie_of(route.to);
  const auto n = static_cast<std::uint64_t>(ctx.state.now.time_since_epoch().count());
  return message_delay(ctx.cluster(route.from).release, ctx.model.latency.sibling_message,
                       draw(ctx.options.seed, Stream::latency, entity, n));
}

Event make_message(const Context& ctx, EventKind kind, Route route, JobId job,
                   std::uint32_t payload) {
  const std::uint32_t life = ctx.member(route.from).life;
  return {0,         0,    job.index(),     (payload << 8) | tie_of(route.from),
          life << 8, kind, tie_of(route.to)};
}

/// The list of `from`'s jobs, as of now, for `to`. The first one is answered.
void send_sync(const Context& ctx, Route route, Duration delay, bool answer) {
  ctx.member(route.from).snapshot[route.to.index()] = ctx.state.now;
  ctx.member(route.to).unsynced.add(route.from);
  push(ctx, make_message(ctx, EventKind::sync, route, JobId{0}, answer ? 1 : 0), delay);
}

bool may_connect(const Context& ctx, Route route) {
  const Member& a = ctx.member(route.from);
  const Member& b = ctx.member(route.to);
  return ctx.model.federated && route.from != route.to && a.joined && b.joined && a.up && b.up &&
         !a.cut_off.has(route.to);
}

void close(const Context& ctx, Route route) {
  ctx.member(route.from).sends_to.remove(route.to);
  ctx.member(route.to).sends_to.remove(route.from);
  ctx.member(route.from).unsynced.remove(route.to);
  ctx.member(route.to).unsynced.remove(route.from);
}

/// Waits double from two seconds on, whether or not anybody listens: the next try after now.
void try_again(const Context& ctx, Route route) {
  std::vector<Event> due;
  std::erase_if(ctx.state.parked, [&](const Event& e) {
    const bool mine =
        is_message(e.kind) && e.cluster == tie_of(route.to) && sender_of(e) == route.from;
    if (mine) due.push_back(e);
    return mine;
  });
  for (Event e : due) {
    std::uint32_t tries = e.generation & 0xffU;
    const std::int64_t now = ctx.state.now.time_since_epoch().count();
    do {
      e.at += (Duration{2'000'000'000LL << std::min(tries, kLongestWait)} + kWake).count();
      ++tries;
    } while (e.at <= now);
    e.generation = (e.generation & ~0xffU) | std::min(tries, 0xffU);
    ctx.state.queue.push(e, Phase::message, e.cluster);
  }
}

void connect(const Context& ctx, Route route) {
  ctx.member(route.from).sends_to.add(route.to);
  try_again(ctx, route);
}

/// `from` reaches `to` first; the connection back follows with the answer.
void open(const Context& ctx, Route route) {
  if (!may_connect(ctx, route)) return;
  connect(ctx, route);
  const bool at_once = has_aligned_passes(ctx.cluster(route.from).release);
  const Duration sync = at_once ? kFirstSync24 : kFirstSync22;
  send_sync(ctx, {route.to, route.from}, ctx.slurm() ? sync : Duration{1}, false);
}

/// No slurmctld of the cluster runs any more. What it had queued to be sent is lost with it.
void leave_service(const Context& ctx, ClusterId cluster) {
  Member& m = ctx.member(cluster);
  ++m.life;
  if (!m.up) return;
  std::erase_if(ctx.state.parked,
                [&](const Event& e) { return is_message(e.kind) && sender_of(e) == cluster; });
  tell(ctx, StoryKind::controller_down, cluster, JobId{});
  m.up = false;
  disconnect(ctx, cluster);
}

/// Unless it is stopped again before.
void push_controller_up(const Context& ctx, ClusterId cluster, Duration delay) {
  const SimTime at = ctx.state.now + delay;
  ctx.state.queue.push({at.time_since_epoch().count(), 0, 0, 0, ctx.member(cluster).life,
                        EventKind::controller_up, tie_of(cluster)},
                       Phase::control, tie_of(cluster));
}

/// The backup asks the primary every third of SlurmctldTimeout, and takes over at the first such
/// time that lies more than SlurmctldTimeout after the last answer (slurmctld/backup.c, 22.05 to
/// 26.05): by 3/3 to 4/3 of it after the failure, as the last answer came up to a third before.
Duration takeover_delay(const Context& ctx, ClusterId cluster) {
  const std::uint64_t entity = (std::uint64_t{ctx.member(cluster).life} << 8) | cluster.index();
  const double answered = uniform(draw(ctx.options.seed, Stream::backup_ping, entity, 0));
  const auto timeout = static_cast<double>(ctx.cluster(cluster).controller_timeout_s);
  return std::max(seconds_to_duration(timeout / 3 * (4 - answered)), Duration{kSecond});
}

}  // namespace

void send(const Context& ctx, EventKind kind, Route route, JobId job, std::uint32_t payload) {
  push(ctx, make_message(ctx, kind, route, job, payload), latency(ctx, route, job));
}

void send_if_connected(const Context& ctx, EventKind kind, Route route, JobId job,
                       std::uint32_t payload) {
  if (connected(ctx, route)) {
    send(ctx, kind, route, job, payload);
  } else {
    tell(ctx, StoryKind::message_lost, route.from, job, route.to);
  }
}

bool arrives(const Context& ctx, const Event& message) {
  const Route route{sender_of(message), ClusterId{int{message.cluster}}};
  Member& from = ctx.member(route.from);
  if (from.life != ((message.generation >> 8) & 0xffU) || !from.joined ||
      !ctx.member(route.to).joined) {
    return false;
  }
  if (message.kind == EventKind::sync && may_connect(ctx, route)) {
    connect(ctx, route);
    return true;
  }
  if (connected(ctx, route)) return true;
  if (message.kind == EventKind::sync) return false;  // a new connection makes a new list
  ctx.state.parked.push_back(message);
  tell(ctx, StoryKind::message_retry, route.from, JobId{message.subject}, route.to);
  return false;
}

bool connected(const Context& ctx, Route route) {
  return ctx.member(route.from).sends_to.has(route.to);
}

void connect_all(const FederationModel& model, SimState& state) {
  if (!model.federated) return;
  const std::size_t n = model.clusters.size();
  for (std::size_t c = 0; c < n; ++c) {
    Member& m = state.clusters[c].fed;
    m.sends_to = ClusterSet::first(n) - ClusterSet::only(ClusterId{c});
    m.snapshot.assign(n, kNoTime);
    m.last_arrival.assign(n, 0);
  }
}

void stop_controller(const Context& ctx, ClusterId cluster) {
  Member& m = ctx.member(cluster);
  if (!m.primary_up) return;
  m.primary_up = false;
  leave_service(ctx, cluster);
  if (ctx.cluster(cluster).backup_controller)
    push_controller_up(ctx, cluster, takeover_delay(ctx, cluster));
}

void start_controller(const Context& ctx, ClusterId cluster) {
  Member& m = ctx.member(cluster);
  if (m.primary_up) return;
  m.primary_up = true;
  if (m.up) leave_service(ctx, cluster);  // the backup gives control back
  const std::uint64_t entity = (std::uint64_t{m.life} << 8) | cluster.index();
  const std::uint64_t bits = draw(ctx.options.seed, Stream::controller_boot, entity, 1);
  push_controller_up(ctx, cluster,
                     ctx.slurm() ? restart_delay(ctx.cluster(cluster).release, bits) : Duration{1});
}

void on_controller_up(const Context& ctx, const Event& event) {
  const ClusterId cluster{event.cluster};
  Member& m = ctx.member(cluster);
  if (m.up || event.generation != m.life) return;
  m.up = true;
  tell(ctx, m.primary_up ? StoryKind::controller_up : StoryKind::takeover, cluster, JobId{});
  restart_loops(ctx.controller(cluster));
  resume_parked(ctx, cluster);
  connect_member(ctx, cluster);
  request_pass(ctx.controller(cluster));
}

void connect_member(const Context& ctx, ClusterId cluster) {
  if (!ctx.model.federated) return;
  for (std::size_t c = 0; c < ctx.model.clusters.size(); ++c) open(ctx, {cluster, ClusterId{c}});
}

void on_sync(const Context& ctx, Route route, bool answer) {
  reconcile(ctx, route.to, route.from);
  ctx.member(route.to).unsynced.remove(route.from);
  if (answer) return;
  const Route back{route.to, route.from};
  send_sync(ctx, back, latency(ctx, back, JobId{0}), true);
}

void cut_link(const Context& ctx, Route route) {
  ctx.member(route.from).cut_off.add(route.to);
  ctx.member(route.to).cut_off.add(route.from);
  tell(ctx, StoryKind::link_down, route.from, JobId{}, route.to);
  close(ctx, route);
}

void mend_link(const Context& ctx, Route route) {
  ctx.member(route.from).cut_off.remove(route.to);
  ctx.member(route.to).cut_off.remove(route.from);
  tell(ctx, StoryKind::link_up, route.from, JobId{}, route.to);
  if (!connected(ctx, route)) open(ctx, route);
}

void disconnect(const Context& ctx, ClusterId cluster) {
  for (std::size_t c = 0; c < ctx.model.clusters.size(); ++c) close(ctx, {cluster, ClusterId{c}});
}

bool may_schedule(const Context& ctx, ClusterId cluster) {
  const Member& m = ctx.member(cluster);
  return m.schedules() && (m.unsynced & m.sends_to).empty();
}

}  // namespace fedsim
