// What a node is made of, as far as selection looks: sockets, cores, threads, memory and devices;
// and what running jobs hold of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedsim/spec.hpp"
#include "select/cores.hpp"

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

/// How the jobs on a node share it (Slurm: NODE_CR_AVAILABLE, ONE_ROW, RESERVED).
enum class NodeSharing : std::uint8_t { open, one_row, reserved };

/// Cores that the jobs of one partition hold; one set a row of OverSubscribe.
struct PartitionUse {
  std::size_t partition = 0;
  std::vector<CoreSet> rows;
};

struct NodeUse {
  std::int64_t memory_mib = 0;
  std::vector<GresUse> gres;
  std::vector<PartitionUse> partitions;
  NodeSharing sharing = NodeSharing::open;
  int jobs = 0;
  int exclusive_jobs = 0;

  CoreSet held() const;
};

/// Throws InternalError past kMostSockets, kMostDevices or CoreSet::kMost.
NodeHardware hardware_of(const NodeSpec& node);

}  // namespace fedsim
