// The node test at submission: could the configured nodes of a partition run the job if all of them
// were idle? (22.05 _build_node_list, select/cons_tres in its test-only mode.)
#include <algorithm>

#include "plan/submission.hpp"

namespace fedsim {
namespace {

class FitTest {
 public:
  FitTest(const ControllerView& view, const Submission& s, const StaticPartition& part)
      : view_(view), s_(s), job_(s.job), part_(part) {}

  StaticFit run() {
    candidates_ = feature_nodes();
    if (!configurations_fit()) return {false, detail_, 0};
    for (const std::size_t n : s_.required) {
      if (std::find(candidates_.begin(), candidates_.end(), n) == candidates_.end()) return {};
    }
    if (job_.max_nodes > 0 && static_cast<std::int64_t>(s_.required.size()) > job_.max_nodes)
      return {};
    for (const std::vector<std::size_t>& set : alternatives()) {
      const StaticFit fit = choose(set);
      if (fit.fits) return fit;
    }
    return {};
  }

 private:
  struct Offer {
    std::size_t node;
    std::int64_t cpus;
    std::vector<std::int64_t> gres;  ///< by ask, what --gpus could take here
  };

  const StaticNode& node(std::size_t n) const { return view_.nodes[n]; }

  /// Nodes of the partition that -x leaves and whose features fit, operators from left to right.
  std::vector<std::size_t> feature_nodes() const {
    std::vector<std::size_t> out;
    const bool counted = std::any_of(s_.features.begin(), s_.features.end(),
                                     [](const FeatureTerm& t) { return t.count > 0; });
    for (const std::size_t n : part_.nodes) {
      if (std::binary_search(s_.excluded.begin(), s_.excluded.end(), n)) continue;
      if (counted || has_features(node(n))) out.push_back(n);
    }
    return out;
  }

  bool has_features(const StaticNode& n) const {
    bool value = true;
    bool inner = true;
    bool in_parentheses = false;
    FeatureTie last = FeatureTie::all;
    FeatureTie before = FeatureTie::all;
    const auto combine = [](bool a, bool b, FeatureTie tie) {
      if (tie == FeatureTie::all) return a && b;
      return tie == FeatureTie::any ? a || b : a;
    };
    for (const FeatureTerm& t : s_.features) {
      if (t.in_parentheses && !in_parentheses) {
        before = last;
        last = FeatureTie::all;
        inner = true;
      }
      if (!t.in_parentheses && in_parentheses) value = combine(value, inner, before);
      bool& work = t.in_parentheses ? inner : value;
      const bool has = n.features.count(t.name) != 0;
      const bool set = t.tie == FeatureTie::one_set || t.tie == FeatureTie::counted_set;
      if (!set) work = combine(work, has, last == FeatureTie::end ? FeatureTie::all : last);
      last = t.tie;
      in_parentheses = t.in_parentheses;
    }
    if (in_parentheses) value = combine(value, inner, before);
    return value;
  }

  /// Drops configurations without the CPUs, memory, disk or shape; the text is that of the last.
  bool configurations_fit() {
    std::size_t last_config = SIZE_MAX;
    std::vector<std::size_t> order = candidates_;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return node(a).config < node(b).config; });
    std::vector<std::size_t> kept;
    for (const std::size_t n : order) {
      const char* problem = lacks(node(n));
      if (problem == nullptr)
        kept.push_back(n);
      else if (node(n).config != last_config)
        detail_ = problem;
      last_config = node(n).config;
    }
    std::sort(kept.begin(), kept.end());
    candidates_ = std::move(kept);
    return !candidates_.empty();
  }

  const char* lacks(const StaticNode& n) const {
    const std::int64_t cores = n.sockets * n.cores;
    std::int64_t cpus = n.cpus;
    if (job_.ntasks_per_core > 0 && n.cpus > cores) {
      cpus = cores * std::min(n.threads,
                              job_.ntasks_per_core * std::max<std::int64_t>(job_.cpus_per_task, 1));
    }
    if (job_.min_cpus_per_node > cpus) return "CPU count per node can not be satisfied";
    if (job_.memory_mib > n.memory_mib) return "Memory specification can not be satisfied";
    if (job_.tmp_mib > n.tmp_mib) return "Temporary disk specification can not be satisfied";
    if (job_.sockets_per_node > n.sockets || job_.cores_per_socket > n.cores ||
        job_.threads_per_core > n.threads) {
      return "Socket, core and/or thread specification can not be satisfied";
    }
    return nullptr;
  }

  std::int64_t tasks_cpus() const { return std::max<std::int64_t>(job_.cpus_per_task, 1); }

  /// [a|b]: nodes all of one kind; otherwise all candidates at once.
  std::vector<std::vector<std::size_t>> alternatives() const {
    std::vector<std::string> kinds;
    bool inside = false;
    for (const FeatureTerm& t : s_.features) {
      const bool set = t.tie == FeatureTie::one_set;
      if (set || inside) kinds.push_back(t.name);
      inside = set;
    }
    if (kinds.empty()) return {candidates_};
    std::vector<std::vector<std::size_t>> out;
    for (const std::string& kind : kinds) {
      out.emplace_back();
      for (const std::size_t n : candidates_)
        if (node(n).features.count(kind) != 0) out.back().push_back(n);
    }
    return out;
  }

  /// CPUs and GRES that a node can give; nothing when it can't hold a part of the job.
  std::optional<Offer> offer(std::size_t index) const {
    const StaticNode& n = node(index);
    Offer out{index, cpus_of(n), {}};
    for (const GresAsk& a : s_.gres.asks) {
      std::int64_t have = n.gres_of(a.name, a.type);
      const bool gpu = a.name == "gpu";
      const std::int64_t cpus = gpu && a.cpus_per == 0 ? s_.default_cpus_per_gpu : a.cpus_per;
      const std::int64_t memory = a.memory_per_mib > 0 || !gpu || s_.memory_given
                                      ? a.memory_per_mib
                                      : s_.default_memory_per_gpu_mib;
      if (cpus > 0) have = std::min(have, n.cpus / cpus);
      if (memory > 0) have = std::min(have, n.memory_mib / memory);
      std::int64_t least = std::max<std::int64_t>(a.per_node, a.per_job > 0 ? 1 : 0);
      if (a.per_socket > 0)
        least = std::max(least, a.per_socket * std::max<std::int64_t>(job_.sockets_per_node, 1));
      least = std::max(least, a.per_task);
      if (have < least) return std::nullopt;
      if (a.per_task > 0) out.cpus = std::min(out.cpus, have / a.per_task * tasks_cpus());
      out.gres.push_back(a.per_node > 0 && a.per_job == 0 ? a.per_node : have);
    }
    if (out.cpus < job_.min_cpus_per_node) return std::nullopt;
    return out;
  }

  std::int64_t cpus_of(const StaticNode& n) const {
    std::int64_t threads = n.threads;
    if (job_.threads_per_core > 0) threads = std::min(threads, job_.threads_per_core);
    const std::int64_t cores = n.sockets * n.cores;
    std::int64_t cpus = n.cpus > cores ? cores * threads : std::min(n.cpus, cores);
    if (job_.memory_per_cpu && job_.memory_mib > 0)
      cpus = std::min(cpus, n.memory_mib / job_.memory_mib);
    if (part_.spec->max_cpus_per_node > 0) cpus = std::min(cpus, part_.spec->max_cpus_per_node);
    if (job_.overcommit) return cpus;
    std::int64_t tasks = cpus / tasks_cpus();
    if (job_.ntasks_per_node > 0) tasks = std::min(tasks, job_.ntasks_per_node);
    if (job_.ntasks_per_socket > 0) tasks = std::min(tasks, job_.ntasks_per_socket * n.sockets);
    if (job_.ntasks_per_core > 0) tasks = std::min(tasks, job_.ntasks_per_core * cores);
    return tasks * tasks_cpus();
  }

  bool counts_fit(const std::vector<Offer>& offers) const {
    for (const FeatureTerm& t : s_.features) {
      if (t.count == 0) continue;
      std::int64_t have = 0;
      for (const Offer& o : offers) have += node(o.node).features.count(t.name) != 0 ? 1 : 0;
      if (have < t.count) return false;
    }
    return true;
  }

  StaticFit choose(const std::vector<std::size_t>& set) const {
    std::vector<Offer> offers;
    for (const std::size_t n : set) {
      if (auto o = offer(n))
        offers.push_back(std::move(*o));
      else if (std::binary_search(s_.required.begin(), s_.required.end(), n))
        return {};
    }
    const std::int64_t part_max = part_.spec->max_nodes;
    std::int64_t most = job_.max_nodes > 0 ? job_.max_nodes : INT64_MAX;
    if (part_max >= 0) most = std::min(most, part_max);
    const std::int64_t least = std::max(job_.min_nodes, part_.spec->min_nodes);
    if (!counts_fit(offers) || static_cast<std::int64_t>(offers.size()) < least || most < least)
      return {};
    // Most that any allowed set can give; required nodes first.
    std::stable_sort(offers.begin(), offers.end(), [&](const Offer& a, const Offer& b) {
      const auto required = [&](const Offer& o) {
        return std::binary_search(s_.required.begin(), s_.required.end(), o.node);
      };
      if (required(a) != required(b)) return required(a);
      if (a.gres != b.gres) return a.gres > b.gres;
      return a.cpus > b.cpus;
    });
    std::int64_t cpus = 0;
    std::vector<std::int64_t> gres(s_.gres.asks.size(), 0);
    std::int64_t taken = 0;
    for (const Offer& o : offers) {
      if (taken >= most) break;
      if (taken >= least && enough(cpus, gres)) break;
      ++taken;
      cpus += o.cpus;
      for (std::size_t i = 0; i < gres.size(); ++i) gres[i] += o.gres[i];
    }
    if (taken < least || !enough(cpus, gres)) return {};
    return {true, "", taken};
  }

  bool enough(std::int64_t cpus, const std::vector<std::int64_t>& gres) const {
    if (cpus < job_.min_cpus) return false;
    for (std::size_t i = 0; i < gres.size(); ++i) {
      const GresAsk& a = s_.gres.asks[i];
      if (a.per_job > 0 && gres[i] < a.per_job) return false;
    }
    return true;
  }

  const ControllerView& view_;
  const Submission& s_;
  const JobDescription& job_;
  const StaticPartition& part_;
  std::vector<std::size_t> candidates_;
  std::string detail_;
};

}  // namespace

StaticFit fit_on_idle_nodes(const ControllerView& view, const Submission& s,
                            const StaticPartition& part) {
  return FitTest(view, s, part).run();
}

}  // namespace fedsim
