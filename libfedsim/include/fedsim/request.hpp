// The resources of one job, as sbatch's options state them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedsim/spec.hpp"

namespace fedsim {

/// `count` units of a generic resource, e.g. gpu:a100:4. `type` is "" when any will do. A text that
/// only the controller can judge stands in `name`, with `count` kUnset.
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
  int ntasks_per_socket = 0;
  int ntasks_per_core = 0;
  int sockets_per_node = 0;
  int cores_per_socket = 0;
  int threads_per_core = 0;
  int min_cpus_per_node = 0;      ///< --mincpus
  std::int64_t tmp_mib = kUnset;  ///< --tmp
  int switches = 0;               ///< --switches
  std::int64_t switch_wait_s = kUnset;
  int cpus_per_gpu = 0;
  int ntasks_per_gpu = 0;
  bool exclusive = false;
  bool oversubscribe = false;  ///< -s
  bool contiguous = false;
  bool overcommit = false;
  bool use_min_nodes = false;
  bool spread = false;           ///< --spread-job
  bool enforce_binding = false;  ///< --gres-flags=enforce-binding
  bool extra_node_info = false;  ///< -B gave sockets, cores and threads
  std::string constraint;        ///< -C
  std::string nodelist;          ///< -w, host list
  std::string exclude;           ///< -x, host list
  std::string distribution;      ///< -m
  std::string hint;              ///< --hint
  friend bool operator==(const ResourceRequest&, const ResourceRequest&) = default;
};

}  // namespace fedsim
