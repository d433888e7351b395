// The steps of one selection: see placement.hpp.
#include "select/placement.hpp"

#include <algorithm>
#include <utility>

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
    if (view_.cache != nullptr) offers_.swap(view_.cache->buffer);
  }
  ~Selection() {
    if (view_.cache != nullptr) offers_.swap(view_.cache->buffer);
  }
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;

  std::optional<std::vector<std::uint32_t>> when_idle(const Bitmap& candidates) {
    candidates_ = candidates;
    if (!choose(0, Moment::ever, [](std::size_t) { return CoreSet{}; })) return std::nullopt;
    std::vector<std::uint32_t> out;
    for (const NodeOffer* o : chosen_) out.push_back(o->node);
    return out;
  }

  std::optional<NodePlacements> now(const Bitmap& candidates) {
    candidates_ = candidates;
    if (!ask_.counts_memory()) ask_.memory_mib = 0;
    if (!keep_usable_nodes()) return std::nullopt;
    // Slurm first asks whether the job could run if only memory and devices in use counted. Here
    // that comes last: it hardly ever decides.
    const auto none = [](std::size_t) { return CoreSet{}; };
    const auto all = [&](std::size_t n) { return view_.use[n].held; };
    if (choose(1, Moment::now, all)) {
      std::vector<NodeOffer> offers = std::exchange(offers_, {});
      std::vector<NodeOffer*> chosen = std::exchange(chosen_, {});
      const bool could = choose(0, Moment::now, none);
      offers_.swap(offers);
      chosen_.swap(chosen);
      return could ? place() : std::nullopt;
    }
    if (!rules_.shares_cores || !choose(0, Moment::now, none) || !share_cores())
      return std::nullopt;
    return place();
  }

 private:
  /// Drops nodes without the memory, or shared in a way that keeps the job out. False when -w
  /// names one of them.
  bool keep_usable_nodes() {
    const std::int64_t least = ask_.least_memory_mib();
    const Bitmap all = candidates_;
    for_each_bit(all, [&](std::size_t n) {
      const NodeUse& use = view_.use[n];
      const std::int64_t free = view_.hardware.nodes[n].memory_mib - use.memory_mib;
      bool usable = !rules_.memory || (least > 0 ? free >= least : use.memory_mib == 0);
      if (ask_.whole_nodes)
        usable = usable && std::none_of(use.gres.begin(), use.gres.end(),
                                        [](const GresUse& g) { return g.any(); });
      if (ask_.whole_nodes && use.jobs > 0) usable = false;
      if (!usable || !sharing_allows(n)) clear_bit(candidates_, n);
    });
    return std::all_of(ask_.required.begin(), ask_.required.end(),
                       [&](std::uint32_t n) { return test_bit(candidates_, n); });
  }

  bool is_required(std::uint32_t n) const {
    return std::binary_search(ask_.required.begin(), ask_.required.end(), n);
  }

  bool sharing_allows(std::size_t n) const {
    const NodeUse& use = view_.use[n];
    if (use.exclusive_jobs > 0 || use.reserved_jobs > 0) return false;
    if (use.one_row_jobs > 0) {
      if (rules_.exclusive || rules_.shares_cores) return false;
      return !busy(use, true);
    }
    if (rules_.exclusive) return !busy(use, false);
    return rules_.shares_cores || !busy(use, true);
  }

  /// Whether jobs of (other, sharing) partitions run there.
  bool busy(const NodeUse& use, bool sharing_only) const {
    for (const PartitionUse& p : use.partitions) {
      const bool shares = view_.hardware.rows[p.partition] > 1;
      if (sharing_only && (!shares || p.partition == rules_.partition)) continue;
      for (const CoreSet& row : p.rows)
        if (row.any()) return true;
    }
    return false;
  }

  /// What node `n` offers when the cores `held` of it are taken.
  std::optional<NodeOffer> offer(std::uint32_t n, Moment moment, const CoreSet& held) const {
    const NodeHardware& node = view_.hardware.nodes[n];
    CoreSet cores = CoreSet::first(node.cores());
    cores -= node.specialized;
    if (ask_.whole_nodes && cores.overlaps(held)) return std::nullopt;
    cores -= held;
    return offer_of(rules_, ask_, node, view_.use[n], cores, moment);
  }

  /// Offers of the candidates with the cores that `taken` leaves, and the choice among them.
  /// `round`: the number of this question, the same for all jobs.
  template <typename Taken>
  bool choose(unsigned round, Moment moment, Taken taken) {
    offers_.clear();
    chosen_.clear();
    NodeCounts counts{ask_.least_nodes(), ask_.most_nodes(), ask_.wanted_nodes()};
    bool complete = true;
    for_each_bit(candidates_, [&](std::size_t index) {
      const auto n = static_cast<std::uint32_t>(index);
      const auto make = [&] { return offer(n, moment, taken(n)); };
      const std::optional<NodeOffer>& found =
          view_.cache != nullptr ? view_.cache->get(view_.request, (*view_.states)[n], round, make)
                                 : made_ = make();
      if (!found) {
        complete = complete && !is_required(n);
        return;
      }
      NodeOffer& offer = offers_.emplace_back(*found);
      offer.node = n;
      offer.hardware = &view_.hardware.nodes[n];
      offer.use = &view_.use[n];
      for (DeviceOffer& d : offer.devices) d.hardware = &offer.hardware->gres[d.gres];
    });
    if (!complete) return false;
    if (static_cast<std::int64_t>(offers_.size()) < counts.least) return false;
    if (ask_.ntasks_per_node > 0 && ask_.num_tasks > 0)
      counts.least = std::max(counts.least,
                              (ask_.num_tasks + ask_.ntasks_per_node - 1) / ask_.ntasks_per_node);
    Chooser chooser(rules_, ask_, &view_.hardware.switches, offers_);
    if (!chooser.run(counts)) return false;
    for (const std::uint32_t i : chooser.chosen()) chosen_.push_back(&offers_[i]);
    return true;
  }

  /// OverSubscribe: beside jobs of the same partition, row by row.
  bool share_cores() {
    const int tier = view_.hardware.tiers[rules_.partition];
    if (choose(2, Moment::now, [&](std::size_t n) {
          CoreSet held;
          for (const PartitionUse& p : view_.use[n].partitions) {
            if (view_.hardware.tiers[p.partition] != tier) continue;
            for (const CoreSet& row : p.rows) held |= row;
          }
          return held;
        })) {
      return true;
    }
    for (int row = 0; row < rules_.rows; ++row) {
      const auto held = [&](std::size_t n) { return held_in_row(n, row); };
      if (choose(static_cast<unsigned>(3 + row), Moment::now, held)) return true;
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
      const NodeHardware& node = view_.hardware.nodes[p.node];
      const std::int64_t free = node.memory_mib - view_.use[p.node].memory_mib;
      p.memory_mib = memory_on(node, p);
      if (ask_.counts_memory() && p.memory_mib > free) return false;
    }
    return true;
  }

  std::int64_t memory_on(const NodeHardware& node, const NodePlacement& p) const {
    if (!ask_.counts_memory()) {
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
  std::optional<NodeOffer> made_;
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
