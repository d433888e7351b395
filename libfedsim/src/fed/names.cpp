// Names of a trace looked up in the model: see context.hpp.
#include <algorithm>
#include <string>

#include "fed/dependency.hpp"

namespace fedsim {
namespace {

/// Calls `f(text)` for each non-empty piece of a comma list.
template <class F>
void for_each_piece(std::string_view list, F&& f) {
  for (std::size_t from = 0; from <= list.size();) {
    std::size_t to = list.find(',', from);
    if (to == std::string_view::npos) to = list.size();
    if (to > from) f(std::string(list.substr(from, to - from)));
    from = to + 1;
  }
}

Diagnostic unknown_cluster(const FederationModel& model, const std::string& name,
                           const char* what) {
  std::string known;
  for (const ClusterModel& c : model.clusters) known += (known.empty() ? "" : ", ") + c.name;
  return {Severity::error,
          "C101",
          "",
          0,
          std::string(what) + " names an unknown cluster '" + name + "'",
          "clusters of this federation: " + known};
}

/// Any of the features; a list that begins with '!' is negative as a whole (semantics 1.3).
NameTable::Constraint resolve_constraint(const FederationModel& model, std::string_view text) {
  const bool negative = !text.empty() && text.front() == '!';
  NameTable::Constraint out;
  ClusterSet matched;
  for_each_piece(text, [&](std::string feature) {
    if (negative && feature.front() == '!') feature.erase(0, 1);
    ClusterSet with;
    for (std::size_t c = 0; c < model.clusters.size(); ++c) {
      for (const std::string& f : model.clusters[c].cluster_features) {
        if (f == feature) with.add(ClusterId{c});
      }
    }
    // 22.05 refuses a name that exists nowhere (recording 05a).
    if (with.empty()) out.valid = false;
    matched = matched | with;
  });
  out.clusters = negative ? ClusterSet::first(model.clusters.size()) - matched : matched;
  if (out.clusters.empty()) out.valid = false;
  return out;
}

bool names_a_job(OperationKind kind) {
  return kind <= OperationKind::update_cluster_features;
}

class Resolver {
 public:
  Resolver(const FederationModel& model, const Trace& trace) : model_(model), trace_(trace) {
    out_.partitions.resize(model.clusters.size());
  }

  NameTable run() {
    for (const JobSpec& j : trace_.jobs) {
      cluster(j.origin, "a job's origin");
      list(j.clusters);
      constraint(j.cluster_constraint);
      partitions(j.partition);
      if (j.array_job != 0) array(j.array_job);
      out_.any_het = out_.any_het || j.het_job != 0;
    }
    for (const Operation& op : trace_.operations) {
      cluster(op.cluster, "an operation");
      cluster(op.sibling, "an operation");
      if (op.kind == OperationKind::update_clusters) list(op.value);
      if (op.kind == OperationKind::update_cluster_features) constraint(op.value);
    }
    labels();
    dependencies();
    if (!wrong_.empty()) throw InputError(std::move(wrong_));
    return std::move(out_);
  }

 private:
  void cluster(StringId id, const char* what) {
    if (id.index() == 0 || out_.clusters.contains(id.index())) return;
    const std::string name{trace_.strings.view(id)};
    const ClusterId c = model_.find_cluster(name);
    if (!c.valid()) wrong_.push_back(unknown_cluster(model_, name, what));
    out_.clusters.emplace(id.index(), c);
  }

  void list(StringId id) {
    if (id.index() == 0 || out_.cluster_lists.contains(id.index())) return;
    const std::string_view text = trace_.strings.view(id);
    ClusterSet set;
    if (text == "all" || text.empty()) {
      set = ClusterSet::first(model_.clusters.size());
    } else {
      for_each_piece(text, [&](const std::string& name) {
        const ClusterId c = model_.find_cluster(name);
        if (c.valid()) {
          set.add(c);
        } else {
          out_.unknown_lists.insert(id.index());  // sbatch refuses the job
        }
      });
    }
    out_.cluster_lists.emplace(id.index(), set);
  }

  void constraint(StringId id) {
    if (id.index() == 0 || out_.constraints.contains(id.index())) return;
    out_.constraints.emplace(id.index(), resolve_constraint(model_, trace_.strings.view(id)));
  }

  void partitions(StringId id) {
    if (out_.partitions.front().contains(id.index())) return;
    for (std::size_t c = 0; c < model_.clusters.size(); ++c) {
      std::vector<PartitionId> found;
      if (id.index() == 0) {
        if (model_.clusters[c].default_partition.valid()) {
          found.push_back(model_.clusters[c].default_partition);
        }
      } else {
        bool unknown = false;
        for_each_piece(trace_.strings.view(id), [&](const std::string& name) {
          const PartitionId p = model_.clusters[c].find_partition(name);
          if (p.valid()) found.push_back(p);
          unknown = unknown || !p.valid();
        });
        if (unknown) found.clear();  // one unknown name refuses the list (semantics 13.2 point 11)
      }
      out_.partitions[c].emplace(id.index(), std::move(found));
    }
  }

  void array(std::uint32_t id) {
    const auto [found, added] =
        out_.arrays.emplace(id, static_cast<std::uint32_t>(out_.array_sizes.size()));
    if (added) out_.array_sizes.emplace_back();
    ++out_.array_sizes[found->second].left;
  }

  void labels() {
    const bool needed = !trace_.operations.empty() ||
                        std::any_of(trace_.jobs.begin(), trace_.jobs.end(),
                                    [](const JobSpec& j) { return j.dependency.index() != 0; });
    for (std::size_t j = 0; needed && j < trace_.jobs.size(); ++j) {
      if (trace_.jobs[j].label.index() == 0) continue;
      LabelledJobs& jobs =
          out_.labels.try_emplace(trace_.jobs[j].label.index(), LabelledJobs{JobId{j}, 0})
              .first->second;
      const bool next = trace_.jobs[j].array_job != 0 || trace_.jobs[j].het_job != 0;
      if (jobs.count == 0 || (next && jobs.first.index() + jobs.count == j)) ++jobs.count;
    }
    for (const Operation& op : trace_.operations) {
      if (op.target.index() == 0 && !names_a_job(op.kind)) continue;
      if (out_.labels.contains(op.target.index())) continue;
      wrong_.push_back({Severity::error, "C102", "", 0,
                        "an operation names the unknown job '" +
                            std::string(trace_.strings.view(op.target)) + "'",
                        "operations refer to jobs by the label of their submission"});
    }
  }

  void dependencies() {
    for (const JobSpec& j : trace_.jobs) {
      const StringId id = j.dependency;
      if (id.index() == 0 || out_.dependencies.contains(id.index())) continue;
      const std::string text{trace_.strings.view(id)};
      std::string problem;
      DependencyList list = parse_dependency(text, problem);
      for (Dependency& d : list.conditions) {
        if (d.kind != DependencyKind::singleton && !find_label(d))
          problem = "no submission is labelled '" + d.label + "'";
      }
      if (!problem.empty()) {
        wrong_.push_back({Severity::error, "C102", "", 0, "--dependency=" + text + ": " + problem,
                          "jobs are named by the label of their submission"});
      }
      out_.dependencies.emplace(id.index(), std::move(list));
    }
  }

  bool find_label(Dependency& d) {
    const bool braces = d.label.size() > 2 && d.label.front() == '{' && d.label.back() == '}';
    if (braces) d.label = d.label.substr(1, d.label.size() - 2);
    const StringId known = trace_.strings.find(d.label);
    const auto found = known.valid() ? out_.labels.find(known.index()) : out_.labels.end();
    if (found == out_.labels.end()) return false;
    d.first = found->second.first;
    d.count = found->second.count;
    return true;
  }

  const FederationModel& model_;
  const Trace& trace_;
  NameTable out_;
  std::vector<Diagnostic> wrong_;
};

}  // namespace

NameTable resolve_names(const FederationModel& model, const Trace& trace) {
  return Resolver(model, trace).run();
}

}  // namespace fedsim
