// Which nodes and GPU indices a job gets: cons_tres with consecutive best fit (topology/default).
//
// Semantics 3.2 to 3.5 and 2.5. Leaves out: socket and core places, topology/tree and block,
// oversubscribed cores, LLN ties beyond the lowest index.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bitmap.hpp"
#include "request/demand.hpp"
#include "state/node_pool.hpp"

namespace fedsim {

/// Buffers reused by every call, so that a pass allocates nothing once they have grown.
struct SelectScratch {
  struct Candidate {
    std::uint32_t node = 0;
    std::uint32_t cpus = 0;  ///< CPUs the job could use there
    std::uint32_t gpus = 0;  ///< free GPUs that --gpus could use there
    int weight = 0;
    bool taken = false;
  };
  struct Run {
    std::uint32_t first = 0, count = 0;  ///< candidates [first, first + count)
    std::uint64_t cpus = 0, gpus = 0;
    int weight = 0;
    bool used = false;
  };
  std::vector<Candidate> candidates;
  std::vector<Run> runs;
  std::vector<std::uint32_t> chosen;  ///< candidate indices, in order of choice
  std::vector<std::pair<std::uint32_t, std::uint32_t>> unit_runs;  ///< (length, first node)
  Bitmap unit_open;
  Bitmap unit_chosen;
};

/// CPUs that `demand` could use on node `n` now; 0 when it can't run there at all.
std::uint32_t usable_cpus(const ClusterModel& model, const NodePool& pool, const Demand& demand,
                          std::size_t n);

/// Chooses nodes among `candidates` and fills `shares` (node order). False: does not fit now.
bool select_nodes(const ClusterModel& model, const NodePool& pool, const Demand& demand,
                  BitSpan candidates, SelectScratch& scratch, std::vector<NodeShare>& shares);

/// The same choice on a pool of unit nodes, where a node is one CPU: fills `chosen` from `open`.
/// O(N/64 + runs log runs). False: fewer than `need` are open.
bool choose_units(std::uint32_t need, BitSpan open, SelectScratch& scratch, Bitmap& chosen);
/// One CPU on each chosen node.
void unit_shares(BitSpan chosen, std::vector<NodeShare>& shares);

/// True when `demand` fits on the partition's nodes with nothing running.
bool ever_fits(const ClusterModel& model, const PartitionModel& partition, const Demand& demand);

/// Device mask for one node: typed entries first, lowest free index; nullopt-like 0 with ok =
/// false.
struct GpuPick {
  std::uint64_t mask = 0;
  bool ok = true;
};
GpuPick pick_gpus(const NodeClass& node, std::uint64_t free_mask,
                  const std::vector<GpuDemand>& wanted, std::uint32_t times);

}  // namespace fedsim
