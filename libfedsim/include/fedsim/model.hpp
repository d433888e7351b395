// The compiled federation: immutable, ids instead of names, shared by all runs of a sweep.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "fedsim/ids.hpp"
#include "fedsim/spec.hpp"

namespace fedsim {

/// GPU type within a cluster; index of ClusterModel::gpu_types. Type 0 is always "" (untyped).
using GpuTypeId = Id<struct GpuTypeTag>;

/// Sockets, cores and devices as selection reads them; internal to the library.
struct ClusterHardware;

/// Nodes that a scheduler cannot tell apart before anything runs.
struct NodeClass {
  int cpus = 1;  ///< schedulable CPUs (threads), core specialisation taken off
  int sockets = 1;
  int cores_per_socket = 1;
  int threads_per_core = 1;
  std::int64_t memory_mib = 1;  ///< RealMemory - MemSpecLimit
  int weight = 1;
  std::vector<std::uint32_t> features;          ///< ids of ClusterModel::feature_names, sorted
  std::vector<GpuTypeId> gpu_type_by_index;     ///< type of each device
  std::vector<std::uint64_t> gpu_mask_by_type;  ///< devices of each type, indexed by GpuTypeId
  std::uint64_t gpu_mask = 0;                   ///< all devices
  std::vector<GresSpec> other_gres;             ///< counted gres that are not gpu
};

struct NodeModel {
  std::string name;
  std::uint32_t node_class = 0;
  bool usable = true;  ///< false: down, drained, not responding, invalid registration
  std::string reason;
};

struct PartitionModel {
  PartitionSpec spec;
  std::vector<std::uint64_t> nodes;  ///< bitmap over the cluster's nodes
  std::size_t nodes_n = 0;
  std::int64_t cpus_n = 0;
  bool up = true;       ///< schedules (UP or DRAIN)
  bool accepts = true;  ///< takes submissions (UP or DOWN)
};

enum class SchedulerType { backfill, builtin };
enum class PriorityType { basic, multifactor };
enum class EnforcePartLimits { no, any, all };

/// SchedulerParameters and friends, with Slurm's defaults (sched_config page).
struct SchedulerModel {
  SchedulerType type = SchedulerType::backfill;
  PriorityType priority = PriorityType::basic;
  std::int64_t sched_interval_s = 60;
  std::int64_t batch_sched_delay_s = 3;
  int default_queue_depth = 100;
  int partition_job_depth = 0;
  int sched_max_job_start = 0;
  std::int64_t bf_interval_s = 30;
  std::int64_t bf_resolution_s = 60;
  std::int64_t bf_window_s = 86400;
  int bf_max_job_test = 500;
  int bf_max_job_part = 0;
  int bf_max_job_user = 0;
  int bf_max_job_start = 0;
  int bf_node_space_size = 500;
  std::int64_t bf_min_age_reserve_s = 0;
  std::int64_t bf_min_prio_reserve = 0;
  int bf_job_part_count_reserve = 0;
  std::int64_t bf_window_linear_s = 0;
  bool bf_continue = false;
  bool bf_busy_nodes = false;
  bool bf_one_resv_per_job = false;
  bool bf_running_job_reserve = false;
  bool defer = false;
};

/// One cluster of the model.
struct ClusterModel {
  std::string name;
  SlurmRelease release;
  std::vector<NodeModel> nodes;  ///< slurmctld's order: natural sort of the names
  std::vector<NodeClass> classes;
  std::vector<PartitionModel> partitions;
  std::vector<SwitchSpec> switches;
  std::vector<std::string> gpu_types;  ///< [0] is ""
  std::vector<std::string> feature_names;
  std::vector<std::string> cluster_features;
  PartitionId default_partition;
  SchedulerModel scheduler;
  bool linear = false;          ///< select/linear: whole nodes
  bool consumes_memory = true;  ///< CR_*_Memory
  bool consumes_cores = true;   ///< CR_Core*, CR_CPU*; false: CR_Socket or none (treated as cores)
  bool least_loaded_nodes = false;  ///< CR_LLN
  bool unit_nodes = false;          ///< every node has one CPU, no GPU and the same weight
  EnforcePartLimits enforce_part_limits = EnforcePartLimits::no;
  std::int64_t kill_wait_s = 30;
  std::int64_t over_time_limit_s = 0;
  std::int64_t min_job_age_s = 300;
  std::int64_t requeue_delay_s = 121;
  bool backup_controller = false;           ///< a second SlurmctldHost, or BackupController
  std::int64_t controller_timeout_s = 120;  ///< SlurmctldTimeout
  std::uint32_t first_job_id = 1;
  std::uint32_t max_job_id = 67'043'328;        ///< Slurm's default
  std::vector<std::uint8_t> requeue_exit;       ///< exit codes, ascending (RequeueExit)
  std::vector<std::uint8_t> requeue_exit_hold;  ///< RequeueExitHold
  bool remote_singleton = true;      ///< DependencyParameters without disable_remote_singleton
  bool kill_invalid_depend = false;  ///< DependencyParameters=kill_invalid_depend
  std::int64_t def_mem_per_cpu_mib = kUnset;
  std::int64_t def_mem_per_node_mib = kUnset;
  std::int64_t max_mem_per_cpu_mib = kUnset;
  std::int64_t max_mem_per_node_mib = kUnset;
  std::int64_t def_cpu_per_gpu = kUnset;
  std::int64_t def_mem_per_gpu_mib = kUnset;
  std::size_t gpus_n = 0;
  std::int64_t cpus_n = 0;
  std::shared_ptr<const ClusterHardware> hardware;

  const NodeClass& node_class(NodeId n) const { return classes[nodes[n.index()].node_class]; }
  std::size_t bitmap_words() const { return (nodes.size() + 63) / 64; }
  PartitionId find_partition(const std::string& partition) const;
};

/// Everything about the federation that never changes during a run.
struct FederationModel {
  std::string name;
  bool federated = false;
  std::vector<ClusterModel> clusters;
  LatencySpec latency;
  std::vector<Diagnostic> warnings;
  std::uint64_t hash = 0;                      ///< over all content
  std::shared_ptr<const FederationSpec> spec;  ///< what it was compiled from

  ClusterId find_cluster(const std::string& cluster) const;
  std::size_t gpus_n() const;
};

/// Validates and indexes. Throws InputError with every error found.
std::shared_ptr<const FederationModel> compile(const FederationSpec& spec);

}  // namespace fedsim
