// Tiny builders for tests: clusters of equal nodes, jobs in seconds, runs in one line.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fedsim/model.hpp"
#include "fedsim/result.hpp"
#include "fedsim/simulation.hpp"

namespace fedsim::tiny {

inline SimTime at(double seconds) {
  return from_unix_seconds(1'000'000'000) + seconds_to_duration(seconds);
}

/// A cluster with `nodes` nodes of `gpus` GPUs and as many CPUs times eight; memory is not counted.
inline ClusterSpec cluster(const std::string& name, int nodes, int gpus) {
  ClusterSpec c = machine(name, nodes, gpus, "a100");
  for (NodeSpec& n : c.nodes) {
    n.name = name.substr(0, 1) + n.name.substr(1);
    n.cpus = gpus * 8;
    n.cores_per_socket = n.cpus;
  }
  for (std::string& n : c.partitions.front().nodes) n = name.substr(0, 1) + n.substr(1);
  return c;
}

inline FederationSpec federation(std::vector<ClusterSpec> clusters) {
  FederationSpec spec;
  spec.name = "fed";
  spec.federated = clusters.size() > 1;
  spec.clusters = std::move(clusters);
  return spec;
}

/// One job: `gpus` per node on one node unless changed afterwards.
struct JobOptions {
  std::string label;
  double submit_s = 0;
  double run_s = 60;
  std::int64_t limit_s = 3600;
  int gpus = 0;
  int tasks = 1;
  std::string origin;
  std::string clusters;
};

class Jobs {
 public:
  Jobs() {
    trace_.t0 = at(0);
    trace_.relative_times = true;
  }
  JobSpec& add(const JobOptions& o) {
    ResourceRequest r;
    r.ntasks = o.tasks;
    if (o.gpus > 0) r.gres_per_node = {{"gpu", "", o.gpus}};
    return add(o, r);
  }
  JobSpec& add(const JobOptions& o, const ResourceRequest& r) {
    JobSpec j;
    j.submit = at(o.submit_s);
    j.run = seconds_to_duration(o.run_s);
    j.run_is_elapsed = true;
    j.limit_s = o.limit_s;
    j.request = trace_.intern_request(r);
    j.label = trace_.strings.intern(o.label);
    j.origin = trace_.strings.intern(o.origin);
    j.clusters = trace_.strings.intern(o.clusters);
    trace_.jobs.push_back(j);
    return trace_.jobs.back();
  }
  void operation(double t, OperationKind kind, const std::string& cluster,
                 const std::string& label) {
    trace_.operations.push_back(
        {at(t), kind, trace_.strings.intern(cluster), trace_.strings.intern(label), StringId{0}});
  }
  std::shared_ptr<const Trace> done() {
    trace_.finish();
    return std::make_shared<const Trace>(trace_);
  }

 private:
  Trace trace_;
};

inline Scenario scenario(const FederationSpec& spec, Jobs jobs,
                         Fidelity fidelity = Fidelity::slurm) {
  Scenario s;
  s.model = compile(spec);
  s.trace = jobs.done();
  s.options.fidelity = fidelity;
  s.options.audit_every = 1;
  s.options.keep_events = true;
  s.options.controller_start.assign(spec.clusters.size(), at(-12.5));
  return s;
}

/// Rows of records.csv that belong to a label, in order of creation.
inline std::vector<RecordRow> records_of(const Result& r, const std::string& label) {
  std::vector<RecordRow> out;
  const Trace& trace = *r.scenario.trace;
  for (const RecordRow& row : r.record_rows) {
    if (trace.strings.view(trace.jobs[row.job.index()].label) == label) out.push_back(row);
  }
  return out;
}

/// Seconds from t0; -1 for never.
inline double rel(SimTime t) {
  return t == kNoTime ? -1 : to_seconds(t - at(0));
}

}  // namespace fedsim::tiny
