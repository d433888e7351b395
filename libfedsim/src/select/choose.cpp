// Consecutive best fit, and the orders by weight: see choose.hpp.
#include "select/choose.hpp"

#include <algorithm>
#include <map>

namespace fedsim {

// The attempts ---------------------------------------------------------------

bool Chooser::run(NodeCounts counts) {
  open_.assign(offers_.size(), 1);
  std::int64_t left = static_cast<std::int64_t>(offers_.size());
  if (ask_.num_tasks > 0 && counts.most > ask_.num_tasks)
    counts.most = std::max(ask_.num_tasks, counts.least);
  bool found = attempt(counts, true);
  if (!found && left <= counts.least) return attempt(counts, false);
  std::int64_t largest = 0;
  for (const NodeOffer& o : offers_) largest = std::max(largest, o.size);
  // Leaving small nodes out, step by step, so that few large ones may do.
  for (std::int64_t size = 1; !found && size < largest; ++size) {
    bool fewer = false;
    for (std::size_t i = 0; i < offers_.size(); ++i) {
      const NodeOffer& o = offers_[i];
      if (!open_[i] || o.size <= 0 || o.size > size || is_required(o)) continue;
      open_[i] = 0;
      fewer = true;
      if (--left <= counts.least) break;
    }
    if (!fewer && size != 1) continue;
    found = attempt(counts, false);
    if (left <= counts.least) break;
  }
  return found;
}

bool Chooser::attempt(NodeCounts counts, bool local_only) {
  local_only_ = local_only;
  taken_nodes_.assign(offers_.size(), 0);
  cpus_.assign(offers_.size(), 0);
  chosen_.clear();
  for (NodeOffer& o : offers_) o.cores = o.all_cores;
  const auto available = std::count(open_.begin(), open_.end(), 1);
  if (available < counts.least) return false;
  const auto required = static_cast<std::size_t>(std::count_if(
      offers_.begin(), offers_.end(), [&](const NodeOffer& o) { return is_required(o); }));
  if (required < ask_.required.size()) return false;
  const bool busy = rules_.busy_first && !ask_.contiguous;
  const bool serial = rules_.pack_serial_at_end && ask_.min_cpus == 1 && counts.wanted == 1;
  bool found;
  if (ask_.spread || busy || rules_.least_loaded || serial)
    found = by_weight(counts);
  else if (switches_ != nullptr && !switches_->empty() && !ask_.contiguous)
    found = by_switch(counts);
  else
    found = best_fit(counts);
  if (!found) return false;
  for (std::uint32_t i = 0; i < offers_.size(); ++i) {
    if (!taken_nodes_[i]) continue;
    NodeOffer& o = offers_[i];
    // Only devices take cores away, to keep the others near them.
    if (ask_.asks_devices())
      o.cpus = std::min<std::int64_t>(o.cores.count() * o.hardware->threads_per_core, o.cpus);
    chosen_.push_back(i);
  }
  return true;
}

// What is still missing --------------------------------------------------------

Chooser::Missing Chooser::begin(NodeCounts counts) {
  taken_.assign(ask_.devices.size(), 0);
  per_job_ = std::any_of(ask_.devices.begin(), ask_.devices.end(),
                         [](const DeviceAsk& d) { return d.per_job > 0; });
  Missing m{ask_.min_cpus, std::max(counts.least, counts.wanted), counts.least, counts.most,
            ask_.min_cpus};
  if (per_job_) m.nodes = std::min(counts.least, counts.wanted);
  if (device_cpus_.per_node > 0)
    m.most_cpus = std::max(m.most_cpus, device_cpus_.per_node * m.nodes);
  m.most_cpus = std::max(m.most_cpus, device_cpus_.in_all);
  return m;
}

bool Chooser::is_required(const NodeOffer& o) const {
  return std::binary_search(ask_.required.begin(), ask_.required.end(), o.node);
}

std::int64_t Chooser::use_cpus(const Missing& m, NodeOffer& o, std::int64_t cpus) const {
  if (ask_.whole_nodes) return cpus;
  std::int64_t kept =
      std::max<std::int64_t>(m.least_nodes - 1, 0) * cpus_per_core(rules_, ask_, *o.hardware);
  if (rules_.unit == SelectRules::Unit::socket) kept *= o.hardware->cores_per_socket;
  if (cpus > m.most_cpus - kept) {
    cpus = std::max({m.most_cpus - kept, ask_.min_cpus_per_node, device_cpus_.per_node});
    o.cpus = cpus;
  }
  o.size = o.cpus + o.gpus;
  return cpus;
}

void Chooser::add_devices(const NodeOffer& o, std::int64_t& cpus) {
  if (!per_job_ || cpus == 0) return;
  std::int64_t for_devices = 0;
  for (const DeviceOffer& d : o.devices) {
    const DeviceAsk& ask = ask_.devices[d.ask];
    if (ask.per_job == 0) continue;
    std::int64_t n = d.total;
    if (ask.cpus_per > 0) {
      n = std::min(n, cpus / ask.cpus_per);
      for_devices = std::max(for_devices, n * ask.cpus_per);
    }
    taken_[d.ask] += n;
  }
  if (for_devices > 0) cpus = for_devices;
}

void Chooser::take(std::uint32_t i, Missing& m) {
  NodeOffer& o = offers_[i];
  std::int64_t cpus = use_cpus(m, o, cpus_[i]);
  add_devices(o, cpus);
  cpus_[i] = cpus;
  taken_nodes_[i] = 1;
  m.cpus -= cpus;
  m.most_cpus -= cpus;
  --m.nodes;
  --m.least_nodes;
  --m.most_nodes;
}

bool Chooser::devices_are_enough() const {
  for (std::size_t a = 0; a < taken_.size(); ++a)
    if (ask_.devices[a].per_job > taken_[a]) return false;
  return true;
}

bool Chooser::would_be_enough(const std::vector<std::int64_t>& devices) const {
  for (std::size_t a = 0; a < taken_.size(); ++a)
    if (ask_.devices[a].per_job > taken_[a] + (devices.empty() ? 0 : devices[a])) return false;
  return true;
}

std::vector<std::int64_t> Chooser::devices_of(const NodeOffer& o) const {
  std::vector<std::int64_t> out(ask_.devices.size(), 0);
  for (const DeviceOffer& d : o.devices) out[d.ask] += d.total;
  return out;
}

bool Chooser::enough_nodes(std::int64_t have, const Missing& m, NodeCounts counts) {
  const std::int64_t spare = std::max<std::int64_t>(counts.wanted - counts.least, 0);
  return have >= m.nodes - spare;
}

/// -w: they come first. False when one of them has nothing for the job.
bool Chooser::take_required(Missing& m) {
  if (static_cast<std::int64_t>(ask_.required.size()) > m.most_nodes) return false;
  for (std::uint32_t i = 0; i < offers_.size(); ++i) {
    if (!is_required(offers_[i])) continue;
    cut(offers_[i]);
    cpus_[i] = offers_[i].usable;
    take(i, m);
    if (cpus_[i] == 0) return false;
  }
  return true;
}

// Consecutive best fit -----------------------------------------------------------

bool Chooser::best_fit(NodeCounts counts) {
  Missing m = begin(counts);
  if (!ask_.required.empty()) {
    if (!take_required(m)) return false;
    if (satisfied(m)) return true;
    if (m.most_nodes <= 0) return false;
  }
  std::vector<Run> runs = find_runs();
  while (m.most_nodes > 0) {
    const std::size_t best = best_run(runs, m, counts);
    if (best == runs.size()) break;
    Run& run = runs[best];
    if (run.required >= 0)
      take_around(run, m);
    else
      take_from(run, m);
    if (satisfied(m)) return true;
    run.cpus = 0;
    run.nodes = 0;
  }
  return m.cpus <= 0 && devices_are_enough() && enough_nodes(0, m, counts);
}

/// Runs end at a node that offers nothing and where the weight changes.
std::vector<Chooser::Run> Chooser::find_runs() {
  std::vector<Run> runs(1);
  std::int64_t before = -2;
  const auto close = [&](std::int64_t last) {
    Run& run = runs.back();
    run.last = last;
    if (run.nodes > 0)
      runs.emplace_back();
    else
      run = Run{};  // only required nodes
  };
  for (std::uint32_t i = 0; i < offers_.size(); ++i) {
    NodeOffer& o = offers_[i];
    if (!open_[i]) continue;
    const bool required = taken_nodes_[i] != 0;
    if (!required) {
      cut(o);
      cpus_[i] = o.usable;
      if (o.usable == 0) continue;
    }
    if (before + 1 != o.node) close(before);
    before = o.node;
    if (!ask_.contiguous && runs.back().weight >= 0 && runs.back().weight != o.weight) {
      if (runs.back().nodes == 0)
        runs.back().required = -1;
      else
        close(static_cast<std::int64_t>(o.node) - 1);
    }
    Run& run = runs.back();
    if (run.nodes == 0) run.first = o.node;
    if (required) {
      if (run.required < 0) run.required = o.node;
      continue;
    }
    run.cpus += o.usable;
    ++run.nodes;
    run.weight = o.weight;
    if (!per_job_) continue;
    const std::vector<std::int64_t> devices = devices_of(o);
    run.devices.resize(devices.size(), 0);
    for (std::size_t a = 0; a < devices.size(); ++a) run.devices[a] += devices[a];
  }
  close(before);
  runs.pop_back();
  return runs;
}

/// The run to take nodes from: with required nodes before without, lowest weight, large enough,
/// and of those the smallest; of those too small the largest. runs.size() for none.
std::size_t Chooser::best_run(const std::vector<Run>& runs, const Missing& m,
                              NodeCounts counts) const {
  std::size_t best = runs.size();
  bool best_suffices = false;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    if (run.nodes == 0) continue;
    if (ask_.contiguous && !ask_.required.empty() && run.required < 0) continue;
    const bool suffices = run.cpus >= m.cpus && enough_nodes(run.nodes, m, counts) &&
                          (!per_job_ || would_be_enough(run.devices));
    bool better = best == runs.size();
    if (!better) {
      const Run& other = runs[best];
      better = (other.required < 0 && run.required >= 0) || run.weight < other.weight;
      if (!better && run.weight == other.weight)
        better = suffices ? !best_suffices || run.cpus < other.cpus : run.cpus > other.cpus;
      if (!better && ask_.contiguous) better = suffices && !best_suffices;
    }
    if (better) {
      best = i;
      best_suffices = suffices;
    }
    const bool elsewhere = ask_.contiguous && !ask_.required.empty() &&
                           std::any_of(runs.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                       runs.end(), [](const Run& r) { return r.required >= 0; });
    if (elsewhere) return runs.size();  // required nodes in two places
  }
  if (ask_.contiguous && !best_suffices) return runs.size();
  return best;
}

/// Up from the required nodes, then down.
void Chooser::take_around(const Run& run, Missing& m) {
  const auto visit = [&](std::uint32_t i) {
    if (m.most_nodes == 0 || satisfied(m)) return false;
    if (usable_now(i) && cpus_[i] > 0) take(i, m);
    return true;
  };
  const auto first_at = [&](std::int64_t node) {
    return static_cast<std::uint32_t>(
        std::lower_bound(offers_.begin(), offers_.end(), node,
                         [](const NodeOffer& o, std::int64_t n) { return o.node < n; }) -
        offers_.begin());
  };
  const std::uint32_t middle = first_at(run.required);
  for (std::uint32_t i = middle; i < offers_.size() && offers_[i].node <= run.last; ++i)
    if (!visit(i)) break;
  for (std::uint32_t i = middle; i-- > 0 && offers_[i].node >= run.first;)
    if (!visit(i)) break;
}

/// The node of the run that holds the rest with fewest CPUs to spare, -1 for none.
std::int64_t Chooser::single_node(const Run& run, const Missing& m) const {
  std::int64_t best = -1;
  for (std::uint32_t i = 0; i < offers_.size(); ++i) {
    const NodeOffer& o = offers_[i];
    if (o.node < run.first || o.node > run.last || !usable_now(i)) continue;
    if (cpus_[i] < m.cpus) continue;
    if (per_job_ && !would_be_enough(devices_of(o))) continue;
    if (best >= 0 && cpus_[i] >= cpus_[static_cast<std::size_t>(best)]) continue;
    best = i;
    if (cpus_[i] == m.cpus) break;
  }
  return best;
}

void Chooser::take_from(const Run& run, Missing& m) {
  const std::int64_t single = m.nodes <= 1 ? single_node(run, m) : -1;
  for (std::uint32_t i = 0; i < offers_.size(); ++i) {
    if (offers_[i].node < run.first || offers_[i].node > run.last) continue;
    if (single >= 0 && i != single) cpus_[i] = 0;
  }
  for (std::uint32_t i = 0; i < offers_.size(); ++i) {
    if (offers_[i].node < run.first || offers_[i].node > run.last) continue;
    if (m.most_nodes == 0 || satisfied(m)) return;
    if (!usable_now(i) || cpus_[i] <= 0) continue;
    if (m.most_nodes == 1 && cpus_[i] < m.cpus) continue;
    take(i, m);
  }
}

// Orders by weight: spread, busy nodes first, least loaded, serial jobs at the end ---------

std::vector<std::vector<std::uint32_t>> Chooser::weight_groups() const {
  std::map<std::int64_t, std::vector<std::uint32_t>> groups;
  for (std::uint32_t i = 0; i < offers_.size(); ++i)
    if (usable_now(i)) groups[offers_[i].weight].push_back(i);
  std::vector<std::vector<std::uint32_t>> out;
  for (auto& [weight, group] : groups) out.push_back(std::move(group));
  return out;
}

bool Chooser::by_weight(NodeCounts counts) {
  if (ask_.num_tasks > 0) counts.most = std::min(counts.most, ask_.num_tasks);
  Missing m = begin(counts);
  if (!ask_.required.empty()) {
    if (!take_required(m)) return false;
    if (satisfied(m)) return true;
    if (m.most_nodes <= 0) return false;
  }
  const bool busy = rules_.busy_first && !ask_.contiguous && !ask_.spread;
  const bool least_loaded = rules_.least_loaded && !busy && !ask_.spread;
  for (std::vector<std::uint32_t>& group : weight_groups()) {
    if (least_loaded) {
      std::int64_t last = -1;
      while (m.most_nodes > 0 && !satisfied(m)) {
        const std::int64_t next = this->least_loaded(group, m, last);
        if (next < 0) break;
        last = offers_[static_cast<std::size_t>(next)].free_cpus;
        take(static_cast<std::uint32_t>(next), m);
      }
      if (satisfied(m)) return true;
      continue;
    }
    if (!busy && !ask_.spread) std::reverse(group.begin(), group.end());
    for (int idle = 0; idle < (busy ? 2 : 1); ++idle)
      if (take_group(group, m, busy ? idle : -1)) return true;
  }
  return m.cpus <= 0 && m.least_nodes <= 0 && devices_are_enough();
}

/// Takes nodes in the order of `group` until the job has enough. `idle`: 0 busy nodes only, 1 idle
/// ones only, -1 all.
bool Chooser::take_group(const std::vector<std::uint32_t>& group, Missing& m, int idle) {
  for (const std::uint32_t i : group) {
    if (m.most_nodes <= 0) return false;
    NodeOffer& o = offers_[i];
    if (taken_nodes_[i] || (idle >= 0 && (o.use->jobs == 0) != (idle == 1))) continue;
    cut(o);
    if (o.usable == 0) continue;
    cpus_[i] = o.usable;
    take(i, m);
    if (satisfied(m)) return true;
  }
  return false;
}

std::int64_t Chooser::least_loaded(const std::vector<std::uint32_t>& group, const Missing& m,
                                   std::int64_t last) {
  std::int64_t best = -1;
  for (const std::uint32_t i : group) {
    NodeOffer& o = offers_[i];
    if (taken_nodes_[i]) continue;
    cut(o);
    cpus_[i] = use_cpus(m, o, o.usable);
    if (cpus_[i] == 0) continue;
    const auto size = [](const NodeOffer& n) {
      return n.hardware->cores() * static_cast<std::int64_t>(n.hardware->threads_per_core);
    };
    if (best >= 0) {
      const NodeOffer& b = offers_[static_cast<std::size_t>(best)];
      if (b.free_cpus * size(o) >= o.free_cpus * size(b)) continue;
    }
    best = i;
    if (o.free_cpus == last) break;
  }
  return best;
}

}  // namespace fedsim
