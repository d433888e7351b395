// What a request means on one partition of one cluster: counts, memory rule and GPUs with all
// defaults applied (Slurm: sbatch(1) options, slurm.conf DefMem*/DefCpuPerGPU, cons_tres node and
// CPU counts).
//
// Leaves out: sockets and cores as places (CPUs are counted), shards and MPS, licences.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bitmap.hpp"
#include "base/reason.hpp"
#include "fedsim/model.hpp"
#include "fedsim/trace.hpp"

namespace fedsim {

enum class MemoryRule : std::uint8_t { none, per_node, whole_node, per_cpu, per_gpu };

/// `count` GPUs of one type; type 0 takes any.
struct GpuDemand {
  GpuTypeId type{0};
  std::uint32_t count = 0;
};

struct Demand {
  std::uint32_t min_nodes = 1;
  std::uint32_t max_nodes = UINT32_MAX;
  std::uint32_t req_nodes = 1;  ///< tried first; fewer are taken down to min_nodes
  std::uint32_t min_cpus = 1;
  std::uint32_t ntasks = 1;
  std::uint32_t cpus_per_task = 1;
  std::uint32_t tasks_per_node = 0;  ///< 0: free
  std::uint32_t cpus_per_gpu = 0;
  std::uint32_t max_cpus_per_node = UINT32_MAX;
  MemoryRule memory_rule = MemoryRule::none;
  std::int64_t memory_mib = 0;  ///< per node, CPU or GPU as the rule says
  std::vector<GpuDemand> gpus_per_node;
  std::vector<GpuDemand> gpus_per_job;
  std::vector<GpuDemand> gpus_per_task;
  bool whole_node = false;   ///< every CPU and GPU of the nodes
  bool nodes_given = false;  ///< -N was given
  bool has_gpus = false;
  bool simple_units = false;  ///< one CPU a node, nothing else: eligible for unit-node shortcuts
  std::vector<std::uint32_t> features;  ///< all of these (AND), sorted
  Bitmap required;                      ///< -w; empty when not given
  Bitmap excluded;                      ///< -x; empty when not given
  Reason refusal =
      Reason::none;  ///< why no controller would take it (unknown GPU type, feature, node)

  std::uint32_t gpus_per_node_n() const;
  std::uint32_t gpus_per_job_n() const;
  std::uint32_t gpus_per_task_n() const;
};

/// Never throws: what can't be met is in `refusal`.
Demand resolve_demand(const ClusterModel& cluster, const PartitionModel& partition,
                      const ResourceRequest& request);

/// GPUs of a request summed over its nodes, as sacct's ReqTRES would show.
std::int64_t requested_gpus(const Demand& demand);

}  // namespace fedsim
