// The nodes of one partition for a job: those whose configuration and features fit, and the choice
// among them (22.05 _build_node_list,
// _get_req_features, _pick_best_nodes).
#include <algorithm>

#include "base/text.hpp"
#include "submit/submission.hpp"

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

class Nodes {
 public:
  Nodes(const ControllerView& view, const Submission& s, const StaticPartition& part)
      : view_(view), s_(s), job_(s.job), part_(part) {}

  FitRequest run() {
    FitRequest out;
    out.request.ask = ask_of(s_, part_);
    out.request.rules = rules_of(view_, s_.job, part_);
    candidates_ = feature_nodes();
    out.fits_configuration = configurations_fit();
    if (!out.fits_configuration) out.detail = detail_;
    out.request.nodes = bitmap(candidates_);
    for (const FeatureTerm& t : s_.features) {
      if (t.count == 0) continue;
      out.request.counted.push_back(
          {with_feature(t.name), t.count, t.tie == FeatureTie::counted_set});
    }
    // Once brackets have been seen the kinds behind them are told apart as well.
    bool apart = false;
    for (CountedKind& kind : out.request.counted) kind.apart = apart = apart || kind.apart;
    set_kinds(out.request);
    return out;
  }

 private:
  const StaticNode& node(std::size_t n) const { return view_.nodes[n]; }

  Bitmap bitmap(const std::vector<std::size_t>& nodes) const {
    Bitmap out((view_.nodes.size() + 63) / 64, 0);
    for (const std::size_t n : nodes) set_bit(out, n);
    return out;
  }

  Bitmap with_feature(const std::string& name) const {
    std::vector<std::size_t> set;
    for (const std::size_t n : candidates_)
      if (node(n).features.count(name) != 0) set.push_back(n);
    return bitmap(set);
  }

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

  /// [a|b]: nodes all of one kind.
  void set_kinds(NodeRequest& out) const {
    bool inside = false;
    for (const FeatureTerm& t : s_.features) {
      const bool set = t.tie == FeatureTie::one_set;
      if (set || inside) out.kinds.push_back(with_feature(t.name));
      inside = set;
    }
  }

  const ControllerView& view_;
  const Submission& s_;
  const JobDescription& job_;
  const StaticPartition& part_;
  std::vector<std::size_t> candidates_;
  std::string detail_;
};

}  // namespace

SelectRules rules_of(const ControllerView& view, const JobDescription& job,
                     const StaticPartition& part) {
  SelectRules r = view.select;
  const PartitionSpec& spec = *part.spec;
  const auto lln = spec.other.find("LLN");
  if (lln != spec.other.end() && iequals(lln->second, "YES")) r.least_loaded = true;
  r.max_cpus_per_node = spec.max_cpus_per_node > 0 ? spec.max_cpus_per_node : -1;
  r.exclusive = view.linear || spec.oversubscribe == OverSubscribe::exclusive;
  r.shares_cores = spec.oversubscribe == OverSubscribe::force ||
                   (spec.oversubscribe == OverSubscribe::yes && job.shared == SharedNodes::ok);
  r.rows = r.shares_cores ? std::max(spec.oversubscribe_count, 1) : 1;
  r.partition = static_cast<std::size_t>(&part - view.partitions.data());
  return r;
}

FitRequest fit_request(const ControllerView& view, const Submission& s,
                       const StaticPartition& part) {
  return Nodes(view, s, part).run();
}

}  // namespace fedsim
