// Devices of one node for one job, by socket (22.05 _build_sock_gres_by_topo and relatives,
// gres_select_filter_remove_unusable).
#include <algorithm>
#include <bit>

#include "select/offer.hpp"

namespace fedsim {
namespace {

constexpr std::uint64_t bit(std::size_t i) {
  return std::uint64_t{1} << i;
}

std::uint64_t all_sockets(const NodeHardware& node) {
  return node.sockets >= 64 ? ~std::uint64_t{0} : bit(static_cast<std::size_t>(node.sockets)) - 1;
}

/// Builds the table of one ask.
class Table {
 public:
  Table(const JobAsk& ask, const DeviceAsk& device, Moment moment, NodeOffer& node,
        DeviceOffer& out)
      : ask_(ask), device_(device), moment_(moment), node_(node), hw_(*node.hardware), out_(out) {}

  bool run(std::uint64_t& needed) {
    if (out_.hardware->devices.empty()) return count();
    out_.has_places = true;
    for (std::size_t d = 0; d < out_.hardware->devices.size(); ++d) place(d);
    if (out_.total == 0) return false;
    if (device_.per_socket > 0) limit_sockets();
    if (ask_.enforce_binding) keep_best_sockets();
    const std::int64_t least = std::max(device_.per_node, device_.per_task);
    if (out_.total < least) return false;
    need_sockets(least - out_.anywhere, needed);
    return true;
  }

 private:
  const GresUse& use() const { return node_.use->gres[out_.gres]; }
  bool has_cores(int s) const {
    return node_.cores.any(s * hw_.cores_per_socket, hw_.cores_per_socket);
  }
  void close(int s) { node_.cores.reset(s * hw_.cores_per_socket, hw_.cores_per_socket); }

  /// Devices that jobs hold in the other form: whole GPUs for shards, shards for whole GPUs.
  std::uint64_t held_otherwise() const {
    std::uint64_t out = 0;
    for (std::size_t g = 0; g < hw_.gres.size(); ++g) {
      const GresHardware& other = hw_.gres[g];
      const bool related = out_.hardware->parts_of_gpus
                               ? other.name == "gpu"
                               : device_.name == "gpu" && other.parts_of_gpus;
      if (related) out |= node_.use->gres[g].devices;
    }
    return out;
  }

  std::int64_t free_parts(std::size_t d) const {
    const Device& device = out_.hardware->devices[d];
    if (moment_ == Moment::ever) return device.parts;
    const bool parts = out_.hardware->parts_of_gpus;
    const bool held = (use().devices & bit(d)) != 0;
    if (parts && out_.hardware->one_device && use().devices != 0 && !held) return 0;
    if ((held_otherwise() & bit(d)) != 0) return 0;
    return parts ? device.parts - use().parts[d] : held ? 0 : 1;
  }

  void place(std::size_t d) {
    const Device& device = out_.hardware->devices[d];
    if (!device_.type.empty() && device_.type != device.type) return;
    const std::int64_t free = free_parts(d);
    if (free <= 0) return;
    if (out_.hardware->parts_of_gpus && moment_ == Moment::now)
      out_.most = std::max(out_.most, free);
    if (device.sockets == 0 || device.sockets == all_sockets(hw_)) {
      out_.anywhere += free;
      out_.total += free;
      out_.devices_anywhere |= bit(d);
      return;
    }
    for (int s = 0; s < hw_.sockets; ++s) {
      if ((device.sockets & bit(static_cast<std::size_t>(s))) == 0) continue;
      if (ask_.enforce_binding && !has_cores(s)) continue;
      out_.near[s] += free;
      out_.total += free;
      out_.devices_near[s] |= bit(d);
      return;
    }
  }

  void limit_sockets() {
    for (int s = 0; s < hw_.sockets; ++s) {
      std::int64_t& here = out_.near[s];
      if (here < device_.per_socket) {
        out_.total -= here;
        here = 0;
        if (ask_.enforce_binding) close(s);
      } else {
        out_.total -= here - device_.per_socket;
        here = device_.per_socket;
      }
    }
  }

  /// --gpus with enforce-binding: the sockets with most devices, as many as the tasks need.
  void keep_best_sockets() {
    if (device_.per_job == 0 || device_.per_socket > 0) return;
    const std::int64_t wanted = ask_.sockets_for_tasks();
    if (wanted == 0) return;
    std::vector<int> open;
    for (int s = 0; s < hw_.sockets; ++s)
      if (out_.near[s] > 0 && has_cores(s)) open.push_back(s);
    while (static_cast<std::int64_t>(open.size()) > wanted) {
      const auto least = std::min_element(
          open.begin(), open.end(), [&](int a, int b) { return out_.near[a] < out_.near[b]; });
      close(*least);
      out_.total -= out_.near[*least];
      out_.near[*least] = 0;
      open.erase(least);
    }
  }

  /// Sockets, most devices first, until `missing` devices are near one.
  void need_sockets(std::int64_t missing, std::uint64_t& needed) {
    std::uint64_t seen = 0;
    while (missing > 0) {
      int best = -1;
      for (int s = 0; s < hw_.sockets; ++s) {
        if (out_.near[s] == 0 || (seen & bit(static_cast<std::size_t>(s))) != 0 || !has_cores(s))
          continue;
        if (best < 0 || out_.near[s] > out_.near[best]) best = s;
      }
      if (best < 0) return;
      seen |= bit(static_cast<std::size_t>(best));
      needed |= bit(static_cast<std::size_t>(best));
      missing -= out_.near[best];
    }
  }

  /// Without devices a mere count.
  bool count() {
    const std::int64_t least =
        std::max({std::int64_t{1}, device_.per_node, device_.per_socket, device_.per_task});
    const std::int64_t held = moment_ == Moment::now ? use().counted : 0;
    const std::int64_t left = out_.hardware->total() - held;
    for (const auto& [type, n] : out_.hardware->counted) {
      if (!device_.type.empty() && type != device_.type) continue;
      const std::int64_t free = std::min(n, left);
      if (free < least) continue;
      out_.anywhere += free;
      out_.total += free;
    }
    return out_.total > 0;
  }

  const JobAsk& ask_;
  const DeviceAsk& device_;
  const Moment moment_;
  NodeOffer& node_;
  const NodeHardware& hw_;
  DeviceOffer& out_;
};

/// What of one kind of device is left once CPUs and memory are looked at.
class Limit {
 public:
  Limit(const JobAsk& ask, std::int64_t memory_mib, NodeOffer& node, DeviceOffer& d)
      : ask_(ask), memory_(memory_mib), node_(node), d_(d), device_(ask.devices[d.ask]) {}

  bool run(std::int64_t& near_gpus) {
    const std::int64_t cpus = cpus_each();
    if (cpus > 0) {
      const std::int64_t most = node_.cpus / cpus;
      if (most == 0 || std::max({device_.per_node, device_.per_task, device_.per_socket}) > most)
        return false;
    }
    const bool by_memory = device_.memory_per_mib > 0 && memory_ != kNoLimit;
    if (by_memory) {
      if (device_.memory_per_mib > memory_) return false;
      d_.most = memory_ / device_.memory_per_mib;
    }
    std::int64_t near = near_devices();
    if (!ask_.whole_nodes && !set_most(device_.per_node)) set_most(device_.per_job);
    if (cpus > 0 && (device_.tasks_per == 0 || !ask_.whole_nodes)) {
      const std::int64_t most = node_.cores.count() * node_.hardware->threads_per_core / cpus;
      if (most == 0) return false;
      if (d_.most == 0 || d_.most > most) d_.most = most;
    }
    const std::int64_t least = least_devices();
    if (by_memory) d_.total = std::min(d_.total, memory_ / device_.memory_per_mib);
    if (d_.total < least || (d_.most != 0 && d_.most < least)) return false;
    if (d_.hardware->name != "gpu") return true;
    node_.gpus += d_.total;
    if (d_.most > 0) near = std::min(near, d_.most);
    near_gpus = std::min<std::int64_t>(near_gpus + near, 0xff);
    return true;
  }

 private:
  std::int64_t cpus_each() const {
    if (device_.cpus_per > 0) return device_.cpus_per;
    if (device_.tasks_per > 0) return device_.tasks_per * ask_.cpus_per_task;
    return device_.default_cpus_per;
  }

  /// Fewest that make sense here, before anything was taken away.
  std::int64_t least_devices() const {
    std::int64_t least = std::max<std::int64_t>(device_.per_node, 1);
    if (ask_.whole_nodes) least = all_;
    const std::int64_t sockets = ask_.sockets_for_tasks();
    least = std::max(least, device_.per_socket * (sockets == 0 ? 1 : sockets));
    return std::max(least, device_.per_task * ask_.ntasks_per_node);
  }

  bool set_most(std::int64_t n) {
    if (n == 0 || (d_.most != 0 && d_.most <= n)) return false;
    d_.most = n;
    return true;
  }

  /// Devices on sockets with a core for the job.
  std::int64_t near_devices() {
    const NodeHardware& hw = *node_.hardware;
    std::int64_t near = d_.total;
    for (int s = 0; s < hw.sockets && d_.has_places; ++s) {
      if (node_.cores.any(s * hw.cores_per_socket, hw.cores_per_socket)) continue;
      near -= d_.near[s];
      if (!ask_.enforce_binding) continue;
      d_.total -= d_.near[s];
      d_.near[s] = 0;
    }
    return near;
  }

  const JobAsk& ask_;
  const std::int64_t memory_;
  NodeOffer& node_;
  DeviceOffer& d_;
  const DeviceAsk& device_;
  const std::int64_t all_ = d_.total;
};

}  // namespace

bool offer_devices(const JobAsk& ask, Moment moment, NodeOffer& out, std::uint64_t& needed) {
  out.devices.reserve(ask.devices.size());
  for (std::size_t i = 0; i < ask.devices.size(); ++i) {
    const DeviceAsk& device = ask.devices[i];
    if (!out.cores.any()) return false;
    DeviceOffer offer;
    offer.ask = i;
    offer.hardware = out.hardware->find(device.name);
    if (offer.hardware == nullptr) return false;
    offer.gres = static_cast<std::size_t>(offer.hardware - out.hardware->gres.data());
    if (!Table(ask, device, moment, out, offer).run(needed)) return false;
    out.devices.push_back(offer);
  }
  return true;
}

bool limit_devices(const JobAsk& ask, std::int64_t memory_mib, NodeOffer& out,
                   std::int64_t& near_gpus) {
  for (DeviceOffer& d : out.devices)
    if (!Limit(ask, memory_mib, out, d).run(near_gpus)) return false;
  return true;
}

}  // namespace fedsim
