// What a node is made of, as far as selection looks: sockets, cores, threads, memory and devices;
// and what running jobs hold of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedsim/spec.hpp"
#include "model/cores.hpp"
#include "model/switches.hpp"

namespace fedsim {

inline constexpr int kMostSockets = 32;
inline constexpr int kMostDevices = 64;

/// One device of a generic resource.
struct Device {
  std::string type;
  std::uint64_t sockets = 0;  ///< those its cores are on; 0: reachable from all alike
  std::int64_t parts = 1;     ///< shards or MPS percents it is divided into
};

/// One generic resource of a node: devices in index order, or a mere count.
struct GresHardware {
  std::string name;
  bool parts_of_gpus = false;  ///< shard, mps: a job gets parts of one device
  bool one_device = false;     ///< parts come from one device of the node at a time (mps)
  std::vector<Device> devices;
  std::vector<std::pair<std::string, std::int64_t>> counted;  ///< (type, count) without devices
  std::vector<std::vector<int>> links;  ///< between devices (gres.conf Links); empty: none given

  std::int64_t total() const;
};

struct NodeHardware {
  std::string name;
  int sockets = 1;
  int cores_per_socket = 1;
  int threads_per_core = 1;  ///< schedulable ones: 1 when CPUs counts cores
  std::int64_t memory_mib = 0;
  std::int64_t weight = 1;
  CoreSet specialized;  ///< cores that no job gets
  std::vector<GresHardware> gres;
  int gpu = -1;  ///< index of "gpu" in `gres`

  int cores() const { return sockets * cores_per_socket; }
  const GresHardware* find(const std::string& gres_name) const;
};

/// Of one generic resource, in the order of NodeHardware::gres.
struct GresUse {
  std::uint64_t devices = 0;        ///< held whole, or in part
  std::vector<std::int64_t> parts;  ///< by device, for parts_of_gpus
  std::int64_t counted = 0;         ///< without devices
  bool any() const { return devices != 0 || counted != 0; }
};

/// Cores that the jobs of one partition hold; one set a row of OverSubscribe.
struct PartitionUse {
  std::size_t partition = 0;
  std::vector<CoreSet> rows;
};

/// What running jobs hold of a node.
struct NodeUse {
  std::int64_t memory_mib = 0;
  std::vector<GresUse> gres;
  std::vector<PartitionUse> partitions;
  int jobs = 0;
  int exclusive_jobs = 0;  ///< with --exclusive
  int one_row_jobs = 0;    ///< that share their cores with nobody
  int reserved_jobs = 0;   ///< of partitions with OverSubscribe=EXCLUSIVE
  CoreSet held;            ///< all rows of all partitions
};

/// How a job shares its nodes (Slurm: NODE_CR_AVAILABLE, ONE_ROW, RESERVED).
enum class NodeSharing : std::uint8_t { open, one_row, reserved };

/// Devices or counts of one generic resource other than GPUs.
struct GresShare {
  std::size_t gres = 0;  ///< index of NodeHardware::gres
  std::uint64_t devices = 0;
  std::int64_t count = 0;  ///< devices, parts of the one device, or a mere count
};

/// What an allocation holds on one node.
struct NodeShare {
  std::uint32_t node = 0;
  std::uint32_t cpus = 0;
  std::int64_t memory_mib = 0;
  std::uint64_t gpu_mask = 0;
  CoreSet cores;  ///< none on a pool of unit nodes
  std::vector<GresShare> others;
  std::uint32_t partition = 0;
  NodeSharing sharing = NodeSharing::one_row;
  bool exclusive = false;
  std::uint64_t key = 0;  ///< key_of() the rest
};

/// Adds `share` to what is held; the first row of OverSubscribe without one of its cores takes it.
void hold(const NodeHardware& node, const NodeShare& share, NodeUse& use);
/// Takes `share` away. Undoes hold() when the last ones go first.
void let_go(const NodeHardware& node, const NodeShare& share, NodeUse& use);

/// Selection's view of a whole cluster, nodes in slurmctld's order.
struct ClusterHardware {
  std::vector<NodeHardware> nodes;
  std::vector<NodeUse> idle;         ///< nothing running
  std::vector<std::uint64_t> kinds;  ///< equal for nodes that are alike but for their names
  SwitchTree switches;               ///< empty without topology/tree
  std::vector<int> tiers;            ///< PriorityTier by partition
  std::vector<int> rows;             ///< of OverSubscribe by partition
  bool shares_cores = false;         ///< some partition has several rows
};

/// A number for what is held, whatever the node. A node's kind and the keys of what is held of it
/// add up to its state: nodes in equal states offer the same, unless cores have several rows.
std::uint64_t key_of(const NodeShare& share);

/// Whether the node is within CoreSet::kMost. One that is not has no devices.
bool fits_selection(const NodeHardware& node);
/// At most kMostDevices GPUs.
NodeHardware hardware_of(const NodeSpec& node);
/// `order`: the cluster's nodes in slurmctld's order.
ClusterHardware hardware_of(const ClusterSpec& cluster, const std::vector<const NodeSpec*>& order);

}  // namespace fedsim
