// What sbatch makes of its arguments: the job description it sends to slurmctld, or the lines it
// prints and the code it exits with (sbatch(1), 22.05; texts as recorded).
//
// This is the command's side only: nothing here knows a cluster's nodes or partitions. The
// controller's side is verdict.hpp.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fedsim/spec.hpp"

namespace fedsim {

/// --exclusive, --oversubscribe. `unset` leaves it to the partition.
enum class SharedNodes : std::uint8_t { unset, none, ok, user, mcs };

/// A job as sbatch describes it to the controller. Numbers are kUnset where nothing was said.
struct JobDescription {
  std::int64_t min_nodes = kUnset;
  std::int64_t max_nodes = kUnset;
  std::int64_t num_tasks = kUnset;
  std::int64_t min_cpus = kUnset;
  std::int64_t cpus_per_task = kUnset;
  std::int64_t ntasks_per_node = kUnset;
  std::int64_t ntasks_per_socket = kUnset;
  std::int64_t ntasks_per_core = kUnset;
  std::int64_t ntasks_per_gres = kUnset;  ///< --ntasks-per-gpu
  std::int64_t sockets_per_node = kUnset;
  std::int64_t cores_per_socket = kUnset;
  std::int64_t threads_per_core = kUnset;
  std::int64_t min_cpus_per_node = kUnset;  ///< --mincpus, or -c when larger
  std::int64_t memory_mib = kUnset;         ///< per node, or per CPU with memory_per_cpu
  std::int64_t tmp_mib = kUnset;            ///< --tmp
  std::int64_t plane_size = kUnset;
  std::int64_t switches = kUnset;
  std::int64_t switch_wait_s = kUnset;
  std::int64_t time_limit_min = kUnset;  ///< kUnlimited for none
  std::int64_t time_min_min = kUnset;
  std::int64_t nice = 0;
  std::int64_t begin_s = 0;  ///< --begin and --deadline, seconds of UTC; 0 for none
  std::int64_t deadline_s = 0;
  std::string cpus_per_gres;  ///< "gres:gpu:4"
  std::string memory_per_gres;
  std::string gres_per_job;  ///< --gpus as "gres:gpu:TYPE:N"
  std::string gres_per_node;
  std::string gres_per_socket;
  std::string gres_per_task;
  std::string partition, account, qos, reservation, licenses, dependency, array, features;
  std::string nodelist, exclude, clusters, cluster_constraint, name;
  std::set<std::string> given;  ///< canonical names of the options used
  SharedNodes shared = SharedNodes::unset;
  bool memory_per_cpu = false;
  bool contiguous = false;
  bool overcommit = false;
  bool spread = false;
  bool use_min_nodes = false;
  bool hold = false;
  bool requeue = true;
  bool enforce_binding = false;    ///< --gres-flags=enforce-binding
  bool block_cores = false;        ///< -m *:block
  bool plane = false;              ///< -m plane=SIZE
  bool core_spec_ignored = false;  ///< -S or --thread-spec, not allowed by configuration

  bool has(const char* option) const { return given.count(option) != 0; }
};

/// What the command did. `sent` is false when it exited before it called the controller.
struct SbatchOutcome {
  JobDescription job;
  std::vector<std::string> lines;  ///< printed on stderr, in order
  /// The option that each of the first lines is about; the lines behind are about none.
  std::vector<std::string> about;
  int exit_code = 0;
  bool sent = false;
};

/// What of the cluster's slurm.conf the command itself reads.
struct SbatchConfig {
  std::set<std::string> gres_types;  ///< GresTypes
  bool cons_tres = true;
  bool allow_spec_resources = false;  ///< AllowSpecResourcesUsage
  std::int64_t now_s = 0;             ///< wall clock in seconds of UTC, for --begin and --deadline
  bool every_mistake = false;         ///< go on after an option that ends sbatch
};

/// Runs sbatch's own part over `argv` (what stands after "sbatch"). Never throws.
SbatchOutcome run_sbatch(const std::vector<std::string>& argv, const SbatchConfig& config);

/// The option values as typed.
struct SbatchValues {
  std::int64_t ntasks = 1, cpus_per_task = 0, min_nodes = 1, max_nodes = 0;
  bool ntasks_set = false, cpus_set = false, nodes_set = false, extra_set = false;
  std::int64_t ntasks_per_gpu = kUnset;
  std::int64_t mem = kUnset, mem_per_cpu = kUnset, mem_per_gpu = kUnset;
  std::int64_t cpus_per_gpu = 0;
  std::int64_t core_spec = kUnset;
  bool core_spec_is_threads = false;
  bool arbitrary = false, plane = false;
  std::int64_t begin_s = 0, deadline_s = 0;
  std::string gpus, gpus_per_node, gpus_per_socket, gpus_per_task, gres, hint, distribution;
  std::string begin, user;
  JobDescription job;
};

/// Reads the options into `values`. Returns false when the command has exited.
bool read_sbatch_options(const std::vector<std::string>& argv, const SbatchConfig& config,
                         SbatchValues& values, SbatchOutcome& out);

/// What sbatch does with the values that it has read.
SbatchOutcome finish_sbatch(SbatchValues values, const SbatchConfig& config);

}  // namespace fedsim
