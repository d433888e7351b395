// Nodes as selection sees them: see hardware.hpp.
#include "model/hardware.hpp"

#include <algorithm>
#include <bit>

#include "base/mix.hpp"
#include "base/text.hpp"

namespace fedsim {
namespace {

bool is_part_of_gpu(const std::string& name) {
  return name == "shard" || name == "mps";
}

/// Bit s: a core of socket s.
std::uint64_t sockets_of(const std::vector<int>& cores, int cores_per_socket) {
  std::uint64_t out = 0;
  for (const int c : cores)
    if (c / cores_per_socket < kMostSockets) out |= std::uint64_t{1} << (c / cores_per_socket);
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

namespace {

std::uint64_t kind_of(const NodeHardware& node) {
  std::uint64_t h = hash_combine(node.specialized.key(), static_cast<std::uint64_t>(node.weight));
  const auto add = [&](auto v) { h = hash_combine(h, static_cast<std::uint64_t>(v)); };
  for (const int n : {node.sockets, node.cores_per_socket, node.threads_per_core}) add(n);
  add(node.memory_mib);
  for (const GresHardware& g : node.gres) {
    h = hash_text(g.name, h);
    for (const Device& d : g.devices) {
      h = hash_text(d.type, h);
      add(d.sockets);
      add(d.parts);
    }
    for (const auto& [type, count] : g.counted) {
      h = hash_text(type, h);
      add(count);
    }
  }
  return h;
}

/// The row that holds the cores, or one more.
CoreSet& row_for(PartitionUse& use, const CoreSet& cores) {
  for (CoreSet& row : use.rows)
    if (!row.overlaps(cores)) return row;
  return use.rows.emplace_back();
}

PartitionUse& use_by(NodeUse& use, std::size_t partition) {
  for (PartitionUse& p : use.partitions)
    if (p.partition == partition) return p;
  return use.partitions.emplace_back(PartitionUse{partition, {}});
}

void add(const NodeHardware& node, const GresShare& share, std::int64_t sign, NodeUse& use) {
  const GresHardware& hardware = node.gres[share.gres];
  GresUse& held = use.gres[share.gres];
  if (hardware.devices.empty()) held.counted += sign * share.count;
  for (std::uint64_t left = share.devices; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    held.parts[i] += sign * (hardware.parts_of_gpus ? share.count : 1);
    const std::uint64_t bit = std::uint64_t{1} << i;
    held.devices = held.parts[i] > 0 ? held.devices | bit : held.devices & ~bit;
  }
}

void count(const NodeHardware& node, const NodeShare& share, int sign, NodeUse& use) {
  use.jobs += sign;
  use.exclusive_jobs += share.exclusive ? sign : 0;
  use.one_row_jobs += share.sharing == NodeSharing::one_row ? sign : 0;
  use.reserved_jobs += share.sharing == NodeSharing::reserved ? sign : 0;
  use.memory_mib += sign * share.memory_mib;
  if (share.gpu_mask != 0)
    add(node, {static_cast<std::size_t>(node.gpu), share.gpu_mask, 0}, sign, use);
  for (const GresShare& other : share.others) add(node, other, sign, use);
}

/// Sockets, cores and threads that make up the node's CPUs. A shape that does not is dropped.
void set_shape(const NodeSpec& node, NodeHardware& out) {
  const int cpus = std::max(node.cpus, 1);
  out.sockets = std::max(node.sockets, 1);
  out.cores_per_socket = std::max(node.cores_per_socket, 1);
  const int cores = out.cores();
  if (cpus == cores || cpus == cores * node.threads_per_core) {
    out.threads_per_core = cpus / cores;
  } else {
    if (cpus % out.sockets != 0) out.sockets = 1;
    out.cores_per_socket = cpus / out.sockets;
  }
  if (out.sockets <= kMostSockets) return;
  // CPUs=N alone makes N sockets of one core: their order is that of one socket's cores.
  out.cores_per_socket *= out.sockets;
  out.sockets = 1;
}

}  // namespace

std::uint64_t key_of(const NodeShare& share) {
  std::uint64_t h = hash_combine(share.cores.key(), share.gpu_mask);
  const auto add = [&](auto v) { h = hash_combine(h, static_cast<std::uint64_t>(v)); };
  add(share.memory_mib);
  add(share.partition);
  add(share.sharing);
  add(share.exclusive);
  for (const GresShare& other : share.others) {
    add(other.gres);
    add(other.devices);
    add(other.count);
  }
  return h;
}

bool fits_selection(const NodeHardware& node) {
  return node.cores() <= CoreSet::kMost;
}

void hold(const NodeHardware& node, const NodeShare& share, NodeUse& use) {
  count(node, share, 1, use);
  row_for(use_by(use, share.partition), share.cores) |= share.cores;
  use.held |= share.cores;
}

void let_go(const NodeHardware& node, const NodeShare& share, NodeUse& use) {
  count(node, share, -1, use);
  for (CoreSet& row : use_by(use, share.partition).rows) {
    if (!row.contains(share.cores)) continue;
    row -= share.cores;
    break;
  }
  use.held -= share.cores;
  for (const PartitionUse& p : use.partitions)
    for (const CoreSet& row : p.rows)
      if (row.overlaps(share.cores)) use.held |= row;
}

NodeHardware hardware_of(const NodeSpec& node) {
  NodeHardware out;
  out.name = node.name;
  set_shape(node, out);
  out.memory_mib = std::max<std::int64_t>(node.memory_mib - node.mem_spec_limit_mib, 0);
  out.weight = node.weight;
  if (!fits_selection(out)) return out;
  // Slurm takes specialized cores from the highest core of every socket, last socket first.
  int special = node.core_spec_count;
  for (int c = out.cores_per_socket - 1; c >= 0 && special > 0; --c)
    for (int s = out.sockets - 1; s >= 0 && special > 0; --s, --special)
      out.specialized.set(s * out.cores_per_socket + c);
  for (const GresSpec& g : node.gres) {
    if (out.find(g.name) != nullptr) continue;
    if (g.name == "gpu") out.gpu = static_cast<int>(out.gres.size());
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

ClusterHardware hardware_of(const ClusterSpec& cluster, const std::vector<const NodeSpec*>& order) {
  ClusterHardware out;
  std::vector<std::string> names;
  for (const NodeSpec* node : order) {
    out.nodes.push_back(hardware_of(*node));
    NodeUse& use = out.idle.emplace_back();
    for (const GresHardware& g : out.nodes.back().gres)
      use.gres.push_back({0, std::vector<std::int64_t>(g.devices.size(), 0), 0});
    out.kinds.push_back(kind_of(out.nodes.back()));
    names.push_back(node->name);
  }
  for (const PartitionSpec& p : cluster.partitions) {
    const bool shares =
        p.oversubscribe == OverSubscribe::force || p.oversubscribe == OverSubscribe::yes;
    out.tiers.push_back(p.priority_tier);
    out.rows.push_back(shares ? std::max(p.oversubscribe_count, 1) : 1);
    out.shares_cores = out.shares_cores || out.rows.back() > 1;
  }
  const auto plugin = cluster.options.find("TopologyPlugin");
  if (plugin != cluster.options.end() && iequals(plugin->second, "topology/tree"))
    out.switches = SwitchTree(cluster.switches, names);
  return out;
}

}  // namespace fedsim
