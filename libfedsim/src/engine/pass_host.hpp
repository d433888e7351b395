// What a pass may do, carried out on the federation: the seam between sched/ and fed/.
#pragma once

#include "fed/context.hpp"
#include "sched/pass.hpp"

namespace fedsim {

class FederatedHost final : public PassHost {
 public:
  explicit FederatedHost(const Context& ctx) : ctx_(ctx) {}

  bool lock(std::uint32_t record) override { return ask_lock(ctx_, record); }
  void unlock(std::uint32_t record) override { give_lock_back(ctx_, record); }
  void start(const QueueEntry& entry, const std::vector<NodeShare>& shares,
             bool backfilled) override {
    ++started_;
    start_record(ctx_, entry, shares, backfilled);
  }
  void set_reason(std::uint32_t record, Reason reason) override {
    ctx_.state.record_rows[record].reason = static_cast<std::uint8_t>(reason);
  }
  std::uint32_t array_running(std::uint32_t record) const override {
    const JobSpec& spec = ctx_.spec(ctx_.state.record_rows[record].job);
    return ctx_.state.arrays[ctx_.names.arrays.at(spec.array_job)].running;
  }
  std::uint64_t started() const { return started_; }

 private:
  const Context& ctx_;
  std::uint64_t started_ = 0;
};

}  // namespace fedsim
