// Node lists and GPU indices as text. The form is that of `scontrol show job -d`
// (GRES=gpu:a100:2(IDX:0-1)), shortened as the recordings of real federations write it: count left
// out, indices in brackets.
#include "result/gpu_idx.hpp"

#include <algorithm>
#include <bit>

#include "fedsim/slurm_conf.hpp"

namespace fedsim {
namespace {

// One node's part after the name: "gpu:a100[0-3],gpu:v100[]", or "-" without GPUs. A request
// without a type lists every type of the node in device order, also those of which it holds none.
void append_devices(std::string& out, const ClusterModel& cluster, const Placement& place,
                    const GpuTypesAsked& asked) {
  const NodeClass& node = cluster.node_class(place.node);
  if (place.gpu_mask == 0 && node.gpu_mask == 0) {
    out += '-';
    return;
  }
  std::uint64_t listed = 0;
  const std::size_t before = out.size();
  for (const GpuTypeId type : node.gpu_type_by_index) {
    if ((listed >> type.index()) & 1U) continue;
    listed |= std::uint64_t{1} << type.index();
    const std::uint64_t held = place.gpu_mask & node.gpu_mask_by_type[type.index()];
    if (held == 0 && !asked.any && ((asked.types >> type.index()) & 1U) == 0) continue;
    if (out.size() != before) out += ',';
    out += "gpu";
    if (!cluster.gpu_types[type.index()].empty()) out += ":" + cluster.gpu_types[type.index()];
    out += '[';
    out += index_ranges(held);
    out += ']';
  }
  if (out.size() == before || place.gpu_mask == 0) {
    out.resize(before);
    out += '-';
  }
}

bool same_entry(const ClusterModel& cluster, const Placement& a, const Placement& b) {
  if (a.gpu_mask != b.gpu_mask || a.cpus != b.cpus || a.cpu_key != b.cpu_key) return false;
  const std::uint32_t ca = cluster.nodes[a.node.index()].node_class;
  const std::uint32_t cb = cluster.nodes[b.node.index()].node_class;
  return ca == cb || cluster.classes[ca].gpu_type_by_index == cluster.classes[cb].gpu_type_by_index;
}

}  // namespace

std::string index_ranges(std::uint64_t mask) {
  std::string out;
  while (mask != 0) {
    const int first = std::countr_zero(mask);
    const int length = std::countr_one(mask >> first);
    if (!out.empty()) out += ',';
    out += std::to_string(first);
    if (length > 1) out += "-" + std::to_string(first + length - 1);
    if (first + length >= 64) break;
    mask &= ~((std::uint64_t{1} << (first + length)) - 1);
  }
  return out;
}

std::string index_ranges(const std::vector<int>& indices) {
  std::string out;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t j = i;
    while (j + 1 < indices.size() && indices[j + 1] == indices[j] + 1) ++j;
    out += (out.empty() ? "" : ",") + std::to_string(indices[i]);
    if (j > i) out += "-" + std::to_string(indices[j]);
    i = j + 1;
  }
  return out;
}

std::string node_list(const ClusterModel& cluster, std::span<const Placement> placements) {
  if (placements.empty()) return {};
  if (placements.size() == 1) return cluster.nodes[placements[0].node.index()].name;
  std::vector<std::string> names;
  names.reserve(placements.size());
  for (const Placement& p : placements) names.push_back(cluster.nodes[p.node.index()].name);
  return compress_hostlist(names);
}

GpuTypesAsked gpu_types_asked(const ClusterModel& cluster, const ResourceRequest& request) {
  GpuTypesAsked asked{.any = false, .types = 0};
  bool gpus = false;
  for (const auto* list : {&request.gres_per_node, &request.gres_per_job, &request.gres_per_task,
                           &request.gres_per_socket}) {
    for (const GresRequest& g : *list) {
      if (g.name != "gpu") continue;
      gpus = true;
      if (g.type.empty()) asked.any = true;
      const auto at = std::find(cluster.gpu_types.begin(), cluster.gpu_types.end(), g.type);
      if (at != cluster.gpu_types.end()) {
        asked.types |= std::uint64_t{1} << static_cast<unsigned>(at - cluster.gpu_types.begin());
      }
    }
  }
  if (!gpus) asked.any = true;
  return asked;
}

std::string gpu_idx(const ClusterModel& cluster, std::span<const Placement> placements,
                    const GpuTypesAsked& asked) {
  const bool held = std::any_of(placements.begin(), placements.end(),
                                [](const Placement& p) { return p.gpu_mask != 0; });
  std::string out;
  if (!held) return out;
  for (std::size_t i = 0; i < placements.size();) {
    std::size_t end = i + 1;
    while (end < placements.size() && same_entry(cluster, placements[i], placements[end])) ++end;
    if (!out.empty()) out += ';';
    out += node_list(cluster, placements.subspan(i, end - i));
    out += ':';
    append_devices(out, cluster, placements[i], asked);
    i = end;
  }
  return out;
}

}  // namespace fedsim
