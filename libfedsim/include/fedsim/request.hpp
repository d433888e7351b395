// The resources of one job, as sbatch's options state them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedsim/spec.hpp"

namespace fedsim {

/// `count` units of a generic resource, e.g. gpu:a100:4. `type` is "" when any will do.
struct GresRequest {
  std::string name;
  std::string type;
  std::int64_t count = 1;
  friend bool operator==(const GresRequest&, const GresRequest&) = default;
};

/// The resources of one job as sbatch's options state them; 0, kUnset or empty where not given.
struct ResourceRequest {
  int nodes_min = 0;      ///< -N min
  int nodes_max = 0;      ///< -N max; equal to nodes_min for -N n
  int ntasks = 0;         ///< -n
  int cpus_per_task = 0;  ///< -c
  int ntasks_per_node = 0;
  std::int64_t mem_per_node_mib = kUnset;  ///< --mem; 0 is all memory of the node
  std::int64_t mem_per_cpu_mib = kUnset;
  std::int64_t mem_per_gpu_mib = kUnset;
  std::vector<GresRequest> gres_per_node;    ///< --gres, --gpus-per-node
  std::vector<GresRequest> gres_per_job;     ///< --gpus
  std::vector<GresRequest> gres_per_task;    ///< --gpus-per-task
  std::vector<GresRequest> gres_per_socket;  ///< --gpus-per-socket
  int sockets_per_node = 0;
  int cpus_per_gpu = 0;
  int ntasks_per_gpu = 0;
  bool exclusive = false;
  bool contiguous = false;
  bool overcommit = false;
  bool use_min_nodes = false;
  std::string constraint;  ///< -C
  std::string nodelist;    ///< -w, host list
  std::string exclude;     ///< -x, host list
  friend bool operator==(const ResourceRequest&, const ResourceRequest&) = default;
};

}  // namespace fedsim
