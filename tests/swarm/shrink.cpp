// Makes a failing case of the swarm test small, and writes it for people.
#include <algorithm>
#include <cctype>
#include <functional>

#include "swarm.hpp"

namespace fedsim::swarm {
namespace {

/// What a failure is about: its text without numbers, names of jobs and clusters.
std::string kind_of(const std::string& failure) {
  std::string out;
  for (const char ch : failure) {
    if (std::isdigit(static_cast<unsigned char>(ch)) == 0) out += ch;
  }
  return out;
}

class Shrinker {
 public:
  Shrinker(Case c, const CheckOptions& options) : case_(std::move(c)), options_(options) {
    kind_ = kind_of(run_case(case_, options_).failure);
    if (kind_.find("max_events") == std::string::npos) return;
    case_.options.max_events = 20'000;  // a small case without end shows it sooner
    options_.audit_every = UINT32_MAX;
  }

  Case run() {
    for (std::size_t before = 0; before != size();) {
      before = size();
      drop_operations();
      drop_jobs();
      drop_clusters();
      plainer();
    }
    return std::move(case_);
  }

 private:
  std::size_t size() const {
    return case_.trace.operations.size() + case_.trace.jobs.size() + case_.spec.clusters.size();
  }

  bool keep_if_same(const std::function<void(Case&)>& change) {
    Case smaller = case_;
    change(smaller);
    const std::string failure = run_case(smaller, options_).failure;
    if (failure.empty() || kind_of(failure) != kind_) return false;
    case_ = std::move(smaller);
    return true;
  }

  /// Halves first, then quarters, down to single ones.
  template <class Drop>
  void drop_chunks(std::size_t n, Drop&& drop) {
    for (std::size_t chunk = std::max<std::size_t>(n / 2, 1);; chunk /= 2) {
      for (std::size_t at = n; at > 0;) {
        const std::size_t from = at > chunk ? at - chunk : 0;
        keep_if_same([&](Case& c) { drop(c, from, at); });
        at = from;
      }
      if (chunk <= 1) return;
    }
  }

  template <class T>
  static void erase_chunk(std::vector<T>& list, std::size_t from, std::size_t to) {
    if (from < to)
      list.erase(list.begin() + static_cast<long>(from), list.begin() + static_cast<long>(to));
  }

  void drop_operations() {
    drop_chunks(case_.trace.operations.size(), [](Case& c, std::size_t from, std::size_t to) {
      auto& list = c.trace.operations;
      erase_chunk(list, from, std::min(to, list.size()));
    });
  }

  void drop_jobs() {
    drop_chunks(case_.trace.jobs.size(), [](Case& c, std::size_t from, std::size_t to) {
      auto& list = c.trace.jobs;
      to = std::min(to, list.size());
      for (std::size_t j = from; j < to; ++j) {
        std::erase_if(c.trace.operations,
                      [&](const Operation& op) { return op.target == list[j].label; });
      }
      erase_chunk(list, from, to);
    });
  }

  /// A cluster that jobs or operations name can't go: such a case fails otherwise.
  void drop_clusters() {
    drop_chunks(case_.spec.clusters.size(), [](Case& c, std::size_t from, std::size_t to) {
      auto& list = c.spec.clusters;
      to = std::min(to, list.size());
      if (from >= to || to - from < list.size()) erase_chunk(list, from, to);
    });
  }

  void plainer() {
    const std::vector<std::function<void(JobSpec&)>> changes{
        [](JobSpec& j) { j.clusters = StringId{0}; },
        [](JobSpec& j) { j.cluster_constraint = StringId{0}; },
        [](JobSpec& j) { j.partition = StringId{0}; },
        [](JobSpec& j) { j.begin = kNoTime; },
        [](JobSpec& j) { j.cancel = kNoTime; },
        [](JobSpec& j) { j.held = false; },
        [](JobSpec& j) { j.dependency = StringId{0}; },
        [](JobSpec& j) { j.array_limit = 0; },
        [](JobSpec& j) { j.outcome = Outcome::completed; },
        [](JobSpec& j) { j.run = kSecond * 60; },
        [](JobSpec& j) { j.limit_s = 3600; },
    };
    for (std::size_t j = 0; j < case_.trace.jobs.size(); ++j) {
      for (const auto& change : changes) {
        keep_if_same([&](Case& c) { change(c.trace.jobs[j]); });
      }
    }
    keep_if_same([](Case& c) {
      for (ClusterSpec& cl : c.spec.clusters) cl.options = machine("x", 1, 1).options;
    });
    keep_if_same([](Case& c) { c.spec.latency = LatencySpec{}; });
    keep_if_same([](Case& c) { c.options.fidelity = Fidelity::ideal; });
  }

  Case case_;
  CheckOptions options_;
  std::string kind_;
};

const char* word(OperationKind kind) {
  constexpr const char* kWords[] = {
      "scancel",   "requeue",         "requeuehold",     "hold",
      "release",   "update_clusters", "update_features", "fed_state",
      "fed_join",  "fed_leave",       "controller_down", "controller_up",
      "link_down", "link_up",         "database_down",   "database_up"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string seconds(const Case& c, SimTime t) {
  return std::to_string(to_seconds(t - c.trace.t0));
}

std::string describe_request(const ResourceRequest& r) {
  std::string out = " -n " + std::to_string(r.ntasks);
  if (r.nodes_min != 0) out += " -N " + std::to_string(r.nodes_min);
  if (r.cpus_per_task != 0) out += " -c " + std::to_string(r.cpus_per_task);
  for (const auto& [what, list] : {std::pair{" --gres=", &r.gres_per_node},
                                   {" --gpus=", &r.gres_per_job},
                                   {" --gpus-per-task=", &r.gres_per_task}}) {
    for (const GresRequest& g : *list) out += what + g.type + ":" + std::to_string(g.count);
  }
  if (r.mem_per_node_mib != kUnset) out += " --mem=" + std::to_string(r.mem_per_node_mib);
  return out + (r.exclusive ? " --exclusive" : "");
}

std::string describe_job(const Case& c, const JobSpec& j) {
  const auto text = [&](StringId id) { return std::string(c.trace.strings.view(id)); };
  std::string out = seconds(c, j.submit) + " submit " + text(j.label) + " at " + text(j.origin);
  if (j.clusters.index() != 0) out += " -M " + text(j.clusters);
  if (j.cluster_constraint.index() != 0) out += " --constraint " + text(j.cluster_constraint);
  if (j.partition.index() != 0) out += " -p " + text(j.partition);
  if (j.dependency.index() != 0) out += " -d " + text(j.dependency);
  if (j.array_job != 0) {
    out += " array " + std::to_string(j.array_job) + "_" + std::to_string(j.array_task);
    if (j.array_limit != 0) out += " %" + std::to_string(j.array_limit);
  }
  if (j.het_job != 0) out += " het " + std::to_string(j.het_job);
  if (j.held) out += " -H";
  if (!j.requeue) out += " --no-requeue";
  if (j.begin != kNoTime) out += " begin " + seconds(c, j.begin);
  if (j.cancel != kNoTime) out += " withdrawn " + seconds(c, j.cancel);
  out += " run " + std::to_string(to_seconds(j.run)) + " limit " + std::to_string(j.limit_s);
  return out + describe_request(c.trace.requests[j.request]);
}

}  // namespace

Case shrink(const Case& c, const CheckOptions& options) {
  return Shrinker(c, options).run();
}

std::string describe(const Case& c) {
  const auto text = [&](StringId id) { return std::string(c.trace.strings.view(id)); };
  std::string out = c.options.fidelity == Fidelity::slurm ? "slurm" : "ideal";
  out += c.spec.federated ? ", federated\n" : ", not federated\n";
  for (const ClusterSpec& cl : c.spec.clusters) {
    const NodeSpec& n = cl.nodes.front();
    out += cl.name + " " + std::to_string(cl.release.year) + "." +
           std::to_string(cl.release.month) + ": " + std::to_string(cl.nodes.size()) + " nodes, " +
           std::to_string(n.cpus) + " CPUs, " + std::to_string(n.gpus.size()) + " GPUs;";
    for (const auto& [key, value] : cl.options) out += " " + key + "=" + value;
    for (const std::string& f : cl.features) out += " " + f;
    out += "\n";
  }
  for (const JobSpec& j : c.trace.jobs) out += describe_job(c, j) + "\n";
  for (const Operation& op : c.trace.operations) {
    out += seconds(c, op.at) + " " + word(op.kind) + " " + text(op.cluster);
    for (const StringId id : {op.target, op.sibling, op.value}) out += " '" + text(id) + "'";
    out += op.remote ? " -M\n" : "\n";
  }
  return out;
}

}  // namespace fedsim::swarm
