// MIG geometry: see fedsim/mig.hpp.
#include "fedsim/mig.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.hpp"

namespace fedsim {
namespace {

/// Upper case without "GB", "-" for "_".
std::string plain(const std::string& name) {
  std::string out = to_upper(name);
  std::replace(out.begin(), out.end(), '_', '-');
  if (out.ends_with("GB")) out.resize(out.size() - 2);
  return out;
}

/// Bits of the memory slices that an instance at `start` takes.
unsigned slices(const MigProfile& p, int start) {
  return ((1U << p.memory_slices) - 1U) << start;
}

/// Depth first over the starts of each instance, largest first.
bool put(const std::vector<const MigProfile*>& order, std::size_t i, unsigned taken,
         std::vector<MigPlacement>& out) {
  if (i == order.size()) return true;
  for (const int start : order[i]->starts) {
    const unsigned mine = slices(*order[i], start);
    if ((taken & mine) != 0) continue;
    out.push_back({order[i], start});
    if (put(order, i + 1, taken | mine, out)) return true;
    out.pop_back();
  }
  return false;
}

bool larger(const MigProfile* a, const MigProfile* b) {
  if (a->memory_slices != b->memory_slices) return a->memory_slices > b->memory_slices;
  if (a->compute_slices != b->compute_slices) return a->compute_slices > b->compute_slices;
  return a->id < b->id;
}

std::string listed(const std::vector<const MigProfile*>& instances) {
  std::string out;
  for (const MigProfile* p : instances) out += (out.empty() ? "" : " ") + p->name;
  return out;
}

/// A limit that the sums break, or nothing.
std::string broken_sum(const std::vector<const MigProfile*>& instances) {
  int compute = 0;
  int memory = 0;
  std::map<const MigProfile*, int> counts;
  for (const MigProfile* p : instances) {
    compute += p->compute_slices;
    memory += p->memory_slices;
    ++counts[p];
  }
  if (compute > MigGpu::kComputeSlices)
    return "compute: " + std::to_string(compute) + " slices asked for, a GPU has 7";
  if (memory > MigGpu::kMemorySlices)
    return "memory: " + std::to_string(memory) + " slices asked for, a GPU has 8";
  for (const MigProfile* p : instances)
    if (counts[p] > p->max_instances)
      return "profile: at most " + std::to_string(p->max_instances) + " of " + p->name +
             " on a GPU";
  return "";
}

using Counts = std::vector<int>;  ///< of each profile of a demand

/// Fewest GPUs for what is left of a demand, by dynamic programming over the counts.
class ExactPlan {
 public:
  static constexpr std::size_t kMostStates = 100'000;
  static constexpr std::size_t kMostInstances = 2'000;

  explicit ExactPlan(const std::vector<const MigProfile*>& profiles) : profiles_(profiles) {
    Counts none(profiles_.size(), 0);
    collect(0, none);
  }

  /// Nothing when the demand has too many states.
  std::vector<Counts> run(const Counts& demand) {
    std::size_t states = 1;
    std::size_t instances = 0;  // as deep as the recursion goes
    for (const int n : demand) {
      states *= static_cast<std::size_t>(n) + 1;
      instances += static_cast<std::size_t>(n);
      if (states > kMostStates || instances > kMostInstances) return {};
    }
    std::vector<Counts> out;
    for (Counts left = demand;
         std::any_of(left.begin(), left.end(), [](int n) { return n > 0; });) {
      Counts used = layouts_[best(left).second];
      for (std::size_t i = 0; i < left.size(); ++i) {
        used[i] = std::min(used[i], left[i]);
        left[i] -= used[i];
      }
      out.push_back(std::move(used));
    }
    return out;
  }

 private:
  /// Every set of instances that one GPU holds and no further instance can join.
  void collect(std::size_t i, Counts& counts) {
    if (i == profiles_.size()) {
      if (is_full(counts)) layouts_.push_back(counts);
      return;
    }
    for (; fits(counts); ++counts[i]) collect(i + 1, counts);
    counts[i] = 0;
  }

  bool fits(const Counts& counts) const {
    std::vector<const MigProfile*> all;
    for (std::size_t i = 0; i < counts.size(); ++i)
      all.insert(all.end(), static_cast<std::size_t>(counts[i]), profiles_[i]);
    return mig_fit(all).fits;
  }

  bool is_full(const Counts& counts) const {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      Counts more = counts;
      ++more[i];
      if (fits(more)) return false;
    }
    return true;
  }

  /// (GPUs, layout of the first of them).
  std::pair<int, std::size_t> best(const Counts& left) {
    if (std::all_of(left.begin(), left.end(), [](int n) { return n <= 0; })) return {0, 0};
    const auto known = known_.find(left);
    if (known != known_.end()) return known->second;
    std::pair<int, std::size_t> out{INT32_MAX, 0};
    for (std::size_t l = 0; l < layouts_.size(); ++l) {
      Counts rest = left;
      bool helps = false;
      for (std::size_t i = 0; i < rest.size(); ++i) {
        helps = helps || (rest[i] > 0 && layouts_[l][i] > 0);
        rest[i] = std::max(rest[i] - layouts_[l][i], 0);
      }
      if (!helps) continue;
      const int gpus = best(rest).first + 1;
      if (gpus < out.first) out = {gpus, l};
    }
    known_.emplace(left, out);
    return out;
  }

  const std::vector<const MigProfile*>& profiles_;
  std::vector<Counts> layouts_;
  std::map<Counts, std::pair<int, std::size_t>> known_;
};

/// First fit, largest instances first. O(instances + profiles * GPUs).
std::vector<std::vector<const MigProfile*>> first_fit(std::vector<const MigProfile*> all) {
  std::stable_sort(all.begin(), all.end(), larger);
  std::vector<std::vector<const MigProfile*>> gpus;
  const MigProfile* last = nullptr;
  std::size_t from = 0;  // GPUs before have no room for the profile
  for (const MigProfile* p : all) {
    if (p != last) from = 0;
    last = p;
    bool placed = false;
    for (std::size_t g = from; g < gpus.size() && !placed; ++g) {
      from = g;
      gpus[g].push_back(p);
      placed = mig_fit(gpus[g]).fits;
      if (!placed) gpus[g].pop_back();
    }
    if (!placed) {
      from = gpus.size();
      gpus.push_back({p});
    }
  }
  return gpus;
}

}  // namespace

const MigProfile* MigGpu::find(const std::string& profile) const {
  const std::string wanted = to_lower(profile);
  const MigProfile* best = nullptr;
  for (const MigProfile& p : profiles) {
    if (p.name == wanted) return &p;
    // "1g" is the profile with the least memory: the one that fits most often.
    const bool named = !p.media() && p.name.substr(0, p.name.find('.')) == wanted;
    if (named && best == nullptr) best = &p;
  }
  return best;
}

const MigGpu* find_mig_gpu(const std::string& name) {
  const std::string wanted = plain(name);
  const MigGpu* found = nullptr;
  for (const MigGpu& gpu : mig_gpus()) {
    if (plain(gpu.name) == wanted) return &gpu;
    if (wanted.empty() || !plain(gpu.name).starts_with(wanted)) continue;
    if (found != nullptr) return nullptr;  // "a100": of which size?
    found = &gpu;
  }
  return found;
}

MigFit mig_fit(const std::vector<const MigProfile*>& instances) {
  MigFit out;
  out.reason = broken_sum(instances);
  if (!out.reason.empty()) return out;
  std::vector<const MigProfile*> order = instances;
  std::stable_sort(order.begin(), order.end(), larger);
  out.fits = put(order, 0, 0, out.instances);
  if (!out.fits) out.reason = "placement: " + listed(order) + " find no starts beside each other";
  std::sort(out.instances.begin(), out.instances.end(),
            [](const MigPlacement& a, const MigPlacement& b) { return a.start < b.start; });
  return out;
}

MigPlan mig_plan(const std::vector<std::pair<const MigProfile*, int>>& demand) {
  std::vector<const MigProfile*> profiles;
  Counts counts;
  std::vector<const MigProfile*> all;
  int compute = 0;
  int memory = 0;
  for (const auto& [profile, n] : demand) {
    if (n <= 0) continue;
    profiles.push_back(profile);
    counts.push_back(n);
    all.insert(all.end(), static_cast<std::size_t>(n), profile);
    compute += profile->compute_slices * n;
    memory += profile->memory_slices * n;
  }
  MigPlan plan;
  plan.at_least = static_cast<std::size_t>(
      std::max((compute + MigGpu::kComputeSlices - 1) / MigGpu::kComputeSlices,
               (memory + MigGpu::kMemorySlices - 1) / MigGpu::kMemorySlices));
  std::vector<std::vector<const MigProfile*>> gpus;
  const std::vector<Counts> exact = ExactPlan(profiles).run(counts);
  for (const Counts& layout : exact) {
    std::vector<const MigProfile*>& gpu = gpus.emplace_back();
    for (std::size_t i = 0; i < layout.size(); ++i)
      gpu.insert(gpu.end(), static_cast<std::size_t>(layout[i]), profiles[i]);
  }
  if (exact.empty())
    gpus = first_fit(all);
  else
    plan.at_least = gpus.size();
  for (const auto& gpu : gpus) plan.gpus.push_back(mig_fit(gpu).instances);
  return plan;
}

}  // namespace fedsim
