// Selection on a pool: see select.hpp.
#include "sched/select.hpp"

#include <bit>

namespace fedsim {
namespace {

/// Devices of the type, all of them for type 0.
std::uint64_t of_type(const NodeClass& node, GpuTypeId type) {
  if (type.index() == 0) return node.gpu_mask;
  return type.index() < node.gpu_mask_by_type.size() ? node.gpu_mask_by_type[type.index()] : 0;
}

/// Fills scratch.open with the candidates within the demand's bounds; false when they are too few.
bool collect(const ClusterModel& model, const NodePool& pool, const Demand& d, BitSpan candidates,
             Bitmap& open) {
  open.assign(candidates.size(), 0);
  const Bitmap& with_cpus = with_cores(pool, d);
  std::size_t n = 0;
  std::int64_t cpus = 0;
  std::int64_t gpus = 0;
  for (std::size_t w = 0; w < candidates.size(); ++w) {
    for (std::uint64_t bits = candidates[w] & with_cpus[w] & d.request.nodes[w]; bits != 0;
         bits &= bits - 1) {
      const std::uint64_t bit = bits & (~bits + 1);
      const std::size_t i = w * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      if (!may_use(model, pool, d, i)) continue;
      open[w] |= bit;
      ++n;
      cpus += d.shares_cores ? model.node_class(NodeId{i}).cpus : pool.free_cpus(i);
      gpus += std::popcount(pool.free_gpus(i));
    }
  }
  const bool enough_cpus = cpus >= d.min_cpus || d.request.ask.overcommit;
  return n >= d.min_nodes && enough_cpus && gpus >= d.job_gpus;
}

/// What a pool of unit nodes holds, node by node.
const std::vector<NodeUse>& use_of(const ClusterModel& model, const NodePool& pool,
                                   SelectScratch& s) {
  if (!pool.use().empty()) return pool.use();
  s.unit_use = model.hardware->idle;
  for (std::size_t n = 0; n < pool.size(); ++n) {
    if (pool.free_cpus(n) > 0) continue;
    NodeShare share;
    share.cores.set(0);
    hold(model.hardware->nodes[n], share, s.unit_use[n]);
  }
  return s.unit_use;
}

NodeShare share_of(const NodeHardware& node, const NodePlacement& p, const SelectRules& rules,
                   bool exclusive) {
  NodeShare share;
  share.node = p.node;
  share.cores = p.cores;
  share.cpus = static_cast<std::uint32_t>(p.cores.count() * node.threads_per_core);
  share.memory_mib = rules.memory ? p.memory_mib : 0;
  share.partition = static_cast<std::uint32_t>(rules.partition);
  share.sharing = sharing_of(rules);
  share.exclusive = exclusive;
  for (const DevicePick& pick : p.devices) {
    if (static_cast<int>(pick.gres) == node.gpu)
      share.gpu_mask |= pick.devices;
    else
      share.others.push_back({pick.gres, pick.devices, pick.count});
  }
  share.key = key_of(share);
  return share;
}

}  // namespace

bool may_use(const ClusterModel& model, const NodePool& pool, const Demand& d, std::size_t n) {
  if (!d.shares_cores && pool.free_cpus(n) < d.node_cpus) return false;
  if (d.idle_nodes && pool.jobs(n) > 0) return false;
  if (d.simple_units) return true;
  const NodeClass& node = model.node_class(NodeId{n});
  if (d.all_memory ? pool.free_memory_mib(n) != node.memory_mib
                   : pool.free_memory_mib(n) < d.node_memory_mib) {
    return false;
  }
  for (const GpuBound& g : d.node_gpus) {
    const auto free =
        static_cast<std::uint32_t>(std::popcount(pool.free_gpus(n) & of_type(node, g.type)));
    if (free < g.count) return false;
  }
  return true;
}

bool select_nodes(const ClusterModel& model, const NodePool& pool, const Demand& d,
                  BitSpan candidates, SelectScratch& s, std::vector<NodeShare>& shares) {
  shares.clear();
  if (model.unit_nodes && d.simple_units) {
    s.open.assign(candidates.begin(), candidates.end());
    and_into(s.open, pool.with_free_cpus());
    and_into(s.open, d.request.nodes);
    if (!choose_units(d.min_cpus, s.open, s, s.unit_chosen)) return false;
    unit_shares(s.unit_chosen, shares);
    return true;
  }
  if (d.refusal != Reason::none || !collect(model, pool, d, candidates, s.open)) return false;
  SelectView view{*model.hardware, use_of(model, pool, s)};
  if (d.request.id != 0 && d.request.counted.empty() && !pool.use().empty() &&
      !model.hardware->shares_cores) {
    view.cache = &s.offers;
    view.states = &pool.states();
    view.request = d.request.id;
  }
  const auto placement = place(view, d.request, s.open);
  if (!placement) return false;
  for (const NodePlacement& p : *placement)
    shares.push_back(share_of(model.hardware->nodes[p.node], p, d.request.rules, d.idle_nodes));
  return true;
}

}  // namespace fedsim
