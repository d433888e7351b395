// Messages between controllers, and the connections they need (semantics 1.5, 1.7).
//
// A message is an event of its receiver. `aux` holds the sender and a small payload; `generation`
// how often it was tried and which life of the sender's controller queued it.
#pragma once

#include "fed/context.hpp"

namespace fedsim {

struct Route {
  ClusterId from;
  ClusterId to;
};

/// Queues a message; it arrives after the sibling latency (at once in ideal runs) if the connection
/// is open, else it is tried again after 2, 4, 8 ... seconds.
void send(const Context& ctx, EventKind kind, Route route, JobId job, std::uint32_t payload = 0);

/// Like send(), but dropped when the connection is closed, as slurmctld does with revocations and
/// completions.
void send_if_connected(const Context& ctx, EventKind kind, Route route, JobId job,
                       std::uint32_t payload = 0);

/// A message is due: whether it gets through. If not it has been queued again, or is lost.
bool arrives(const Context& ctx, const Event& message);

constexpr ClusterId sender_of(const Event& message) {
  return ClusterId{message.aux & 0xffU};
}
constexpr std::uint32_t payload_of(const Event& message) {
  return message.aux >> 8;
}

bool connected(const Context& ctx, Route route);

/// Every member is up and connected: how a run begins.
void connect_all(const FederationModel& model, SimState& state);

void stop_controller(const Context& ctx, ClusterId cluster);
void start_controller(const Context& ctx, ClusterId cluster);
/// slurmctld of `cluster` has read its state and listens.
void on_controller_up(const Context& ctx, const Event& event);
void cut_link(const Context& ctx, Route route);
void mend_link(const Context& ctx, Route route);
/// Opens connections to every member that can be reached.
void connect_member(const Context& ctx, ClusterId cluster);
/// The list of `route.from`'s jobs has come: `route.to` compares it with its own, and answers with
/// its list unless this is the answer.
void on_sync(const Context& ctx, Route route, bool answer);
/// Closes every connection of a cluster that leaves the federation.
void disconnect(const Context& ctx, ClusterId cluster);

/// Whether the cluster's passes may start jobs: its controller is up, not INACTIVE, and every
/// connected sibling is in step (semantics 1.7, 1.8).
bool may_schedule(const Context& ctx, ClusterId cluster);

}  // namespace fedsim
