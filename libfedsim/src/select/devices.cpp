// Which devices: near the cores first, well linked ones together (22.05
// gres_select_filter_select_and_set).
#include <algorithm>
#include <array>
#include <bit>

#include "select/placement.hpp"

namespace fedsim {
namespace {

constexpr std::uint64_t bit(std::size_t i) {
  return std::uint64_t{1} << i;
}

/// One kind of device on one node.
class Pick {
 public:
  Pick(const JobAsk& ask, const NodeOffer& offer, const DeviceOffer& d, const NodePlacement& place)
      : ask_(ask), device_(ask.devices[d.ask]), offer_(offer), d_(d) {
    const NodeHardware& node = *offer.hardware;
    for (int s = 0; s < node.sockets; ++s) {
      cores_[s] = place.cores.count(s * node.cores_per_socket, node.cores_per_socket);
      if (cores_[s] > 0) used_ |= bit(static_cast<std::size_t>(s));
    }
  }

  std::uint64_t chosen() const { return chosen_; }
  std::int64_t count() const { return std::popcount(chosen_); }

  /// --gres, --gpus-per-node: one from every used socket, then more of those, then the others.
  void by_node() {
    const std::int64_t wanted = device_.per_node;
    Links links = link_sums();
    const auto one = [&](std::uint64_t among) {
      const std::uint64_t free = among & ~chosen_;
      if (free == 0 || count() >= wanted) return;
      const auto g = static_cast<std::size_t>(std::countr_zero(free));
      chosen_ |= bit(g);
      links.add(*this, g);
    };
    one(d_.devices_anywhere);
    for (int s = 0; s < sockets(); ++s)
      if (is_used(s)) one(d_.devices_near[s]);
    for (int level = links.best(); level >= 0 && count() < wanted; --level) {
      take(d_.devices_anywhere, wanted, links, level);
      for (int s = 0; s < sockets(); ++s)
        if (is_used(s)) take(d_.devices_near[s], wanted, links, level);
    }
    for (int level = links.best(); level >= 0 && count() < wanted; --level) {
      for (int s = 0; s < sockets(); ++s)
        if (!is_used(s)) take(d_.devices_near[s], wanted, links, level);
    }
  }

  /// --gpus-per-socket.
  void by_socket() {
    std::uint64_t used = used_;
    for (int s = 0; s < sockets() && std::popcount(used) < ask_.sockets_per_node; ++s) {
      const bool enough = std::popcount(d_.devices_near[s]) >= device_.per_socket;
      if (d_.devices_near[s] != 0 && enough) used |= bit(static_cast<std::size_t>(s));
    }
    for (int s = 0; s < sockets(); ++s) {
      if ((used & bit(static_cast<std::size_t>(s))) == 0) continue;
      const std::int64_t wanted = count() + device_.per_socket;
      take(d_.devices_near[s], wanted);
      take(d_.devices_anywhere, wanted);
    }
  }

  /// --gpus-per-task; `tasks` by socket.
  void by_task(const std::array<std::int64_t, kMostSockets>& tasks) {
    Links links = link_sums();
    std::int64_t wanted = 0;
    for (int s = 0; s < sockets(); ++s) {
      if (s > 0 && tasks[s] == 0) continue;
      wanted += tasks[s] * device_.per_task;
      for (std::uint64_t free = d_.devices_near[s] & ~chosen_; free != 0 && count() < wanted;
           free &= free - 1) {
        const auto g = static_cast<std::size_t>(std::countr_zero(free));
        chosen_ |= bit(g);
        links.add(*this, g);
      }
    }
    for (int level = links.best(); level >= 0 && count() < wanted; --level) {
      take(d_.devices_anywhere, wanted, links, level);
      for (int s = 0; s < sockets(); ++s) take(d_.devices_near[s], wanted, links, level);
    }
  }

  /// --gpus, first round: what is near the cores, leaving one for each node that follows.
  void by_job(std::int64_t missing, std::int64_t nodes_left) {
    std::int64_t most = missing - (nodes_left - 1);
    std::int64_t cpus = device_.cpus_per;
    if (cpus == 0) cpus = device_.tasks_per * ask_.cpus_per_task;
    if (cpus > 0) {
      std::int64_t cores = 0;
      for (const std::int64_t c : cores_) cores += c;
      most = std::min(most, cores * offer_.hardware->threads_per_core / cpus);
    }
    const bool all = most > 1 && !d_.hardware->links.empty();
    const std::int64_t wanted = all ? kMostDevices : most;
    take(d_.devices_anywhere, wanted);
    for (int s = 0; s < sockets(); ++s)
      if (is_used(s)) take(d_.devices_near[s], wanted);
    for (int s = 0; s < sockets() && chosen_ == 0; ++s)
      if (!is_used(s)) take(d_.devices_near[s], 1);
    if (all) drop_badly_linked(most);
  }

  /// --gpus, second round: anything on the node.
  void more_by_job(std::int64_t missing) {
    const std::int64_t wanted = count() + missing;
    int best = 0;
    const auto& links = d_.hardware->links;
    if (!links.empty() && chosen_ != 0) {
      for (const auto& row : links)
        best = std::max(best, row[static_cast<std::size_t>(std::countr_zero(chosen_))]);
    }
    const auto base = static_cast<std::size_t>(chosen_ == 0 ? 0 : std::countr_zero(chosen_));
    for (int level = best; level >= 0 && count() < wanted; --level) {
      std::uint64_t linked = ~std::uint64_t{0};
      for (std::size_t g = 0; level > 0 && g < links.size(); ++g)
        if (links[base][g] < level) linked &= ~bit(g);
      take(d_.devices_anywhere & linked, wanted);
      for (int s = 0; s < sockets(); ++s) take(d_.devices_near[s] & linked, wanted);
    }
  }

  /// Shards and MPS: parts of the one device that has enough, near the cores if one is.
  std::int64_t one_device() {
    const std::int64_t wanted = device_.per_node;
    std::uint64_t enough = 0;
    const GresUse& use = offer_.use->gres[d_.gres];
    for (std::size_t g = 0; g < d_.hardware->devices.size(); ++g) {
      const std::int64_t held = use.parts.empty() ? 0 : use.parts[g];
      if (d_.hardware->devices[g].parts - held >= wanted) enough |= bit(g);
    }
    std::uint64_t any = d_.devices_anywhere;
    take(d_.devices_anywhere & enough, 1);
    for (int s = 0; s < sockets(); ++s) {
      any |= d_.devices_near[s];
      if (is_used(s)) take(d_.devices_near[s] & enough, 1);
    }
    take(any & enough, 1);
    return chosen_ == 0 ? 0 : wanted;
  }

  void start_with(std::uint64_t chosen) { chosen_ = chosen; }

 private:
  /// Sums of links from the chosen devices, in at most five levels.
  class Links {
   public:
    explicit Links(std::size_t n) : sums_(n, 0) {}
    void add(const Pick& pick, std::size_t g) {
      const auto& links = pick.d_.hardware->links;
      for (std::size_t l = 0; l < sums_.size(); ++l)
        if (l != g) sums_[l] += links[g][l];
    }
    int best() {
      const auto most = [&] {
        return sums_.empty() ? 0 : std::max(0, *std::max_element(sums_.begin(), sums_.end()));
      };
      if (!scaled_ && most() > 4) {
        const int step = (most() + 3) / 4;
        for (int& s : sums_) s /= step;
      }
      scaled_ = true;
      return most();
    }
    bool below(std::size_t g, int level) const { return !sums_.empty() && sums_[g] < level; }

   private:
    std::vector<int> sums_;
    bool scaled_ = false;
  };

  Links link_sums() const { return Links(d_.hardware->links.size()); }
  int sockets() const { return offer_.hardware->sockets; }
  bool is_used(int s) const { return (used_ & bit(static_cast<std::size_t>(s))) != 0; }

  /// Lowest indices of `among` until `wanted` are chosen.
  void take(std::uint64_t among, std::int64_t wanted) {
    for (std::uint64_t free = among & ~chosen_; free != 0 && count() < wanted; free &= free - 1)
      chosen_ |= free & (~free + 1);
  }
  void take(std::uint64_t among, std::int64_t wanted, const Links& links, int level) {
    for (std::uint64_t free = among & ~chosen_; free != 0 && count() < wanted; free &= free - 1) {
      const auto g = static_cast<std::size_t>(std::countr_zero(free));
      if (!links.below(g, level)) chosen_ |= bit(g);
    }
  }

  /// Keeps `most`: those best linked to the device with the best link.
  void drop_badly_linked(std::int64_t most) {
    const auto& links = d_.hardware->links;
    int best = -1;
    std::size_t base = 0;
    for (std::size_t a = 0; a < links.size(); ++a) {
      for (std::size_t b = a + 1; b < links.size(); ++b) {
        if ((chosen_ & bit(a)) == 0 || (chosen_ & bit(b)) == 0 || links[a][b] <= best) continue;
        best = links[a][b];
        base = a;
      }
    }
    while (count() > most && best >= 0) {
      std::size_t worst = links.size();
      for (std::size_t g = 0; g < links.size(); ++g) {
        if (g == base || (chosen_ & bit(g)) == 0) continue;
        if (worst == links.size() || links[base][g] < links[base][worst]) worst = g;
      }
      if (worst == links.size()) return;
      chosen_ &= ~bit(worst);
    }
  }

  const JobAsk& ask_;
  const DeviceAsk& device_;
  const NodeOffer& offer_;
  const DeviceOffer& d_;
  std::array<std::int64_t, kMostSockets> cores_{};
  std::uint64_t used_ = 0;
  std::uint64_t chosen_ = 0;
};

/// Tasks by socket, as many on each as its cores hold.
std::array<std::int64_t, kMostSockets> tasks_by_socket(const JobAsk& ask, const NodeHardware& node,
                                                       const NodePlacement& p) {
  std::array<std::int64_t, kMostSockets> out{};
  const std::int64_t most = ask.ntasks_per_node > 0 ? ask.ntasks_per_node : p.tasks;
  std::int64_t on_node = 0;
  for (int s = 0; s < node.sockets && on_node < most; ++s) {
    std::int64_t skip = 0;
    for (int c = s * node.cores_per_socket; c < (s + 1) * node.cores_per_socket; ++c) {
      if (!p.cores.test(c) || skip-- > 0) continue;
      skip = 0;
      std::int64_t here = ask.ntasks_per_core;
      if (here == 0) here = node.threads_per_core;  // Slurm counts one CPU a task here
      here = std::min(here, most - on_node);
      if (ask.ntasks_per_socket > 0) here = std::min(here, ask.ntasks_per_socket - out[s]);
      out[s] += here;
      on_node += here;
      if (on_node >= most || (ask.ntasks_per_socket > 0 && out[s] >= ask.ntasks_per_socket)) break;
    }
  }
  return out;
}

std::int64_t without_devices(const JobAsk& ask, const DeviceAsk& d, const NodeOffer& offer,
                             const NodePlacement& p, std::int64_t missing,
                             std::int64_t nodes_left) {
  if (d.per_node > 0) return d.per_node;
  if (d.per_socket > 0) return d.per_socket * std::max<std::int64_t>(p.cores.count(), 1);
  if (d.per_task > 0) {
    std::int64_t tasks = 0;
    for (const std::int64_t t : tasks_by_socket(ask, *offer.hardware, p)) tasks += t;
    return d.per_task * tasks;
  }
  for (const DeviceOffer& o : offer.devices)
    if (&ask.devices[o.ask] == &d) return std::min(o.total, missing - (nodes_left - 1));
  return 0;
}

void whole_node(const NodeHardware& node, NodePlacement& p) {
  for (std::size_t g = 0; g < node.gres.size(); ++g) {
    if (node.gres[g].parts_of_gpus) continue;
    const std::size_t n = node.gres[g].devices.size();
    const std::uint64_t all = n >= 64 ? ~std::uint64_t{0} : bit(n) - 1;
    p.devices.push_back({g, 0, all, node.gres[g].total()});
  }
}

}  // namespace

bool pick_devices(const JobAsk& ask, const std::vector<NodeOffer*>& offers, NodePlacements& out) {
  if (ask.whole_nodes) {
    for (std::size_t n = 0; n < out.size(); ++n) whole_node(*offers[n]->hardware, out[n]);
    return true;
  }
  std::vector<std::int64_t> taken(ask.devices.size(), 0);
  for (std::size_t n = 0; n < out.size(); ++n) {
    for (const DeviceOffer& d : offers[n]->devices) {
      const DeviceAsk& device = ask.devices[d.ask];
      const std::int64_t missing = device.per_job - taken[d.ask];
      const auto nodes_left = static_cast<std::int64_t>(out.size() - n);
      DevicePick picked{d.gres, d.ask, 0, 0};
      if (!d.has_places) {
        picked.count = without_devices(ask, device, *offers[n], out[n], missing, nodes_left);
      } else {
        Pick pick(ask, *offers[n], d, out[n]);
        std::int64_t parts = -1;
        if (device.per_node > 0 && d.hardware->parts_of_gpus)
          parts = pick.one_device();
        else if (device.per_node > 0)
          pick.by_node();
        else if (device.per_socket > 0)
          pick.by_socket();
        else if (device.per_task > 0)
          pick.by_task(tasks_by_socket(ask, *offers[n]->hardware, out[n]));
        else if (device.per_job > 0)
          pick.by_job(missing, nodes_left);
        picked.devices = pick.chosen();
        picked.count = parts >= 0 ? parts : pick.count();
      }
      taken[d.ask] += picked.count;
      out[n].devices.push_back(picked);
    }
  }
  // What --gpus still lacks comes from the first nodes on, wherever it is near.
  for (std::size_t a = 0; a < taken.size(); ++a) {
    for (std::size_t n = 0; n < out.size() && taken[a] < ask.devices[a].per_job; ++n) {
      for (std::size_t k = 0; k < offers[n]->devices.size(); ++k) {
        const DeviceOffer& d = offers[n]->devices[k];
        if (d.ask != a || !d.has_places) continue;
        Pick pick(ask, *offers[n], d, out[n]);
        pick.start_with(out[n].devices[k].devices);
        pick.more_by_job(ask.devices[a].per_job - taken[a]);
        taken[a] += pick.count() - out[n].devices[k].count;
        out[n].devices[k].devices = pick.chosen();
        out[n].devices[k].count = pick.count();
      }
    }
    if (taken[a] < ask.devices[a].per_job) return false;
  }
  return true;
}

}  // namespace fedsim
