// Node lists and GPU indices of an allocation, as Slurm and the recordings write them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fedsim/model.hpp"
#include "fedsim/result.hpp"
#include "fedsim/trace.hpp"

namespace fedsim {

/// "0-2,5" from the bits of `mask`; "" for none.
std::string index_ranges(std::uint64_t mask);
/// The same of ascending numbers, for CPU ids past 63.
std::string index_ranges(const std::vector<int>& indices);

/// "n[1-2]"; the placements are in node order.
std::string node_list(const ClusterModel& cluster, std::span<const Placement> placements);

/// GPU types that a request names: only those are listed of a node with several.
struct GpuTypesAsked {
  bool any = true;          ///< asks for GPUs without a type: every type of the node is listed
  std::uint64_t types = 0;  ///< by GpuTypeId of the cluster, where `any` is false
};
GpuTypesAsked gpu_types_asked(const ClusterModel& cluster, const ResourceRequest& request);

/// "a1:gpu:a100[0-5]"; nodes separated by ';', neighbours with equal CPUs and GPUs joined as
/// "n[1-2]:gpu:a100[0-7]"; "gpu[0-3]" for untyped devices. "" when no GPU is held.
std::string gpu_idx(const ClusterModel& cluster, std::span<const Placement> placements,
                    const GpuTypesAsked& asked);

}  // namespace fedsim
