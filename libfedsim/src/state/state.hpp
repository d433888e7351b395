// Everything that changes during a run, as plain tables: a copy of SimState is a checkpoint and a
// branch.
#pragma once

#include <cstdint>
#include <vector>

#include "base/reason.hpp"
#include "fedsim/ids.hpp"
#include "fedsim/result.hpp"
#include "state/event_queue.hpp"
#include "state/federation.hpp"
#include "state/node_pool.hpp"

namespace fedsim {

inline constexpr std::uint32_t kNoIndex = UINT32_MAX;

/// What is true of a submission, whoever knows it; beside its JobRow. Controllers act on what their
/// own records say (RecordLive).
struct JobLive {
  SimTime lock_busy_until = kNoTime;  ///< a lock call of `lock_asker` occupies the job until then
  SimTime eligible = kNoTime;         ///< begin time of the current execution
  std::uint32_t newest_record = kNoIndex;  ///< head of the chain over RecordLive::previous
  std::uint32_t origin_record = kNoIndex;  ///< the origin's, of the current execution
  std::uint32_t running_record = kNoIndex;
  StringId clusters{0};            ///< --clusters, as last updated
  StringId cluster_constraint{0};  ///< --cluster-constraint, as last updated
  std::uint8_t lock_asker = kNobody;
  bool federated = false;
  bool finished = false;
  bool requeue_held = false;  ///< requeuehold: the next execution is held
  bool requeueing = false;    ///< requeue asked, completion not yet reported
};

/// What a queue record needs beyond its row. The sets and the lock are what this record's
/// controller knows (semantics 1.2).
struct RecordLive {
  ClusterSet viable;                  ///< clusters that may run the job
  ClusterSet active;                  ///< clusters that have it queued or run it
  std::uint32_t previous = kNoIndex;  ///< older record of the same job
  std::uint32_t slot = kNoIndex;      ///< live allocation
  std::uint32_t priority = 0;         ///< 0: held
  std::int64_t submit_s = 0;          ///< sort key: whole seconds, as slurmctld keeps it
  std::uint16_t generation = 0;       ///< events of older generations are stale
  std::uint8_t lock = kNobody;        ///< cluster that may start the job, or started it
  bool queued = false;
  bool linked = true;     ///< its controller still finds it by the job's id
  bool tracking = false;  ///< origin's: REVOKED, and the job is queued or runs elsewhere
  bool detached = false;  ///< its cluster left the federation: an ordinary job from then on
};

/// One allocation while it holds resources.
struct LiveAllocation {
  std::uint32_t record = kNoIndex;
  std::vector<NodeShare> shares;
};

/// Pending record in scheduling order.
struct QueueEntry {
  std::uint32_t record = 0;
  std::uint32_t partition = 0;
  std::uint32_t demand = 0;  ///< index of the run's demand table
};

/// A running job as backfill sees it: when its limit ends.
struct RunningEntry {
  std::int64_t end_s = 0;  ///< start + limit, whole seconds; INT64_MAX without limit
  std::uint32_t slot = 0;
  std::uint32_t record = 0;
};

/// One controller: its nodes, queue, loops and counters.
struct ClusterState {
  NodePool pool;
  Member fed;
  std::vector<QueueEntry> queue;  ///< sorted; entries of records no longer queued are skipped
  std::size_t queue_dead = 0;
  std::size_t queued_n = 0;
  std::size_t dependents_n = 0;  ///< jobs of this origin that wait for others
  SimTime dependency_test_at = kNoTime;
  bool iterating = false;             ///< a pass walks the queue: entries must stay where they are
  std::vector<RunningEntry> running;  ///< by (end_s, record)
  std::uint32_t next_local_id = 0;    ///< 0: none was given yet
  bool ids_went_round = false;
  std::uint32_t next_priority = 0;
  // Loops, see sched/triggers.cpp. Times in whole seconds are slurmctld's time(NULL).
  std::int64_t tick_phase_ns = 0;  ///< instant of tick 0 of the background loop
  std::int64_t tick_period_ns = 0;
  std::int64_t last_main_s = INT64_MIN / 2;
  std::int64_t last_full_s = INT64_MIN / 2;
  bool pass_requested = false;
  std::uint32_t pass_generation = 0;  ///< of the scheduled main-pass event
  SimTime pass_at = kNoTime;          ///< when that event is due; kNoTime: none
  std::int64_t bf_next_ns = 0;        ///< earliest next attempt of the backfill thread
  std::int64_t bf_last_s = 0;         ///< end of the last cycle
  std::int64_t last_update_s = 0;     ///< last change of a job or node
  std::int64_t next_eligible_s =
      INT64_MAX;                 ///< earliest begin time of a queued record, when in the future
  bool changed_for_main = true;  ///< something that may let a job start since the last full look
  bool changed_for_backfill = true;  ///< anything at all since the last cycle
  bool backfill_tested = false;      ///< the last cycle found jobs to test
  std::uint32_t bf_generation = 0;
  SimTime bf_at = kNoTime;
};

/// Copyable state of a run. No pointers; indices only.
struct SimState {
  SimTime now{};
  SimTime last_change{};           ///< last event that was not a poll
  SimTime client_free{};           ///< the last command typed is done
  std::size_t submits_on_way = 0;  ///< typed, and not yet at their controller
  EventQueue queue;
  std::size_t next_submit = 0;  ///< cursor over Trace::jobs
  std::size_t next_operation = 0;
  std::uint64_t events = 0;
  std::uint64_t fingerprint = 0x66656473696d2131ULL;
  std::uint64_t main_passes = 0;
  std::uint64_t backfill_passes = 0;
  std::size_t jobs_done = 0;

  std::vector<JobRow> job_rows;
  std::vector<JobLive> jobs;
  std::vector<RecordRow> record_rows;
  std::vector<RecordLive> records;
  std::vector<AllocationRow> allocation_rows;
  std::vector<Placement> placements;
  std::vector<StoryEvent> story;

  std::vector<LiveAllocation> slots;
  std::vector<std::uint32_t> free_slots;
  std::vector<ClusterState> clusters;
  bool database_up = true;  ///< slurmdbd
  /// Updates of jobs that a sibling has not confirmed.
  struct Update {
    JobId job;
    ClusterId to;
    SimTime sent{};
  };
  std::vector<Update> updates;
  std::vector<ArrayLive> arrays;
  std::vector<Dependent> dependents;
  std::vector<Event> parked;  ///< messages without a connection, and what waits for a controller
  ClusterSet dirty;           ///< ideal runs: clusters to schedule before time moves on
};

/// Current record of `job` on `cluster` (the newest), or kNoIndex.
std::uint32_t record_on(const SimState& state, JobId job, ClusterId cluster);

/// Inserts an entry at its place in the queue: tier, priority, submission, job id. A record with
/// several partitions has an entry for each.
void enqueue(SimState& state, const ClusterModel& model, ClusterId cluster, QueueEntry entry);
/// Marks a record as gone; its entries are dropped later, when dead ones are many. For good: a
/// record that may come back (hold) is removed with forget().
void dequeue(SimState& state, ClusterId cluster, std::uint32_t record);
void forget(SimState& state, ClusterId cluster, std::uint32_t record);
/// Brackets a pass: while it runs, dead entries stay in place.
void begin_iteration(ClusterState& cluster);
void end_iteration(SimState& state, ClusterId cluster);

/// A free allocation slot, its shares emptied.
std::uint32_t take_slot(SimState& state);
void give_slot(SimState& state, std::uint32_t slot);

void add_running(ClusterState& cluster, RunningEntry entry);
void remove_running(ClusterState& cluster, RunningEntry entry);

/// Every invariant: no GPU, CPU or MiB held twice, free plus held equals installed, no job with two
/// running allocations, queue and records agree, jobs conserved. Throws InternalError. O(state).
void audit(const FederationModel& model, const SimState& state);

}  // namespace fedsim
