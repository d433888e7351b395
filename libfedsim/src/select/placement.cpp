// The steps of one selection: see placement.hpp.
#include "select/placement.hpp"

#include <algorithm>

namespace fedsim {
namespace {

class Selection {
 public:
  Selection(const SelectView& view, const SelectRules& rules, JobAsk ask)
      : view_(view), rules_(rules), ask_(std::move(ask)) {
    if (rules_.exclusive) ask_.whole_nodes = true;
    if (ask_.overcommit && ask_.min_cpus == ask_.min_nodes) {
      for (const std::int64_t n :
           {ask_.threads_per_core, ask_.cores_per_socket, ask_.sockets_per_node})
        ask_.min_cpus *= std::max<std::int64_t>(n, 1);
    }
  }

  std::optional<std::vector<std::uint32_t>> when_idle(const Bitmap& candidates) {
    candidates_ = candidates;
    if (!choose(Moment::ever, [](std::size_t) { return CoreSet{}; })) return std::nullopt;
    std::vector<std::uint32_t> out;
    for (const NodeOffer* o : chosen_) out.push_back(o->node);
    return out;
  }

  std::optional<NodePlacements> now(const Bitmap& candidates) {
    candidates_ = candidates;
    if (!memory_given()) ask_.memory_mib = 0;
    if (!keep_usable_nodes()) return std::nullopt;
    // Could it run if only the memory and the devices in use counted? Then on what cores.
    if (!choose(Moment::now, [](std::size_t) { return CoreSet{}; })) return std::nullopt;
    if (choose(Moment::now, [&](std::size_t n) { return view_.use[n].held(); })) return place();
    if (!rules_.shares_cores || !share_cores()) return std::nullopt;
    return place();
  }

 private:
  /// --mem-per-gpu or DefMemPerGPU stand for --mem where that was not given.
  bool memory_given() const { return ask_.memory_given || memory_per_device() == 0; }
  std::int64_t memory_per_device() const {
    std::int64_t most = 0;
    for (const DeviceAsk& d : ask_.devices) most = std::max(most, d.memory_per_mib);
    return most;
  }

  std::int64_t least_memory() const {
    if (!memory_given()) return memory_per_device();
    if (!ask_.memory_per_cpu) return ask_.memory_mib;
    return ask_.memory_mib *
           std::max({ask_.ntasks_per_node, ask_.min_cpus_per_node, ask_.cpus_per_task});
  }

  /// Drops nodes without the memory, or shared in a way that keeps the job out. False when -w
  /// names one of them.
  bool keep_usable_nodes() {
    const std::int64_t least = least_memory();
    for (std::size_t n = 0; n < view_.nodes.size(); ++n) {
      if (!test_bit(candidates_, n)) continue;
      const NodeUse& use = view_.use[n];
      const std::int64_t free = view_.nodes[n].memory_mib - use.memory_mib;
      bool usable = !rules_.memory || (least > 0 ? free >= least : use.memory_mib == 0);
      if (ask_.whole_nodes)
        usable = usable && std::none_of(use.gres.begin(), use.gres.end(),
                                        [](const GresUse& g) { return g.any(); });
      if (ask_.whole_nodes && use.jobs > 0) usable = false;
      if (!usable || !sharing_allows(n)) clear_bit(candidates_, n);
    }
    return std::all_of(ask_.required.begin(), ask_.required.end(),
                       [&](std::uint32_t n) { return test_bit(candidates_, n); });
  }

  bool sharing_allows(std::size_t n) const {
    const NodeUse& use = view_.use[n];
    if (use.exclusive_jobs > 0 || use.sharing == NodeSharing::reserved) return false;
    if (use.sharing == NodeSharing::one_row) {
      if (rules_.exclusive || rules_.shares_cores) return false;
      return !busy(use, true);
    }
    if (rules_.exclusive) return !busy(use, false);
    return rules_.shares_cores || !busy(use, true);
  }

  /// Whether jobs of (sharing) partitions run there.
  bool busy(const NodeUse& use, bool sharing_only) const {
    for (const PartitionUse& p : use.partitions) {
      if (sharing_only && (p.rows.size() < 2 || p.partition == rules_.partition)) continue;
      for (const CoreSet& row : p.rows)
        if (row.any()) return true;
    }
    return false;
  }

  /// Offers of the candidates with the cores that `taken` leaves, and the choice among them.
  template <typename Taken>
  bool choose(Moment moment, Taken taken) {
    offers_.clear();
    chosen_.clear();
    NodeCounts counts{ask_.least_nodes(), ask_.most_nodes(), ask_.wanted_nodes()};
    for (std::uint32_t n = 0; n < view_.nodes.size(); ++n) {
      if (!test_bit(candidates_, n)) continue;
      const NodeHardware& node = view_.nodes[n];
      CoreSet cores = CoreSet::first(node.cores());
      cores -= node.specialized;
      const CoreSet held = taken(n);
      const bool in_use = cores.overlaps(held);
      cores -= held;
      const bool required = std::binary_search(ask_.required.begin(), ask_.required.end(), n);
      std::optional<NodeOffer> offer;
      if (!(ask_.whole_nodes && in_use))
        offer = offer_of(rules_, ask_, node, view_.use[n], cores, moment);
      if (!offer && required) return false;
      if (!offer) continue;
      offer->node = n;
      offers_.push_back(std::move(*offer));
    }
    if (static_cast<std::int64_t>(offers_.size()) < counts.least) return false;
    if (ask_.ntasks_per_node > 0 && ask_.num_tasks > 0)
      counts.least = std::max(counts.least,
                              (ask_.num_tasks + ask_.ntasks_per_node - 1) / ask_.ntasks_per_node);
    Chooser chooser(rules_, ask_, &view_.switches, offers_);
    if (!chooser.run(counts)) return false;
    for (const std::uint32_t i : chooser.chosen()) chosen_.push_back(&offers_[i]);
    return true;
  }

  /// OverSubscribe: beside jobs of the same partition, row by row.
  bool share_cores() {
    if (!choose(Moment::now, [](std::size_t) { return CoreSet{}; })) return false;
    const int tier = view_.partition_tiers[rules_.partition];
    if (choose(Moment::now, [&](std::size_t n) {
          CoreSet held;
          for (const PartitionUse& p : view_.use[n].partitions) {
            if (view_.partition_tiers[p.partition] != tier) continue;
            for (const CoreSet& row : p.rows) held |= row;
          }
          return held;
        })) {
      return true;
    }
    for (int row = 0; row < rules_.rows; ++row) {
      if (choose(Moment::now, [&](std::size_t n) { return held_in_row(n, row); })) return true;
    }
    return false;
  }

  CoreSet held_in_row(std::size_t n, int row) const {
    for (const PartitionUse& p : view_.use[n].partitions)
      if (p.partition == rules_.partition && row < static_cast<int>(p.rows.size()))
        return p.rows[static_cast<std::size_t>(row)];
    return {};
  }

  std::optional<NodePlacements> place() {
    NodePlacements out;
    if (!lay_out(rules_, ask_, chosen_, out)) return std::nullopt;
    if (!pick_devices(ask_, chosen_, out)) return std::nullopt;
    if (rules_.memory && !give_memory(out)) return std::nullopt;
    return out;
  }

  bool give_memory(NodePlacements& out) const {
    for (NodePlacement& p : out) {
      const NodeHardware& node = view_.nodes[p.node];
      const std::int64_t free = node.memory_mib - view_.use[p.node].memory_mib;
      p.memory_mib = memory_on(node, p);
      if (memory_given() && p.memory_mib > free) return false;
    }
    return true;
  }

  std::int64_t memory_on(const NodeHardware& node, const NodePlacement& p) const {
    if (!memory_given()) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k < ask_.devices.size(); ++k) {
        const DeviceAsk& d = ask_.devices[k];
        if (d.memory_per_mib == 0) continue;
        std::int64_t n = 0;
        for (const DevicePick& pick : p.devices)
          if (node.gres[pick.gres].name == d.name && (ask_.whole_nodes || pick.ask == k))
            n += pick.count;
        sum += d.memory_per_mib * n;
      }
      return sum;
    }
    if (!ask_.memory_per_cpu) return ask_.memory_mib > 0 ? ask_.memory_mib : node.memory_mib;
    std::int64_t cpus = p.cpus;
    if (rules_.unit != SelectRules::Unit::cpu && ask_.threads_per_core > 0 &&
        ask_.threads_per_core < node.threads_per_core) {
      cpus = cpus / node.threads_per_core * ask_.threads_per_core;
    }
    return ask_.memory_mib * cpus;
  }

  const SelectView& view_;
  const SelectRules& rules_;
  JobAsk ask_;
  Bitmap candidates_;
  std::vector<NodeOffer> offers_;
  std::vector<NodeOffer*> chosen_;
};

}  // namespace

std::optional<NodePlacements> place_job(const SelectView& view, const SelectRules& rules,
                                        JobAsk ask, const Bitmap& candidates) {
  return Selection(view, rules, std::move(ask)).now(candidates);
}

std::optional<std::vector<std::uint32_t>> nodes_when_idle(const SelectView& view,
                                                          const SelectRules& rules, JobAsk ask,
                                                          const Bitmap& candidates) {
  return Selection(view, rules, std::move(ask)).when_idle(candidates);
}

}  // namespace fedsim
