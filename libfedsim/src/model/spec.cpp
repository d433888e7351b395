// Small functions of include/fedsim/spec.hpp.
#include "fedsim/spec.hpp"

#include <algorithm>
#include <utility>

namespace fedsim {

FederationSpec FederationSpec::with_cluster(ClusterSpec cluster) const {
  FederationSpec wider = *this;
  wider.clusters.push_back(std::move(cluster));
  if (wider.clusters.size() > 1) wider.federated = true;
  return wider;
}

ClusterSpec machine(std::string name, int nodes, int units, std::string gpu_type) {
  std::vector<Diagnostic> wrong;
  const std::string size = std::to_string(nodes) + "x" + std::to_string(units);
  if (nodes < 1 || units < 1) {
    wrong.push_back({Severity::error, "C038", "", 0,
                     "machine " + size + " needs at least one node and one unit a node",
                     "write NODESxUNITS, as in 16x8"});
  }
  if (gpu_type != "-" && units > 64) {
    wrong.push_back({Severity::error, "C038", "", 0, "machine " + size + ": at most 64 GPUs a node",
                     "use more, smaller nodes"});
  }
  if (!wrong.empty()) throw InputError(std::move(wrong));

  ClusterSpec cluster;
  cluster.name = std::move(name);
  cluster.options["SelectType"] = "select/cons_tres";
  cluster.options["SelectTypeParameters"] = "CR_Core";
  NodeSpec node;
  node.cpus = units;
  node.cores_per_socket = units;
  node.state = "IDLE";
  if (gpu_type != "-") {
    cluster.options["GresTypes"] = "gpu";
    node.gres = {{"gpu", gpu_type, units}};
    node.gpus.assign(static_cast<std::size_t>(units), GpuDeviceSpec{gpu_type, "", {}});
  }
  PartitionSpec batch;
  batch.name = "batch";
  batch.is_default = true;
  const std::size_t width = std::to_string(nodes).size();
  for (int i = 1; i <= nodes; ++i) {
    std::string digits = std::to_string(i);
    node.name = "n" + std::string(width - digits.size(), '0') + digits;
    batch.nodes.push_back(node.name);
    cluster.nodes.push_back(node);
  }
  cluster.partitions.push_back(std::move(batch));
  return cluster;
}

bool ConfigResult::ok() const {
  return std::none_of(diagnostics.begin(), diagnostics.end(),
                      [](const Diagnostic& d) { return d.severity == Severity::error; });
}

}  // namespace fedsim
