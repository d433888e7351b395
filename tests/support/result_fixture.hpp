// Results made by hand: small models and raw rows with known answers, for tests of the tables.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/reason.hpp"
#include "fedsim/result.hpp"

namespace fedsim::test {

inline SimTime at(double seconds) {
  return from_unix_seconds(1'800'000'000) + seconds_to_duration(seconds);
}

/// A cluster of equal nodes NAME1, NAME2 ... with the given device types ("" is untyped).
inline ClusterModel make_cluster(const std::string& name, int nodes,
                                 const std::vector<std::string>& devices, int cpus = 64) {
  ClusterModel c;
  c.name = name;
  c.gpu_types = {""};
  NodeClass node;
  node.cpus = cpus;
  for (const std::string& type : devices) {
    std::size_t t = 0;
    while (t < c.gpu_types.size() && c.gpu_types[t] != type) ++t;
    if (t == c.gpu_types.size()) c.gpu_types.push_back(type);
    node.gpu_type_by_index.push_back(GpuTypeId{t});
  }
  node.gpu_mask_by_type.assign(c.gpu_types.size(), 0);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    node.gpu_mask_by_type[node.gpu_type_by_index[i].index()] |= std::uint64_t{1} << i;
    node.gpu_mask |= std::uint64_t{1} << i;
  }
  c.classes.push_back(node);
  PartitionModel partition;
  partition.spec.name = "batch";
  c.partitions.push_back(partition);
  c.default_partition = PartitionId{0};
  for (int i = 1; i <= nodes; ++i) {
    NodeModel n;
    n.name = name.substr(0, 1) + std::to_string(i);
    c.nodes.push_back(n);
  }
  c.gpus_n = static_cast<std::size_t>(nodes) * devices.size();
  c.cpus_n = static_cast<std::int64_t>(nodes) * cpus;
  return c;
}

inline std::vector<std::string> devices(int n, const std::string& type = "a100") {
  return std::vector<std::string>(static_cast<std::size_t>(n), type);
}

/// Builds the raw rows of a run step by step.
class ResultBuilder {
 public:
  explicit ResultBuilder(std::vector<ClusterModel> clusters, bool federated = true)
      : model_(std::make_shared<FederationModel>()), trace_(std::make_shared<Trace>()) {
    model_->federated = federated;
    model_->clusters = std::move(clusters);
    trace_->t0 = at(0);
    trace_->relative_times = true;
    result_.scenario.model = model_;
    result_.scenario.trace = trace_;
  }

  Trace& trace() { return *trace_; }
  FederationModel& model() { return *model_; }
  Result& raw() { return result_; }

  JobId job(const std::string& label, int origin, std::int64_t gpus, double submit) {
    JobSpec spec;
    spec.label = trace_->strings.intern(label);
    spec.origin = trace_->strings.intern(model_->clusters[static_cast<std::size_t>(origin)].name);
    spec.submit = at(submit);
    ResourceRequest request;
    if (gpus > 0) request.gres_per_node.push_back({"gpu", "", gpus});
    trace_->requests.push_back(request);
    spec.request = static_cast<std::uint32_t>(trace_->requests.size() - 1);
    trace_->jobs.push_back(spec);
    JobRow row;
    const auto local = static_cast<std::uint32_t>(trace_->jobs.size());
    row.job_id =
        encode_job_id({model_->federated ? static_cast<std::uint32_t>(origin) + 1 : 0, local});
    row.origin = ClusterId{origin};
    result_.job_rows.push_back(row);
    return JobId{result_.job_rows.size() - 1};
  }

  std::size_t record(JobId job, int cluster, RecordState state, double submit) {
    RecordRow r;
    r.job = job;
    r.cluster = ClusterId{cluster};
    r.state = state;
    r.partition = PartitionId{0};
    r.submit = at(submit);
    r.eligible = at(submit);
    result_.record_rows.push_back(r);
    ++result_.job_rows[job.index()].records_n;
    return result_.record_rows.size() - 1;
  }

  std::size_t revoked(JobId job, int cluster, double submit, double end) {
    const std::size_t i = record(job, cluster, RecordState::revoked, submit);
    result_.record_rows[i].end = at(end);
    return i;
  }

  /// A record that ran; a negative end: still running.
  std::size_t ran(JobId job, int cluster, RecordState state, double submit, double start,
                  double end, const std::vector<Placement>& places, std::uint32_t tasks = 1) {
    const std::size_t i = record(job, cluster, state, submit);
    AllocationRow a;
    a.job = job;
    a.cluster = ClusterId{cluster};
    a.record = static_cast<std::uint32_t>(i);
    a.nodes_n = static_cast<std::uint32_t>(places.size());
    a.place_offset = result_.placements.size();
    for (const Placement& p : places) {
      a.cpus += p.cpus;
      a.gpus += std::popcount(p.gpu_mask);
      result_.placements.push_back(p);
    }
    a.memory_mib = 1000;
    a.start = at(start);
    a.end = end < 0 ? kNoTime : at(end);
    a.tasks = tasks;
    RecordRow& r = result_.record_rows[i];
    r.start = a.start;
    r.end = a.end;
    r.allocation = static_cast<std::uint32_t>(result_.allocation_rows.size());
    result_.allocation_rows.push_back(a);
    JobRow& row = result_.job_rows[job.index()];
    row.ran = a.cluster;
    row.state = state;
    return i;
  }

  void reject(JobId job, Reason reason) {
    result_.job_rows[job.index()].state = RecordState::rejected;
    result_.job_rows[job.index()].reason = static_cast<std::uint8_t>(reason);
  }

 private:
  std::shared_ptr<FederationModel> model_;
  std::shared_ptr<Trace> trace_;
  Result result_;
};

inline Placement place(int node, std::uint64_t mask, std::uint32_t cpus = 1) {
  Placement p;
  p.node = NodeId{node};
  p.cpus = cpus;
  p.gpu_mask = mask;
  return p;
}

/// J1 (6 GPUs) runs on b, J2 (6) on a, both submitted at a; J12 (12) is refused. `srun -n6` each.
inline ResultBuilder two_by_six() {
  ResultBuilder b({make_cluster("alpha", 1, devices(8)), make_cluster("beta", 1, devices(8))});
  const JobId j1 = b.job("J1", 0, 6, 0);
  const JobId j2 = b.job("J2", 0, 6, 0.2);
  const JobId j12 = b.job("J12", 0, 12, 0.5);
  b.revoked(j1, 0, 0, 0.8);
  b.ran(j1, 1, RecordState::completed, 0, 0.75, 30.75, {place(0, 0x3F, 6)}, 6);
  b.ran(j2, 0, RecordState::completed, 0.2, 1, 31, {place(0, 0x3F, 6)}, 6);
  b.revoked(j2, 1, 0.2, 1);
  b.reject(j12, Reason::node_config_unavailable);
  return b;
}

}  // namespace fedsim::test
