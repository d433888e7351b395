// What the federation's rules work on: the immutable input, the state, and the demand table of the
// run.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "fedsim/simulation.hpp"
#include "request/demand.hpp"
#include "sched/triggers.hpp"
#include "state/state.hpp"

namespace fedsim {

/// Demands by (cluster, partition, request), resolved once; an index is stable for the whole run.
struct DemandTable {
  struct Verdict {
    bool known = false;
    bool fits_empty = false;
    std::uint32_t demand = 0;
  };
  std::vector<Demand> demands;
  std::vector<std::vector<Verdict>> by_partition;  ///< [cluster's first partition + p][request]
  std::vector<std::size_t> first_partition;        ///< per cluster
};

/// TOP_PRIORITY of priority/basic; the first job gets one less (recordings: 4294901759).
inline constexpr std::uint32_t kTopPriority = 0xFFFF'0000U;

/// Trace texts resolved against the model, each distinct text once. Looked up by StringId, never
/// walked.
struct NameTable {
  struct Constraint {
    ClusterSet clusters;
    bool valid = true;
  };
  std::unordered_map<std::uint32_t, ClusterId> clusters;
  std::unordered_map<std::uint32_t, ClusterSet> cluster_lists;  ///< -M
  std::unordered_map<std::uint32_t, Constraint> constraints;    ///< --cluster-constraint
  std::vector<std::unordered_map<std::uint32_t, std::vector<PartitionId>>>
      partitions;                                   ///< per cluster
  std::unordered_map<std::uint32_t, JobId> labels;  ///< targets of operations
};

/// Resolves every name of the trace. Unknown clusters are errors, all reported at once (InputError
/// C10x).
NameTable resolve_names(const FederationModel& model, const Trace& trace);

struct Context {
  const FederationModel& model;
  const Trace& trace;
  const RunOptions& options;
  SimState& state;
  DemandTable& demands;
  const NameTable& names;
  Observer* observer = nullptr;

  const ClusterModel& cluster(ClusterId c) const { return model.clusters[c.index()]; }
  const JobSpec& spec(JobId j) const { return trace.jobs[j.index()]; }
  Controller controller(ClusterId c) const { return {cluster(c), options, state, c}; }
  bool slurm() const { return options.fidelity == Fidelity::slurm; }
};

/// Adds a line to the story when somebody wants it.
void tell(const Context& ctx, StoryKind kind, ClusterId where, JobId job, ClusterId other = {});

/// Sends a message between controllers; it arrives after the sibling latency, at once in ideal
/// runs.
void send(const Context& ctx, EventKind kind, ClusterId to, JobId job, std::uint32_t aux = 0);

/// Index of the demand of `request` on a partition, with whether it ever fits (computed once).
DemandTable::Verdict demand_of(const Context& ctx, ClusterId c, PartitionId p,
                               std::uint32_t request);

/// Time stamp as a controller writes it: whole seconds under slurm fidelity, exact in ideal runs.
SimTime stamp(const Context& ctx, SimTime t);

// submit.cpp
// -------------------------------------------------------------------------------------------

/// A submission reaches its origin: verdict, federated id, tracking record, copies to viable
/// siblings.
void submit_job(const Context& ctx, JobId job);
/// A copy reaches `cluster`: its own verdict and record.
void receive_copy(const Context& ctx, ClusterId cluster, JobId job);
/// Makes the next execution of a requeued or released job at the origin and its siblings.
void send_copies(const Context& ctx, JobId job);
/// New record of `job` on `cluster`, chained to its older ones. `eligible` kNoTime: its submission.
std::uint32_t make_record(const Context& ctx, ClusterId cluster, JobId job, SimTime eligible);
/// Puts a pending record into its cluster's queue.
void queue_record(const Context& ctx, std::uint32_t record);

// lock.cpp
// ---------------------------------------------------------------------------------------------

/// Start lock of the job at its origin, asked by `cluster` (semantics 1.6). Always granted outside
/// a federation.
bool ask_lock(const Context& ctx, ClusterId cluster, JobId job);
void give_lock_back(const Context& ctx, ClusterId cluster, JobId job);

// start_revoke.cpp
// -------------------------------------------------------------------------------------

/// The record starts: allocation, end event, notice to the origin or revocation of the siblings.
void start_record(const Context& ctx, const QueueEntry& entry, const std::vector<NodeShare>& shares,
                  bool backfilled);
/// The origin learns that `by` started the job.
void on_started_elsewhere(const Context& ctx, JobId job, ClusterId by);
/// `cluster` drops its record of the job; `started`: the instant it is told to write down.
void revoke_record(const Context& ctx, ClusterId cluster, JobId job);
/// The execution ends by itself or at its limit.
void on_job_end(const Context& ctx, std::uint32_t record);
void on_epilog_end(const Context& ctx, std::uint32_t slot);

// operations.cpp
// ---------------------------------------------------------------------------------------

void apply_operation(const Context& ctx, const Operation& op);
/// The job's user withdraws it (a trace's cancellation in the queue).
void cancel_job(const Context& ctx, JobId job, ClusterId at);
/// The origin makes the next execution of a requeued job.
void on_requeue(const Context& ctx, JobId job);
/// Ends a running record now, in `state`; its resources are free at once.
void end_record(const Context& ctx, std::uint32_t record, RecordState state);

}  // namespace fedsim
