// What a federation looks like, as text files say it: editable plain aggregates, names as strings.
//
// Nothing here is validated; compile() (model.hpp) does that. Field names follow slurm.conf(5).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fedsim/error.hpp"
#include "fedsim/time.hpp"

namespace fedsim {

/// "Not given" for limits and sizes; kUnlimited is Slurm's INFINITE.
inline constexpr std::int64_t kUnset = -1;
inline constexpr std::int64_t kUnlimited = -2;

/// Slurm release, year and month: {22, 5}, {24, 11}, {26, 5}.
struct SlurmRelease {
  int year = 22;
  int month = 5;
  friend auto operator<=>(const SlurmRelease&, const SlurmRelease&) = default;
};

/// One entry of Gres= of a NodeName line, e.g. gpu:a100:8.
struct GresSpec {
  std::string name;
  std::string type;  ///< "" when untyped
  std::int64_t count = 0;
  friend bool operator==(const GresSpec&, const GresSpec&) = default;
};

/// One GPU of a node; its index is its place in NodeSpec::gpus (gres.conf order, across types).
struct GpuDeviceSpec {
  std::string type;
  std::string file;        ///< device file, "" when not given
  std::vector<int> cores;  ///< Cores= of gres.conf; empty: reachable from every socket
  friend bool operator==(const GpuDeviceSpec&, const GpuDeviceSpec&) = default;
};

/// One node. Counts are after Slurm's own completion of what the line leaves out.
struct NodeSpec {
  std::string name;
  int cpus = 1;
  int sockets = 1;
  int cores_per_socket = 1;
  int threads_per_core = 1;
  int core_spec_count = 0;
  std::int64_t memory_mib = 1;  ///< RealMemory (default 1)
  std::int64_t mem_spec_limit_mib = 0;
  std::int64_t tmp_disk_mib = 0;  ///< TmpDisk
  int weight = 1;
  std::vector<std::string> features;
  std::vector<GresSpec> gres;       ///< as slurm.conf states it
  std::vector<GpuDeviceSpec> gpus;  ///< devices, from gres.conf or implied by Gres=
  std::string state = "UNKNOWN";    ///< State= of the line
  std::string reason;               ///< why a node is unusable, in Slurm's words where it has them
  friend bool operator==(const NodeSpec&, const NodeSpec&) = default;
};

enum class OverSubscribe { no, yes, force, exclusive };

/// One partition.
struct PartitionSpec {
  std::string name;
  std::vector<std::string> nodes;  ///< expanded node names
  bool is_default = false;
  std::string state = "UP";  ///< UP, DOWN, DRAIN, INACTIVE
  std::int64_t max_time_s = kUnlimited;
  std::int64_t default_time_s = kUnset;
  int priority_tier = 1;
  int priority_job_factor = 1;
  std::int64_t min_nodes = 0;
  std::int64_t max_nodes = kUnlimited;
  std::int64_t max_cpus_per_node = kUnlimited;
  OverSubscribe oversubscribe = OverSubscribe::no;
  int oversubscribe_count = 1;
  std::int64_t def_mem_per_cpu_mib = kUnset;
  std::int64_t def_mem_per_node_mib = kUnset;
  std::int64_t max_mem_per_cpu_mib = kUnset;
  std::int64_t max_mem_per_node_mib = kUnset;
  std::int64_t def_cpu_per_gpu = kUnset;
  std::int64_t def_mem_per_gpu_mib = kUnset;
  bool root_only = false;
  std::map<std::string, std::string> other;  ///< keys read and kept, spelled as in slurm.conf(5)
  friend bool operator==(const PartitionSpec&, const PartitionSpec&) = default;
};

/// One line of topology.conf, kept for placement rules.
struct SwitchSpec {
  std::string name;
  std::vector<std::string> nodes;
  std::vector<std::string> switches;
  std::int64_t link_speed = kUnset;
  friend bool operator==(const SwitchSpec&, const SwitchSpec&) = default;
};

/// One cluster: everything a slurm.conf, gres.conf and topology.conf say about scheduling.
struct ClusterSpec {
  std::string name;
  SlurmRelease release;
  std::vector<NodeSpec> nodes;  ///< in file order; compile() sorts as slurmctld does
  std::vector<PartitionSpec> partitions;
  std::vector<SwitchSpec> switches;
  std::vector<std::string> features;  ///< cluster features (sacctmgr), for --cluster-constraint
  /// Every other key of slurm.conf, spelled as in slurm.conf(5): "SchedulerType",
  /// "SchedulerParameters", "SelectType", "SelectTypeParameters", "PriorityType", "KillWait",
  /// "EnforcePartLimits", ...
  std::map<std::string, std::string> options;
  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;
};

/// How long messages between controllers take, and other constants that recordings measured.
struct LatencySpec {
  /// Queued message between controllers: median of 22.05. Times are drawn around it with the
  /// recorded spread (41 to 280 ms); those of 24.11 and later are 16 times shorter.
  Duration sibling_message{88'000'000};
  /// Start-lock call to the origin, one way: median of 22.05 (40 to 135 ms); 45 times shorter from
  /// 24.11 on.
  Duration lock_round_trip{45'000'000};
  /// Command typed to request handled by the controller: median of 22.05 (149 ms recorded on a
  /// machine of two busy cores). Commands of a run come one after the other. 0: times are the
  /// controller's own, as in accounting.
  Duration client_command{};
  Duration launch{800'000'000};  ///< start to end minus the script's sleep (recorded median 0.8 s)
  Duration epilog{10'000'000};   ///< end of job to node free again (recorded 1 to over 100 ms)
  friend bool operator==(const LatencySpec&, const LatencySpec&) = default;
};

/// Several clusters. When `federated`, list order is federation id order (first = 1).
struct FederationSpec {
  std::string name;
  bool federated = false;
  std::vector<ClusterSpec> clusters;
  LatencySpec latency;
  std::vector<Diagnostic> warnings;  ///< of the files it was read from; go into the manifest

  /// A copy with one more cluster.
  FederationSpec with_cluster(ClusterSpec cluster) const;
  friend bool operator==(const FederationSpec&, const FederationSpec&) = default;
};

/// `nodes` equal nodes of `units` CPUs and, when `gpu_type` is not "-", `units` GPUs, one partition
/// "batch".
ClusterSpec machine(std::string name, int nodes, int units, std::string gpu_type = "-");

/// What reading a configuration folder gives: the inventory as far as it could be read, and every
/// finding.
struct ConfigResult {
  ClusterSpec cluster;
  std::vector<Diagnostic> diagnostics;
  bool ok() const;  ///< no finding of severity error
};

}  // namespace fedsim
