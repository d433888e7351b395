// GPU indices on a node: lowest free index of the wanted type (semantics 2.5, nodes without Cores
// and Links; seen in recordings 10c and 10g). Untyped entries see every device and are served last.
#include <bit>

#include "sched/select.hpp"

namespace fedsim {

GpuPick pick_gpus(const NodeClass& node, std::uint64_t free_mask,
                  const std::vector<GpuDemand>& wanted, std::uint32_t times) {
  GpuPick pick;
  for (const bool typed : {true, false}) {
    for (const GpuDemand& g : wanted) {
      if ((g.type.index() != 0) != typed) continue;
      std::uint64_t open = free_mask & ~pick.mask;
      if (typed) {
        open &= g.type.index() < node.gpu_mask_by_type.size()
                    ? node.gpu_mask_by_type[g.type.index()]
                    : 0;
      }
      std::uint32_t need = g.count * times;
      if (static_cast<std::uint32_t>(std::popcount(open)) < need) return {0, false};
      for (; need > 0; --need) {
        const std::uint64_t lowest = open & (~open + 1);
        pick.mask |= lowest;
        open ^= lowest;
      }
    }
  }
  return pick;
}

}  // namespace fedsim
