// The nodes of one partition for a job: those whose configuration and features fit, and the choice
// among them, on idle nodes (the test at submission) or as they are (22.05 _build_node_list,
// _get_req_features, _pick_best_nodes).
#include <algorithm>

#include "base/text.hpp"
#include "plan/submission.hpp"

namespace fedsim {
namespace {

std::int64_t given(std::int64_t n) {
  return std::max<std::int64_t>(n, 0);
}

JobAsk ask_of(const Submission& s, const StaticPartition& part) {
  const JobDescription& j = s.job;
  JobAsk a;
  a.min_nodes = std::max<std::int64_t>(j.min_nodes, 1);
  a.max_nodes = given(j.max_nodes);
  if (part.spec->max_nodes >= 0) a.part_max_nodes = part.spec->max_nodes;
  a.part_min_nodes = part.spec->min_nodes;
  a.use_min_nodes = j.use_min_nodes;
  a.num_tasks = given(j.num_tasks);
  a.min_cpus = std::max<std::int64_t>(j.min_cpus, 1);
  a.cpus_per_task = std::max<std::int64_t>(j.cpus_per_task, 1);
  a.ntasks_per_node = given(j.ntasks_per_node);
  a.ntasks_per_socket = given(j.ntasks_per_socket);
  a.ntasks_per_core = given(j.ntasks_per_core);
  a.ntasks_per_gpu = given(j.ntasks_per_gres);
  a.sockets_per_node = given(j.sockets_per_node);
  a.cores_per_socket = given(j.cores_per_socket);
  a.threads_per_core = given(j.threads_per_core);
  a.min_cpus_per_node = std::max<std::int64_t>(j.min_cpus_per_node, 1);
  a.min_cpus_raised = j.min_cpus_per_node > s.created_min_cpus_per_node;
  a.memory_mib = given(j.memory_mib);
  a.memory_per_cpu = j.memory_per_cpu;
  a.memory_given = s.memory_given;
  a.whole_nodes = j.shared == SharedNodes::none;
  a.exclusive_given = a.whole_nodes;
  a.overcommit = j.overcommit;
  a.contiguous = j.contiguous;
  a.spread = j.spread;
  a.enforce_binding = j.enforce_binding;
  a.plane = j.plane;
  a.plane_size = given(j.plane_size);
  a.core_order = j.block_cores ? CoreOrder::block : CoreOrder::cyclic;
  for (const GresAsk& g : s.gres.asks) {
    const bool gpu = g.name == "gpu";
    DeviceAsk& d = a.devices.emplace_back(DeviceAsk{g, gpu ? s.default_cpus_per_gpu : 0});
    if (gpu && g.memory_per_mib <= 0) d.memory_per_mib = s.default_memory_per_gpu_mib;
    d.tasks_per = given(g.tasks_per);
    // A task needs the CPUs of its GPUs (DefCpuPerGPU).
    if (gpu && s.default_cpus_per_gpu > 0 && g.cpus_per == 0)
      a.cpus_per_task = std::max(a.cpus_per_task, g.per_task * s.default_cpus_per_gpu);
  }
  for (const std::size_t n : s.required) a.required.push_back(static_cast<std::uint32_t>(n));
  return a;
}

SelectRules rules_of(const ControllerView& view, const Submission& s, const StaticPartition& part) {
  SelectRules r = view.select;
  const PartitionSpec& spec = *part.spec;
  const auto lln = spec.other.find("LLN");
  if (lln != spec.other.end() && iequals(lln->second, "YES")) r.least_loaded = true;
  r.max_cpus_per_node = spec.max_cpus_per_node > 0 ? spec.max_cpus_per_node : -1;
  r.exclusive = spec.oversubscribe == OverSubscribe::exclusive;
  r.shares_cores = spec.oversubscribe == OverSubscribe::force ||
                   (spec.oversubscribe == OverSubscribe::yes && s.job.shared == SharedNodes::ok);
  r.rows = r.shares_cores ? std::max(spec.oversubscribe_count, 1) : 1;
  r.partition = static_cast<std::size_t>(&part - view.partitions.data());
  return r;
}

class FitTest {
 public:
  FitTest(const ControllerView& view, const Submission& s, const StaticPartition& part,
          const std::vector<NodeUse>* use)
      : view_(view),
        s_(s),
        job_(s.job),
        part_(part),
        use_(use),
        select_{view.hardware, use == nullptr ? view.idle : *use, view.switches, view.tiers},
        rules_(rules_of(view, s, part)),
        ask_(ask_of(s, part)) {}

  NodeChoice run() {
    candidates_ = feature_nodes();
    NodeChoice out;
    if (!configurations_fit()) {
      out.detail = detail_;
      return out;
    }
    for (const std::size_t n : s_.required) {
      if (std::find(candidates_.begin(), candidates_.end(), n) == candidates_.end()) return out;
    }
    if (ask_.max_nodes > 0 && static_cast<std::int64_t>(s_.required.size()) > ask_.max_nodes)
      return out;
    if (ask_.most_nodes() < ask_.least_nodes()) return out;
    const bool counted = std::any_of(s_.features.begin(), s_.features.end(),
                                     [](const FeatureTerm& t) { return t.count > 0; });
    if (counted && !take_counted(out)) return out;
    for (const std::vector<std::size_t>& set : alternatives()) {
      out = choose(ask_, set);
      if (out.fits) return out;
    }
    return out;
  }

 private:
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

  NodeChoice choose(const JobAsk& ask, const std::vector<std::size_t>& set) const {
    NodeChoice out;
    Bitmap map((view_.nodes.size() + 63) / 64, 0);
    for (const std::size_t n : set) set_bit(map, n);
    for (const std::uint32_t n : ask.required)
      if (!test_bit(map, n)) return out;
    if (static_cast<std::int64_t>(set.size()) < ask.least_nodes()) return out;
    if (use_ == nullptr) {
      const auto nodes = nodes_when_idle(select_, rules_, ask, map);
      out.fits = nodes.has_value();
      chosen_ = nodes.value_or(std::vector<std::uint32_t>{});
    } else {
      out.placement = place_job(select_, rules_, ask, map);
      out.fits = out.placement.has_value();
      chosen_.clear();
      for (const NodePlacement& p : out.placement.value_or(NodePlacements{}))
        chosen_.push_back(p.node);
    }
    out.nodes_n = static_cast<std::int64_t>(chosen_.size());
    out.fits = out.fits && out.nodes_n <= ask.most_nodes();
    return out;
  }

  /// NAME*COUNT: so many nodes of each kind first, which the job then requires. At submission all
  /// nodes are busy: Slurm stops at the first kind, and knows no more than that it could run.
  bool take_counted(NodeChoice& out) {
    std::vector<std::uint32_t> taken;
    bool apart = false;
    for (const FeatureTerm& t : s_.features) {
      if (t.count == 0) continue;
      apart = apart || t.tie == FeatureTie::counted_set;
      JobAsk ask = ask_;
      ask.required.clear();
      ask.min_nodes = ask.max_nodes = t.count;
      ask.min_cpus = t.count;
      if (ask.ntasks_per_node > 0) ask.num_tasks = t.count * ask.ntasks_per_node;
      std::vector<std::size_t> set;
      for (const std::size_t n : candidates_) {
        const bool used = std::find(taken.begin(), taken.end(), n) != taken.end();
        if (node(n).features.count(t.name) != 0 && !(apart && used)) set.push_back(n);
      }
      const NodeChoice kind = choose(ask, set);
      if (use_ == nullptr) out = kind;
      if (use_ == nullptr || !kind.fits) return false;
      taken.insert(taken.end(), chosen_.begin(), chosen_.end());
    }
    taken.insert(taken.end(), ask_.required.begin(), ask_.required.end());
    std::sort(taken.begin(), taken.end());
    taken.erase(std::unique(taken.begin(), taken.end()), taken.end());
    const auto n = static_cast<std::int64_t>(taken.size());
    ask_.required = std::move(taken);
    ask_.min_cpus = std::max(ask_.min_cpus, n);
    ask_.min_nodes = std::max(ask_.min_nodes, n);
    return std::max(ask_.min_nodes, ask_.wanted_nodes()) <= ask_.most_nodes();
  }

  const ControllerView& view_;
  const Submission& s_;
  const JobDescription& job_;
  const StaticPartition& part_;
  const std::vector<NodeUse>* use_;
  const SelectView select_;
  const SelectRules rules_;
  JobAsk ask_;
  std::vector<std::size_t> candidates_;
  mutable std::vector<std::uint32_t> chosen_;
  std::string detail_;
};

}  // namespace

NodeChoice choose_when_idle(const ControllerView& view, const Submission& s,
                            const StaticPartition& part) {
  return FitTest(view, s, part, nullptr).run();
}

NodeChoice choose_now(const ControllerView& view, const Submission& s, const StaticPartition& part,
                      const std::vector<NodeUse>& use) {
  return FitTest(view, s, part, &use).run();
}

}  // namespace fedsim
