// Demands and shares without an engine.
#pragma once

#include "sched/select.hpp"

namespace fedsim::tiny {

/// What `request` means in a partition of one of the model's clusters.
inline Demand demand_on(const FederationModel& model, ClusterId c, const ResourceRequest& request,
                        PartitionId partition = PartitionId{0}) {
  const Accounting nobody;
  const ClusterModel& cluster = model.clusters[c.index()];
  const ControllerView view(model.spec->clusters[c.index()], nobody, cluster.hardware);
  return resolve_demand(view, cluster, partition, request);
}

/// The lowest `cpus` cores of a node, and GPUs.
inline NodeShare share(std::uint32_t node, std::uint32_t cpus, std::uint64_t gpu_mask = 0) {
  NodeShare out;
  out.node = node;
  out.cpus = cpus;
  out.gpu_mask = gpu_mask;
  out.cores = CoreSet::first(static_cast<int>(cpus));
  out.key = key_of(out);
  return out;
}

}  // namespace fedsim::tiny
