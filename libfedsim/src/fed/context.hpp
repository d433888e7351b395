// What the federation's rules work on: the immutable input, the state, and the demand table of the
// run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fed/demand_table.hpp"
#include "fed/names.hpp"
#include "fedsim/simulation.hpp"
#include "sched/triggers.hpp"
#include "state/state.hpp"

namespace fedsim {

/// TOP_PRIORITY of priority/basic; the first job gets one less (recordings: 4294901759).
inline constexpr std::uint32_t kTopPriority = 0xFFFF'0000U;

struct Context {
  const FederationModel& model;
  const Trace& trace;
  const RunOptions& options;
  SimState& state;
  DemandTable& demands;
  const NameTable& names;
  const std::vector<ControllerView>& controllers;  ///< by cluster
  Observer* observer = nullptr;

  const ClusterModel& cluster(ClusterId c) const { return model.clusters[c.index()]; }
  const JobSpec& spec(JobId j) const { return trace.jobs[j.index()]; }
  Controller controller(ClusterId c) const { return {cluster(c), options, state, c}; }
  Member& member(ClusterId c) const { return state.clusters[c.index()].fed; }
  ClusterId origin(JobId j) const { return state.job_rows[j.index()].origin; }
  bool slurm() const { return options.fidelity == Fidelity::slurm; }
};

/// Adds a line to the story when somebody wants it.
void tell(const Context& ctx, StoryKind kind, ClusterId where, JobId job, ClusterId other = {});

/// slurmctld's answer to a submission on `cluster`: a refusal, or none. Computed once for all jobs
/// that it can't tell apart.
Reason refusal_of(const Context& ctx, ClusterId cluster, const JobSpec& spec);

/// Index of the demand of `request` on a partition, with whether it ever fits (computed once).
DemandTable::Verdict demand_of(const Context& ctx, ClusterId c, PartitionId p,
                               std::uint32_t request);

/// Time stamp as a controller writes it: whole seconds under slurm fidelity, exact in ideal runs.
SimTime stamp(const Context& ctx, SimTime t);

/// A cluster as events hold it, and as they are told apart within one instant.
inline std::uint8_t tie_of(ClusterId c) {
  return static_cast<std::uint8_t>(c.index());
}

/// What `cluster`'s controller knows of the job: its record, unless revoked or purged; kNoIndex.
std::uint32_t known_record(const Context& ctx, JobId job, ClusterId cluster);
/// Known to be over: ended, or REVOKED and no longer followed.
bool is_over(const SimState& state, std::uint32_t record);
/// Whether the record still follows the federation's protocol.
bool is_federated(const SimState& state, std::uint32_t record);

// submit.cpp
// -------------------------------------------------------------------------------------------

/// A submission reaches its origin: verdict, federated id, tracking record, copies to viable
/// siblings.
/// `asked`: the cluster that sbatch chose by its estimates; invalid where it asked none.
void submit_job(const Context& ctx, JobId job, ClusterId asked = ClusterId{});
/// The next local id of a cluster: from FirstJobId to MaxJobId and round again, without those of
/// jobs that its controller still knows (O(jobs) a submission after the first round).
std::uint32_t take_local_id(const Context& ctx, ClusterId cluster);
/// The first partition of the job's list that would take it on `cluster`, and what it asks there;
/// nothing when the cluster refuses the job.
struct PlaceOnCluster {
  PartitionId partition;
  std::uint32_t demand = 0;
};
std::optional<PlaceOnCluster> place_of(const Context& ctx, ClusterId cluster, const JobSpec& spec);
/// A copy reaches `cluster`: its own verdict and record.
void receive_copy(const Context& ctx, ClusterId cluster, JobId job);
/// The origin gives the job to the members that may run it now: after its submission, a requeue or
/// a release.
void send_copies(const Context& ctx, JobId job, bool looks_at_once = true);
/// The origin learns that `by` does not take its copy.
void on_submit_refused(const Context& ctx, JobId job, ClusterId by);
/// Copies to the members in `to`, which become active.
void submit_siblings(const Context& ctx, JobId job, ClusterSet to);
/// Members that the job may run on by its options as they are now; draining and inactive ones
/// don't count (semantics 1.3 point 4).
ClusterSet viable_siblings(const Context& ctx, JobId job, Reason& refusal);
/// New record of `job` on `cluster`, chained to its older ones. `eligible` kNoTime: its submission.
std::uint32_t make_record(const Context& ctx, ClusterId cluster, JobId job, SimTime eligible);
/// A record that was REVOKED, or never queued, waits in its cluster's queue (again).
void queue_again(const Context& ctx, std::uint32_t record, bool looks_at_once = true);
/// Puts a pending record into its cluster's queue. `looks_at_once`: and asks for a pass.
void queue_record(const Context& ctx, std::uint32_t record, bool looks_at_once = true);

// lock.cpp
// ---------------------------------------------------------------------------------------------

/// Start lock of the record's job, asked by its cluster (semantics 1.6, 1.7). Always granted
/// outside a federation.
bool ask_lock(const Context& ctx, std::uint32_t record);
void give_lock_back(const Context& ctx, std::uint32_t record);
/// How long a call for the lock takes to the origin, or back.
Duration lock_call(const Context& ctx, ClusterId by, JobId job);
/// An update of the job was sent to `to`; the origin grants no lock until it is done, or for 60 s.
void expect_update(const Context& ctx, JobId job, ClusterId to);
void on_update_done(const Context& ctx, JobId job, ClusterId by);

// start_revoke.cpp
// -------------------------------------------------------------------------------------

/// The record starts: allocation, end event, notice to the origin or revocation of the siblings.
void start_record(const Context& ctx, const QueueEntry& entry, const std::vector<NodeShare>& shares,
                  bool backfilled);
/// The origin learns that `by` started the job.
void on_started_elsewhere(const Context& ctx, JobId job, ClusterId by);
/// `cluster` learns that the job is over elsewhere, or that its copy is not wanted any more.
void on_complete_elsewhere(const Context& ctx, JobId job, ClusterId cluster);
/// The record becomes REVOKED; `complete`: for good.
void revoke_record(const Context& ctx, std::uint32_t record, bool complete);
/// Tells those of `to` that can be reached that the job is over, or not wanted there.
void tell_complete(const Context& ctx, ClusterId from, ClusterSet to, JobId job);
/// Tells the active siblings that they may drop their copies. At the origin.
void revoke_siblings(const Context& ctx, std::uint32_t record);
/// A record's execution or wait is over: the origin or the siblings are told.
void report_end(const Context& ctx, std::uint32_t record);
/// The execution ends by itself or at its limit. False: its controller is down and learns of it
/// later.
bool on_job_end(const Context& ctx, const Event& event);
void on_epilog_end(const Context& ctx, std::uint32_t slot);
/// The controller of `cluster` is back: ends and commands that waited for it are due again.
void resume_parked(const Context& ctx, ClusterId cluster);
/// Ends a running record now, in `state`; its resources are free at once.
void end_record(const Context& ctx, std::uint32_t record, RecordState state);
/// Settles the job's own state once nothing of it waits or runs any more.
void settle(const Context& ctx, JobId job);

// operations.cpp, requeue.cpp, members.cpp, sync.cpp
// ---------------------------------------------------------------------------------------

void apply_operation(const Context& ctx, const Operation& op);
/// scancel at `at`; `remote`: sent there with -M.
void cancel_job(const Context& ctx, JobId job, ClusterId at, bool remote);
/// The job's user gives up waiting (a trace's cancellation in the queue); waits for a controller
/// that is down.
void withdraw_job(const Context& ctx, const Event& event, ClusterId at);
/// A pending record is cancelled where it is.
void cancel_pending(const Context& ctx, std::uint32_t record);
/// Another controller asks for the job to be killed at `cluster`.
void on_sibling_cancel(const Context& ctx, JobId job, ClusterId cluster, std::uint32_t how);
/// Payload of sibling_cancel.
enum CancelHow : std::uint32_t { kCancel, kCancelAlone, kCancelForRequeue };
/// An update of the job reaches a sibling.
void on_sibling_update(const Context& ctx, JobId job, ClusterId cluster);

/// scontrol requeue at `at`, and requeuehold.
void requeue_job(const Context& ctx, JobId job, ClusterId at, bool hold);
/// The origin makes the next execution of a requeued job.
void on_requeue(const Context& ctx, JobId job);
/// The runner's part: the execution ends as REQUEUED, the origin hears of it after the kill.
void cancel_for_requeue(const Context& ctx, std::uint32_t record);
/// RequeueExit and RequeueExitHold of the origin's slurm.conf: whether the job's exit code is in
/// them. The recorded code is that of its first execution; the next one ends well.
enum class ExitRequeue : std::uint8_t { no, queue, hold };
ExitRequeue exit_requeue(const Context& ctx, JobId job);
/// Queues the job again when its first execution ended so; true when it did.
bool requeues_on_exit(const Context& ctx, std::uint32_t record, RecordState end);
/// The runner has ended its execution for a requeue.
void finish_requeue(const Context& ctx, JobId job, ClusterId at);
/// Priority of a job at its origin as submission gave it, by its local id; equal under multifactor.
std::uint32_t kept_priority(const Context& ctx, JobId job);

/// sacctmgr: fedstate, members.
void set_fed_state(const Context& ctx, ClusterId cluster, FedState state);
void join_federation(const Context& ctx, ClusterId cluster);
void leave_federation(const Context& ctx, ClusterId cluster);
void on_drain_watch(const Context& ctx, ClusterId cluster);

/// The list of `from`'s jobs reaches `cluster`, which compares it with its own.
void reconcile(const Context& ctx, ClusterId cluster, ClusterId from);

}  // namespace fedsim
