// What a scheduler may do while it looks at one cluster's queue. It sees no federation: the host
// asks the origin's lock where Slurm does, after the job looks startable and before nodes are
// taken.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sched/select.hpp"
#include "state/state.hpp"
#include "submit/demand.hpp"

namespace fedsim {

/// Implemented by the engine; one per pass.
class PassHost {
 public:
  virtual ~PassHost() = default;
  /// Asks for the job's start lock. False: another cluster has it (reason FedJobLock).
  virtual bool lock(std::uint32_t record) = 0;
  /// Gives a granted lock back without starting.
  virtual void unlock(std::uint32_t record) = 0;
  /// Starts the record on `shares` in the entry's partition.
  virtual void start(const QueueEntry& entry, const std::vector<NodeShare>& shares,
                     bool backfilled) = 0;
  virtual void set_reason(std::uint32_t record, Reason reason) = 0;
  /// Tasks of the record's job array that run now.
  virtual std::uint32_t array_running(std::uint32_t record) const = 0;
};

/// Where one running job is: words [first, first + n) of a node set, stored from `offset` on.
struct RunningWords {
  std::uint32_t first = 0, n = 0;
  std::size_t offset = 0;
};

/// Within a backfill cycle: no `need` nodes are free together for `limit` seconds before `at`, for
/// jobs of one demand or, UINT32_MAX, for those that ask for CPUs only.
struct NoneBefore {
  std::uint32_t demand = 0;
  std::size_t need = 0;
  std::int64_t limit = 0, at = 0;
};

/// What a will-run test found before: whether the job fits, and on which nodes.
struct KnownFit {
  bool fits = false;
  std::vector<std::uint32_t> nodes;
};

/// A component of a heterogeneous job that could start in this backfill cycle, and what it would
/// hold.
struct HetComponent {
  QueueEntry entry;
  std::vector<NodeShare> shares;
};

/// Components of the heterogeneous job that `job` is one of, as indices [first, last) of the trace:
/// they stand together.
struct ComponentRange {
  std::size_t first = 0, last = 0;
};
ComponentRange components_of(const Trace& trace, JobId job);

/// Buffers of all schedulers, kept between passes so that the hot loop allocates nothing.
struct PassScratch {
  SelectScratch select;
  std::vector<NodeShare> shares;
  Bitmap open;
  Bitmap job_nodes;
  Bitmap reserved;
  std::vector<std::uint8_t> failed_partitions;
  std::vector<std::uint32_t> taken_away;  ///< slots released by a will-run test
  std::vector<std::uint8_t> is_away;      ///< by running job: it is among them
  std::vector<std::uint64_t> gone_keys;   ///< FreeBy: of the first k running jobs
  std::unordered_map<std::uint64_t, KnownFit> known_fits;
  std::vector<std::int64_t> slice_begin;  ///< backfill plan: slices in order of time
  std::vector<std::uint32_t> slice_rows;  ///< row of each slice in slice_words
  std::vector<std::uint64_t> slice_words;
  std::vector<std::uint8_t> slice_gains;   ///< the next slice offers nodes that this one lacks
  std::vector<std::uint64_t> window_rows;  ///< SlidingAnd
  Bitmap window_back;
  std::vector<std::int64_t> free_ends;  ///< FreeBy
  std::vector<RunningWords> running_words;
  std::vector<std::uint64_t> running_bits;
  std::vector<std::uint64_t> free_rows;
  std::vector<std::size_t> free_counts;
  std::vector<std::uint32_t> shape_of;    ///< by demand, plus 1; 0: not built
  std::vector<std::uint8_t> could_start;  ///< Reach
  Bitmap reach_nodes;
  std::vector<NoneBefore> none_before;
  std::vector<HetComponent> het_components;
  Bitmap base;  ///< nodes that the entry may use
  Bitmap candidates;
};

/// One pass's view of its cluster.
struct PassView {
  const FederationModel& federation;
  const ClusterModel& model;
  const Trace& trace;
  SimState& state;
  ClusterId cluster;
  const std::vector<Demand>& demands;
  PassScratch& scratch;
  PassHost& host;
  std::int64_t now_s = 0;  ///< slurmctld's clock: whole seconds
  bool any_het = false;    ///< the trace has heterogeneous jobs

  ClusterState& own() const { return state.clusters[cluster.index()]; }
  const Demand& demand(const QueueEntry& e) const { return demands[e.demand]; }
  const PartitionModel& partition(const QueueEntry& e) const {
    return model.partitions[e.partition];
  }
  const JobSpec& spec(const QueueEntry& e) const {
    return trace.jobs[state.record_rows[e.record].job.index()];
  }
  /// Seconds the job may run in the entry's partition; kUnlimited.
  std::int64_t limit_s(const QueueEntry& e) const;
};

/// A task of an array of which as many run as may (--array=0-9%2).
bool array_is_full(const PassView& v, const QueueEntry& e);

/// --switches: more leaf switches than asked for, and the job still waits for fewer.
bool waits_for_switches(const PassView& v, const QueueEntry& e,
                        const std::vector<NodeShare>& shares);

/// How a pass ended, for skipping the next one when nothing changed.
struct PassOutcome {
  bool reached_end = true;  ///< the whole queue was looked at
  bool look_again = false;  ///< a lock was denied, or a job waits for its switches
  int tested = 0;  ///< backfill: jobs that reached the test
};

/// slurmctld's main pass (semantics 4.3): strict order within a partition. `full`: no depth limit.
PassOutcome main_pass(const PassView& view, bool full);

/// One cycle of sched/backfill (semantics 5.3 to 5.5).
PassOutcome backfill_pass(const PassView& view);

/// Textbook policies at every event: fcfs, EASY, conservative.
void ideal_pass(const PassView& view, Policy policy, SimTime now);

}  // namespace fedsim
