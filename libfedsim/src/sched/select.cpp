// Node choice: see select.hpp.
#include "sched/select.hpp"

#include <algorithm>
#include <bit>

namespace fedsim {
namespace {

using Candidate = SelectScratch::Candidate;
using Run = SelectScratch::Run;

bool has_features(const NodeClass& c, const Demand& d) {
  return std::includes(c.features.begin(), c.features.end(), d.features.begin(), d.features.end());
}

std::uint32_t popcount32(std::uint64_t v) {
  return static_cast<std::uint32_t>(std::popcount(v));
}

/// Free devices that entries of `wanted` may use.
std::uint32_t free_of_types(const NodeClass& c, std::uint64_t free_mask,
                            const std::vector<GpuDemand>& wanted) {
  std::uint64_t mask = 0;
  for (const GpuDemand& g : wanted) {
    if (g.type.index() == 0) return popcount32(free_mask);
    if (g.type.index() < c.gpu_mask_by_type.size()) mask |= c.gpu_mask_by_type[g.type.index()];
  }
  return popcount32(free_mask & mask);
}

/// Upper bound of CPUs from memory; 0 when even the least share does not fit.
std::uint32_t limit_by_memory(const NodeClass& c, const Demand& d, std::int64_t free_mib,
                              std::uint32_t cpus, std::uint32_t gpus) {
  switch (d.memory_rule) {
    case MemoryRule::none:
      return cpus;
    case MemoryRule::per_node:
      return free_mib >= d.memory_mib ? cpus : 0;
    case MemoryRule::whole_node:
      return free_mib == c.memory_mib ? cpus : 0;
    case MemoryRule::per_gpu:
      return free_mib >= d.memory_mib * static_cast<std::int64_t>(gpus) ? cpus : 0;
    case MemoryRule::per_cpu:
      return static_cast<std::uint32_t>(std::min<std::int64_t>(cpus, free_mib / d.memory_mib));
  }
  return cpus;
}

/// Fills scratch.candidates with the nodes the job could use, ascending.
void collect(const ClusterModel& model, const NodePool& pool, const Demand& d, BitSpan open,
             SelectScratch& s) {
  s.candidates.clear();
  const Bitmap& with_cpus = pool.with_free_cpus();
  for (std::size_t w = 0; w < open.size(); ++w) {
    std::uint64_t bits = open[w] & with_cpus[w];
    if (!d.excluded.empty()) bits &= ~d.excluded[w];
    for (; bits != 0; bits &= bits - 1) {
      const std::size_t n = w * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      const std::uint32_t cpus =
          d.simple_units ? pool.free_cpus(n) : usable_cpus(model, pool, d, n);
      if (cpus == 0) continue;
      const NodeClass& c = model.node_class(NodeId{n});
      std::uint32_t gpus = 0;
      if (!d.gpus_per_job.empty()) gpus = free_of_types(c, pool.free_gpus(n), d.gpus_per_job);
      s.candidates.push_back({static_cast<std::uint32_t>(n), cpus, gpus, c.weight, false});
    }
  }
}

/// Runs of neighbouring candidates of one weight (semantics 3.5 point 2).
void build_runs(SelectScratch& s) {
  s.runs.clear();
  for (std::uint32_t i = 0; i < s.candidates.size(); ++i) {
    const Candidate& c = s.candidates[i];
    const bool joins =
        i > 0 && s.candidates[i - 1].node + 1 == c.node && s.candidates[i - 1].weight == c.weight;
    if (!joins) s.runs.push_back({i, 0, 0, 0, c.weight, false});
    Run& r = s.runs.back();
    ++r.count;
    r.cpus += c.cpus;
    r.gpus += c.gpus;
  }
}

/// What is still to be found.
struct Need {
  std::int64_t cpus = 0;
  std::int64_t nodes = 0;
  std::int64_t gpus = 0;
  std::int64_t slack_nodes = 0;  ///< req_nodes above min_nodes: wanted, not needed
  bool met() const { return cpus <= 0 && nodes <= 0 && gpus <= 0; }
};

bool sufficient(const Run& r, const Need& need) {
  return static_cast<std::int64_t>(r.cpus) >= need.cpus &&
         static_cast<std::int64_t>(r.count) >= need.nodes - need.slack_nodes &&
         static_cast<std::int64_t>(r.gpus) >= need.gpus;
}

/// Best run left, or nullptr (semantics 3.5 point 3).
Run* best_run(SelectScratch& s, const Need& need) {
  Run* best = nullptr;
  bool best_ok = false;
  for (Run& r : s.runs) {
    if (r.used) continue;
    const bool ok = sufficient(r, need);
    bool better = best == nullptr;
    if (!better && r.weight != best->weight) {
      better = r.weight < best->weight;
    } else if (!better) {
      better = ok != best_ok ? ok : (ok ? r.cpus < best->cpus : r.cpus > best->cpus);
    }
    if (better) {
      best = &r;
      best_ok = ok;
    }
  }
  return best;
}

void take(SelectScratch& s, std::uint32_t index, const Demand& d, Need& need) {
  Candidate& c = s.candidates[index];
  c.taken = true;
  s.chosen.push_back(index);
  --need.nodes;
  // Leave the smallest share for each node that is still to come.
  const std::int64_t others = std::max<std::int64_t>(need.nodes, 0) * d.cpus_per_task;
  std::int64_t use = std::min<std::int64_t>(c.cpus, std::max<std::int64_t>(need.cpus - others, 1));
  use = std::max<std::int64_t>(use - use % d.cpus_per_task, d.cpus_per_task);
  c.cpus = static_cast<std::uint32_t>(std::min<std::int64_t>(use, c.cpus));
  need.cpus -= c.cpus;
  if (need.gpus > 0) {
    const std::int64_t rest = std::max<std::int64_t>(need.nodes, 0);
    const std::int64_t gpus =
        std::min<std::int64_t>(c.gpus, std::max<std::int64_t>(need.gpus - rest, 1));
    c.gpus = static_cast<std::uint32_t>(gpus);
    need.gpus -= gpus;
  } else {
    c.gpus = 0;
  }
}

/// One node is left to find: the tightest that covers what is needed (semantics 3.5 point 4).
bool take_single(SelectScratch& s, const Run& r, const Demand& d, Need& need) {
  std::uint32_t best = UINT32_MAX;
  for (std::uint32_t i = r.first; i < r.first + r.count; ++i) {
    const Candidate& c = s.candidates[i];
    if (c.taken || c.cpus < need.cpus || c.gpus < need.gpus) continue;
    if (best == UINT32_MAX || c.cpus < s.candidates[best].cpus) best = i;
    if (c.cpus == need.cpus) break;
  }
  if (best == UINT32_MAX) return false;
  take(s, best, d, need);
  return true;
}

void take_run(SelectScratch& s, Run& r, const Demand& d, Need& need) {
  r.used = true;
  if (need.nodes <= 1 && take_single(s, r, d, need)) return;
  for (std::uint32_t i = r.first; i < r.first + r.count && !need.met(); ++i) {
    const Candidate& c = s.candidates[i];
    if (c.taken) continue;
    if (s.chosen.size() >= d.max_nodes) return;
    // The last node that is allowed must hold all that is still needed.
    const bool last = s.chosen.size() + 1 == d.max_nodes;
    if (last && (c.cpus < need.cpus || c.gpus < need.gpus)) continue;
    take(s, i, d, need);
  }
}

bool take_required(SelectScratch& s, const Demand& d, Need& need) {
  if (d.required.empty()) return true;
  std::size_t found = 0;
  for (std::uint32_t i = 0; i < s.candidates.size(); ++i) {
    if (!test_bit(d.required, s.candidates[i].node)) continue;
    ++found;
    if (s.chosen.size() < d.max_nodes && !need.met()) take(s, i, d, need);
  }
  return found == count_bits(d.required);
}

bool choose(SelectScratch& s, const Demand& d) {
  Need need;
  need.cpus = d.min_cpus;
  need.gpus = d.gpus_per_job_n();
  const bool per_job = need.gpus > 0;
  need.nodes = per_job ? std::min(d.min_nodes, d.req_nodes) : std::max(d.min_nodes, d.req_nodes);
  need.slack_nodes = d.req_nodes > d.min_nodes ? d.req_nodes - d.min_nodes : 0;
  if (!take_required(s, d, need)) return false;
  while (!need.met() && s.chosen.size() < d.max_nodes) {
    Run* run = best_run(s, need);
    if (run == nullptr) break;
    take_run(s, *run, d, need);
  }
  return need.cpus <= 0 && need.gpus <= 0 && s.chosen.size() >= d.min_nodes;
}

/// CPUs actually charged on a chosen node: whole cores.
std::uint32_t charged_cpus(const NodeClass& c, const Demand& d, std::uint32_t cpus) {
  if (d.whole_node) return static_cast<std::uint32_t>(c.cpus);
  const auto t = static_cast<std::uint32_t>(c.threads_per_core);
  return std::min((cpus + t - 1) / t * t, static_cast<std::uint32_t>(c.cpus));
}

bool fill_share(const ClusterModel& model, const NodePool& pool, const Demand& d,
                const Candidate& c, NodeShare& share) {
  const NodeClass& node = model.node_class(NodeId{c.node});
  share.node = c.node;
  share.cpus = charged_cpus(node, d, c.cpus);
  const std::uint64_t open = pool.free_gpus(c.node);
  GpuPick pick;
  if (d.whole_node) {
    pick.mask = node.gpu_mask;
    pick.ok = open == node.gpu_mask;
  } else if (!d.gpus_per_job.empty()) {
    const std::vector<GpuDemand> some{{d.gpus_per_job.front().type, c.gpus}};
    pick = pick_gpus(node, open, some, 1);
  } else if (!d.gpus_per_task.empty()) {
    pick = pick_gpus(node, open, d.gpus_per_task, std::max(1U, c.cpus / d.cpus_per_task));
  } else if (!d.gpus_per_node.empty()) {
    pick = pick_gpus(node, open, d.gpus_per_node, 1);
  }
  share.gpu_mask = pick.mask;
  switch (d.memory_rule) {
    case MemoryRule::none:
      share.memory_mib = 0;
      break;
    case MemoryRule::per_node:
      share.memory_mib = d.memory_mib;
      break;
    case MemoryRule::whole_node:
      share.memory_mib = node.memory_mib;
      break;
    case MemoryRule::per_cpu:
      share.memory_mib = d.memory_mib * share.cpus;
      break;
    case MemoryRule::per_gpu:
      share.memory_mib = d.memory_mib * popcount32(pick.mask);
      break;
  }
  return pick.ok && share.memory_mib <= pool.free_memory_mib(c.node);
}

/// CR_LLN: by weight, then the largest share of free CPUs, ties by index (semantics 3.6).
void order_least_loaded(const ClusterModel& model, const NodePool& pool, SelectScratch& s) {
  std::stable_sort(
      s.candidates.begin(), s.candidates.end(), [&](const Candidate& a, const Candidate& b) {
        if (a.weight != b.weight) return a.weight < b.weight;
        const auto total_a = static_cast<std::uint64_t>(model.node_class(NodeId{a.node}).cpus);
        const auto total_b = static_cast<std::uint64_t>(model.node_class(NodeId{b.node}).cpus);
        return pool.free_cpus(a.node) * total_b > pool.free_cpus(b.node) * total_a;
      });
  s.runs.clear();
  for (std::uint32_t i = 0; i < s.candidates.size(); ++i) {
    const Candidate& c = s.candidates[i];
    s.runs.push_back({i, 1, c.cpus, c.gpus, static_cast<int>(i), false});
  }
}

}  // namespace

std::uint32_t usable_cpus(const ClusterModel& model, const NodePool& pool, const Demand& d,
                          std::size_t n) {
  const NodeClass& c = model.node_class(NodeId{n});
  if (!d.features.empty() && !has_features(c, d)) return 0;
  if (d.whole_node && pool.free_cpus(n) != static_cast<std::uint32_t>(c.cpus)) return 0;
  std::uint32_t cpus = std::min(pool.free_cpus(n), d.max_cpus_per_node);
  std::uint32_t gpus = d.gpus_per_node_n();
  if (d.has_gpus) {
    const std::uint64_t open = pool.free_gpus(n);
    if (!d.gpus_per_node.empty() && !pick_gpus(c, open, d.gpus_per_node, 1).ok) return 0;
    if (!d.gpus_per_job.empty() && free_of_types(c, open, d.gpus_per_job) == 0) return 0;
    if (!d.gpus_per_task.empty()) {
      const std::uint32_t tasks = free_of_types(c, open, d.gpus_per_task) / d.gpus_per_task_n();
      cpus = std::min(cpus, tasks * d.cpus_per_task);
      gpus = d.gpus_per_task_n();
    }
    if (!d.gpus_per_job.empty()) gpus = 1;
    if (d.cpus_per_gpu > 0 && cpus < d.cpus_per_gpu * std::max(1U, gpus)) return 0;
  }
  // A GPU job counts on each node only the CPUs it could use, so that equal nodes fill by index
  // (recordings 10c, 18c); jobs without GPU count all free CPUs and fill the fullest node first.
  if (d.has_gpus && !d.whole_node) cpus = std::min(cpus, d.min_cpus);
  cpus = limit_by_memory(c, d, pool.free_memory_mib(n), cpus, gpus);
  if (d.tasks_per_node > 0) {
    if (cpus < d.tasks_per_node * d.cpus_per_task && d.ntasks >= d.tasks_per_node) return 0;
    cpus = std::min(cpus, d.tasks_per_node * d.cpus_per_task);
  }
  return cpus < d.cpus_per_task ? 0 : cpus - cpus % d.cpus_per_task;
}

bool select_nodes(const ClusterModel& model, const NodePool& pool, const Demand& d,
                  BitSpan candidates, SelectScratch& s, std::vector<NodeShare>& shares) {
  if (model.unit_nodes && d.simple_units) {
    s.unit_open.assign(candidates.begin(), candidates.end());
    and_into(s.unit_open, pool.with_free_cpus());
    if (!choose_units(d.min_cpus, s.unit_open, s, s.unit_chosen)) return false;
    unit_shares(s.unit_chosen, shares);
    return true;
  }
  collect(model, pool, d, candidates, s);
  if (s.candidates.size() < d.min_nodes) return false;
  s.chosen.clear();
  if (model.least_loaded_nodes) {
    order_least_loaded(model, pool, s);
  } else {
    build_runs(s);
  }
  if (!choose(s, d)) return false;
  std::sort(s.chosen.begin(), s.chosen.end(), [&](std::uint32_t a, std::uint32_t b) {
    return s.candidates[a].node < s.candidates[b].node;
  });
  shares.clear();
  for (const std::uint32_t i : s.chosen) {
    Candidate& c = s.candidates[i];
    if (d.cpus_per_gpu > 0) {
      const std::uint32_t gpus = !d.gpus_per_job.empty() ? c.gpus : d.gpus_per_node_n();
      c.cpus = std::max(c.cpus, d.cpus_per_gpu * gpus);
    }
    NodeShare share;
    if (!fill_share(model, pool, d, c, share)) return false;
    shares.push_back(share);
  }
  return true;
}

bool ever_fits(const ClusterModel& model, const PartitionModel& partition, const Demand& d) {
  const NodePool empty(model);
  SelectScratch scratch;
  std::vector<NodeShare> shares;
  return select_nodes(model, empty, d, partition.nodes, scratch, shares);
}

}  // namespace fedsim
