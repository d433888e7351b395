// Nodes as selection sees them: see hardware.hpp.
#include "select/hardware.hpp"

#include <algorithm>
#include <map>

namespace fedsim {
namespace {

bool is_part_of_gpu(const std::string& name) {
  return name == "shard" || name == "mps";
}

std::uint64_t sockets_of(const std::vector<int>& cores, int cores_per_socket) {
  std::uint64_t out = 0;
  for (const int c : cores) out |= std::uint64_t{1} << (c / cores_per_socket);
  return out;
}

GresHardware gpus_of(const NodeSpec& node) {
  GresHardware out{"gpu", false, false, {}, {}, {}};
  for (const GpuDeviceSpec& gpu : node.gpus)
    out.devices.push_back({gpu.type, sockets_of(gpu.cores, node.cores_per_socket), 1});
  return out;
}

/// Shards and MPS percents are spread evenly over the GPUs.
GresHardware parts_of(const std::string& name, const NodeSpec& node) {
  GresHardware out{name, true, name == "mps", {}, {}, {}};
  std::int64_t total = 0;
  for (const GresSpec& g : node.gres) total += g.name == name ? g.count : 0;
  const auto gpus = static_cast<std::int64_t>(node.gpus.size());
  for (std::int64_t i = 0; i < gpus; ++i) {
    const GpuDeviceSpec& gpu = node.gpus[static_cast<std::size_t>(i)];
    const std::int64_t parts = total / gpus + (i < total % gpus ? 1 : 0);
    out.devices.push_back({gpu.type, sockets_of(gpu.cores, node.cores_per_socket), parts});
  }
  return out;
}

}  // namespace

std::int64_t GresHardware::total() const {
  std::int64_t n = 0;
  for (const Device& d : devices) n += d.parts;
  for (const auto& [type, count] : counted) n += count;
  return n;
}

const GresHardware* NodeHardware::find(const std::string& gres_name) const {
  for (const GresHardware& g : gres)
    if (g.name == gres_name) return &g;
  return nullptr;
}

CoreSet NodeUse::held() const {
  CoreSet out;
  for (const PartitionUse& p : partitions)
    for (const CoreSet& row : p.rows) out |= row;
  return out;
}

NodeHardware hardware_of(const NodeSpec& node) {
  NodeHardware out;
  out.name = node.name;
  out.sockets = node.sockets;
  out.cores_per_socket = node.cores_per_socket;
  out.threads_per_core = std::max(node.cpus / std::max(out.cores(), 1), 1);
  out.memory_mib = node.memory_mib - node.mem_spec_limit_mib;
  out.weight = node.weight;
  if (out.cores() > CoreSet::kMost || out.sockets > kMostSockets ||
      node.gpus.size() > static_cast<std::size_t>(kMostDevices)) {
    throw InternalError("node " + node.name + " is too large for selection");
  }
  // Slurm takes specialized cores from the highest core of every socket, last socket first.
  int special = node.core_spec_count;
  for (int c = out.cores_per_socket - 1; c >= 0 && special > 0; --c)
    for (int s = out.sockets - 1; s >= 0 && special > 0; --s, --special)
      out.specialized.set(s * out.cores_per_socket + c);
  for (const GresSpec& g : node.gres) {
    if (out.find(g.name) != nullptr) continue;
    if (g.name == "gpu" && !node.gpus.empty()) {
      out.gres.push_back(gpus_of(node));
    } else if (is_part_of_gpu(g.name) && !node.gpus.empty()) {
      out.gres.push_back(parts_of(g.name, node));
    } else {
      GresHardware counted{g.name, false, false, {}, {}, {}};
      for (const GresSpec& same : node.gres)
        if (same.name == g.name) counted.counted.emplace_back(same.type, same.count);
      out.gres.push_back(std::move(counted));
    }
  }
  return out;
}

}  // namespace fedsim
