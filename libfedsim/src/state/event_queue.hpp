// The future: events in one total order (at, phase, tie, seq) on a 4-ary heap.
//
// Cancelling is not removing: the subject's generation moves on and a stale event is skipped when
// popped, so the queue holds no handles and a copy of it is a copy of the future.
#pragma once

#include <boost/heap/d_ary_heap.hpp>
#include <cstddef>
#include <cstdint>

#include "fedsim/time.hpp"

namespace fedsim {

/// Order within one instant (docs/reference/event-order.md).
enum class Phase : std::uint8_t { end, control, message, submit, schedule, sample };

enum class EventKind : std::uint8_t {
  job_end,     ///< subject: record
  epilog_end,  ///< subject: allocation slot
  operation,   ///< subject: index of Trace::operations
  requeue,     ///< subject: job; the origin makes the next execution
  submit,      ///< subject: job; made from the trace, queued only while on its way from a client
  cancel,      ///< subject: job; withdrawn by its user
  main_pass,   ///< of `cluster`
  full_pass,
  backfill_pass,
  ideal_pass,
  drain_watch,      ///< of `cluster`: has a draining member finished?
  controller_up,    ///< `cluster` listens again
  dependency_test,  ///< of `cluster`: other origins' dependents on its jobs
  // Messages between controllers, to `cluster`; `aux` and `generation` as in fed/transport.hpp.
  sibling_submit,     ///< subject: job; a copy
  submit_refused,     ///< subject: job; the sender does not take its copy
  sibling_started,    ///< subject: job; the sender started it
  sibling_complete,   ///< subject: job; it is over elsewhere, or not wanted here any more
  sibling_cancel,     ///< subject: job; kill it there
  sibling_update,     ///< subject: job
  update_done,        ///< subject: job
  dependency_result,  ///< subject: job; the sender tested one of its conditions
  sync                ///< the sender's jobs as it knew them when the connection was made
};

/// Kinds from here on are messages.
constexpr bool is_message(EventKind kind) {
  return kind >= EventKind::sibling_submit;
}

/// Kinds that only look whether there is something to do, and come again for ever.
constexpr bool is_poll(EventKind kind) {
  return kind == EventKind::main_pass || kind == EventKind::full_pass ||
         kind == EventKind::backfill_pass || kind == EventKind::drain_watch ||
         kind == EventKind::dependency_test;
}

/// 32 bytes. `order` packs phase, tie and creation counter.
struct Event {
  std::int64_t at = 0;
  std::uint64_t order = 0;
  std::uint32_t subject = 0;
  std::uint32_t aux = 0;
  std::uint32_t generation = 0;
  EventKind kind = EventKind::submit;
  std::uint8_t cluster = 0;
};
static_assert(sizeof(Event) == 32);

/// What the order key is made of.
struct EventOrder {
  Phase phase = Phase::end;
  std::uint8_t tie = 0;
  std::uint64_t seq = 0;
};

constexpr std::uint64_t pack_order(EventOrder o) {
  return (static_cast<std::uint64_t>(o.phase) << 56) | (std::uint64_t{o.tie} << 48) |
         (o.seq & 0xffff'ffff'ffffULL);
}
constexpr Phase phase_of(std::uint64_t order) {
  return static_cast<Phase>(order >> 56);
}

/// Total order: two events never compare equal, because creation counters differ.
constexpr bool before(const Event& a, const Event& b) {
  return a.at != b.at ? a.at < b.at : a.order < b.order;
}

class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  const Event& top() const { return heap_.top(); }
  void pop() {
    polls_ -= is_poll(heap_.top().kind) ? 1U : 0U;
    heap_.pop();
  }
  /// Nothing will happen but passes that look at the same queues again.
  bool only_polls() const { return polls_ == heap_.size(); }
  /// Adds `event` with the next creation counter.
  void push(Event event, Phase phase, std::uint8_t tie) {
    event.order = pack_order({phase, tie, next_seq_++});
    heap_.push(event);
    polls_ += is_poll(event.kind) ? 1U : 0U;
  }
  void reserve(std::size_t n) { heap_.reserve(n); }

 private:
  struct Later {
    bool operator()(const Event& a, const Event& b) const { return before(b, a); }
  };
  boost::heap::d_ary_heap<Event, boost::heap::arity<4>, boost::heap::compare<Later>> heap_;
  std::uint64_t next_seq_ = 0;
  std::size_t polls_ = 0;
};

}  // namespace fedsim
