// What a request means on one partition of one cluster, every default applied: what the select
// plugin is asked, and what schedulers need to know of it without asking.
#pragma once

#include <cstdint>
#include <vector>

#include "base/reason.hpp"
#include "fedsim/model.hpp"
#include "fedsim/trace.hpp"
#include "submit/submission.hpp"

namespace fedsim {

/// Least GPUs that a node must have free for the job, of one type; type 0 is any.
struct GpuBound {
  GpuTypeId type{0};
  std::uint32_t count = 0;
};

struct Demand {
  NodeRequest request;
  std::uint32_t min_nodes = 1;
  std::uint32_t min_cpus = 1;
  std::uint32_t ntasks = 1;
  std::int64_t gpus = 0;       ///< asked for in all, as ReqTRES shows
  std::uint32_t switches = 0;  ///< --switches, 0: any number
  std::int64_t switch_wait_s = 0;
  // Bounds that a node without them can't be chosen; a node within them may still not do.
  std::uint32_t node_cpus = 1;
  std::int64_t node_memory_mib = 0;  ///< 0 with `all_memory`: nothing may be held
  bool all_memory = false;
  bool idle_nodes = false;    ///< --exclusive: no job on the node
  bool shares_cores = false;  ///< OverSubscribe: held cores are no bound
  std::vector<GpuBound> node_gpus;
  std::int64_t job_gpus = 0;    ///< --gpus, over all nodes
  bool simple_units = false;    ///< one CPU a node, nothing else: eligible for unit-node shortcuts
  Bitmap required;              ///< -w; empty when not given
  Reason limit = Reason::none;  ///< of the partition, other than its time limit
  Reason refusal = Reason::none;  ///< why no controller would take it
  bool fits_idle = false;         ///< with nothing running
};

/// The reason with Slurm's text, whatever program printed it.
Reason refusal_reason(std::string text);

/// The job's description as sbatch would send it to the cluster; false with `refusal` set when
/// sbatch itself would not. `more`: further options.
bool describe(const ControllerView& view, const ResourceRequest& request,
              std::vector<std::string> more, JobDescription& job, Reason& refusal);

/// Never throws: what can't be met is in `refusal`, `limit` and `fits_idle`.
Demand resolve_demand(const ControllerView& view, const ClusterModel& cluster,
                      PartitionId partition, const ResourceRequest& request);

}  // namespace fedsim
