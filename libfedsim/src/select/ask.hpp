// What one job asks of the nodes of one partition, with every default applied: Slurm's job_details
// as the select plugin reads them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/hardware.hpp"
#include "request/gres_request.hpp"

namespace fedsim {

/// One generic resource asked for, tasks_per 0 where nothing was said.
struct DeviceAsk : GresAsk {
  std::int64_t default_cpus_per = 0;  ///< DefCpuPerGPU, for want of cpus_per

  std::int64_t cpus_each() const { return cpus_per > 0 ? cpus_per : default_cpus_per; }
};

/// How cores of a node are taken: round the sockets, or filling one socket after the other.
enum class CoreOrder : std::uint8_t { cyclic, block };

struct JobAsk {
  std::int64_t min_nodes = 1;
  std::int64_t max_nodes = 0;             ///< of the job; 0: not given
  std::int64_t part_max_nodes = 500'000;  ///< with the limits of partition and QOS
  std::int64_t part_min_nodes = 0;
  bool use_min_nodes = false;
  std::int64_t num_tasks = 0;  ///< 0: not given
  std::int64_t min_cpus = 1;
  std::int64_t cpus_per_task = 1;
  std::int64_t ntasks_per_node = 0;
  std::int64_t ntasks_per_socket = 0;
  std::int64_t ntasks_per_core = 0;
  std::int64_t ntasks_per_gpu = 0;
  std::int64_t sockets_per_node = 0;
  std::int64_t cores_per_socket = 0;
  std::int64_t threads_per_core = 0;
  std::int64_t min_cpus_per_node = 1;
  bool min_cpus_raised = false;  ///< MaxMemPerCPU raised min_cpus_per_node
  std::int64_t memory_mib = 0;   ///< 0: all of a node
  bool memory_per_cpu = false;
  bool memory_given = false;  ///< --mem or --mem-per-cpu, which DefMemPerGPU then does not replace
  bool whole_nodes = false;   ///< --exclusive, or the partition's
  bool exclusive_given = false;  ///< --exclusive
  bool overcommit = false;
  bool contiguous = false;
  bool spread = false;
  bool enforce_binding = false;
  bool plane = false;
  std::int64_t plane_size = 0;
  CoreOrder core_order = CoreOrder::cyclic;
  std::vector<DeviceAsk> devices;
  std::vector<std::uint32_t> required;  ///< -w, ascending

  bool asks_devices() const { return !devices.empty(); }
  /// --mem-per-gpu or DefMemPerGPU stand for --mem where that was not given.
  bool counts_memory() const { return memory_given || memory_per_device() == 0; }
  std::int64_t memory_per_device() const;
  /// Least memory that a node must have free; 0: all of it.
  std::int64_t least_memory_mib() const;
  /// Limits of nodes for one attempt (Slurm: get_node_cnts).
  std::int64_t least_nodes() const;
  std::int64_t most_nodes() const;
  std::int64_t wanted_nodes() const;
  /// Sockets of a node that its tasks need; 0: not known (Slurm: _socks_per_node).
  std::int64_t sockets_for_tasks() const;
};

/// How the cluster and the partition hand out CPUs.
struct SelectRules {
  enum class Unit : std::uint8_t { cpu, core, socket };
  Unit unit = Unit::core;
  bool memory = true;                   ///< CR_*_Memory
  bool one_task_per_core = false;       ///< CR_ONE_TASK_PER_CORE
  bool block_cores = false;             ///< CR_CORE_DEFAULT_DIST_BLOCK
  bool pack_serial_at_end = false;      ///< pack_serial_at_end
  bool least_loaded = false;            ///< CR_LLN, or LLN of the partition
  bool busy_first = false;              ///< prefer nodes in use
  std::int64_t max_cpus_per_node = -1;  ///< of the partition
  bool shares_cores = false;            ///< OverSubscribe=FORCE, or YES and asked for
  bool exclusive = false;               ///< OverSubscribe=EXCLUSIVE
  int rows = 1;                         ///< of OverSubscribe
  std::size_t partition = 0;
};

/// What a job under `rules` allows others on its nodes (22.05 _get_job_node_req).
NodeSharing sharing_of(const SelectRules& rules);

}  // namespace fedsim
