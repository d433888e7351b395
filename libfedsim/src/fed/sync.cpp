// Comparing two controllers' jobs when their connection is back, fed_mgr.c: semantics 1.7.
#include "fed/transport.hpp"

namespace fedsim {
namespace {

/// What the sender's list says of a job.
struct Remote {
  bool found = false;
  RecordState state = RecordState::pending;
  bool over = false;
  bool running() const { return state == RecordState::running && !over; }
  bool cancelled() const { return state == RecordState::cancelled; }
};

/// The list was made at `at`: what ended later still ran then, what started later still waited.
Remote remote_job(const Context& ctx, JobId job, ClusterId from, SimTime at) {
  const SimState& s = ctx.state;
  const std::uint32_t r = known_record(ctx, job, from);
  if (r == kNoIndex || !is_federated(s, r) || s.record_rows[r].submit >= at) return {};
  const RecordRow& row = s.record_rows[r];
  Remote out{true, row.state, is_over(s, r)};
  const bool ended_later = row.end != kNoTime && stamp(ctx, at) < row.end;
  if (out.over && ended_later) {
    out.over = false;
    out.state =
        row.start != kNoTime && row.start <= at ? RecordState::running : RecordState::pending;
  }
  if (out.running() && row.start > at) out.state = RecordState::pending;
  return out;
}

class Reconciliation {
 public:
  Reconciliation(const Context& ctx, ClusterId me, ClusterId peer)
      : ctx_(ctx),
        s_(ctx.state),
        me_(me),
        peer_(peer),
        listed_(ctx.state.clusters[peer.index()].fed.snapshot[me.index()]) {}

  void run() {
    // Records made meanwhile are not looked at.
    const auto n = static_cast<std::uint32_t>(s_.record_rows.size());
    for (std::uint32_t r = 0; r < n; ++r) {
      if (concerns(r)) compare(r);
    }
  }

 private:
  bool concerns(std::uint32_t r) const {
    const RecordRow& row = s_.record_rows[r];
    if (row.cluster != me_ || is_over(s_, r) || !is_federated(s_, r)) return false;
    if (known_record(ctx_, row.job, me_) != r || row.submit >= listed_) return false;
    const ClusterId origin = ctx_.origin(row.job);
    return origin == me_ || origin == peer_ || s_.records[r].viable.has(peer_);
  }

  void compare(std::uint32_t r) {
    const JobId job = s_.record_rows[r].job;
    const Remote remote = remote_job(ctx_, job, peer_, listed_);
    const ClusterId origin = ctx_.origin(job);
    if (origin == peer_) {
      if (!remote.found || remote.over) kill(r);
    } else if (origin != me_) {
      third_party(r, remote);
    } else if (!remote.found) {
      missing_there(r);
    } else {
      found_there(r, remote);
    }
    settle(ctx_, job);
  }

  /// The origin does not have the job any more: this copy goes, and nobody is told.
  void kill(std::uint32_t r) {
    if (s_.record_rows[r].state == RecordState::running) {
      s_.job_rows[s_.record_rows[r].job.index()].state = RecordState::cancelled;
      end_record(ctx_, r, RecordState::cancelled);
    } else {
      cancel_pending(ctx_, r);
    }
    tell(ctx_, StoryKind::cancel, me_, s_.record_rows[r].job);
  }

  void third_party(std::uint32_t r, const Remote& remote) {
    if (!remote.found || s_.record_rows[r].state != RecordState::pending) return;
    if (remote.cancelled()) {
      cancel_pending(ctx_, r);
    } else if (remote.running() || remote.over) {
      revoke_record(ctx_, r, true);
    }
  }

  void missing_there(std::uint32_t r) {
    RecordLive& live = s_.records[r];
    if (!live.active.has(peer_)) return;
    if (live.lock == peer_.index()) {
      complete(r);  // it ran there and is gone
    } else if (live.lock != kNobody) {
      live.active.remove(peer_);
    }
    // A copy that never arrived is still on its way.
  }

  void found_there(std::uint32_t r, const Remote& remote) {
    RecordLive& live = s_.records[r];
    if (live.lock == peer_.index()) {
      if (remote.over) complete(r);
      return;
    }
    if (live.lock != kNobody) {
      send_if_connected(ctx_, EventKind::sibling_complete, {me_, peer_}, s_.record_rows[r].job);
      return;
    }
    live.active.add(peer_);
    if (remote.cancelled()) {
      cancel_pending(ctx_, r);
    } else if (remote.over) {
      complete(r);
    } else if (remote.running()) {
      on_started_elsewhere(ctx_, s_.record_rows[r].job, peer_);
    }
  }

  void complete(std::uint32_t r) {
    const JobId job = s_.record_rows[r].job;
    s_.jobs[job.index()].requeueing = false;
    // Accounting gets the start of the execution that was missed.
    const std::uint32_t there = record_on(s_, job, peer_);
    const SimTime start = there != kNoIndex ? s_.record_rows[there].start : kNoTime;
    const bool waited = s_.record_rows[r].state == RecordState::pending;
    revoke_record(ctx_, r, true);
    if (waited && start != kNoTime) s_.record_rows[r].end = start;
  }

  const Context& ctx_;
  SimState& s_;
  ClusterId me_;
  ClusterId peer_;
  SimTime listed_;
};

}  // namespace

void reconcile(const Context& ctx, ClusterId cluster, ClusterId from) {
  Reconciliation(ctx, cluster, from).run();
}

}  // namespace fedsim
