// Which nodes, cores and GPU indices a job gets now: select/cons_tres on what the pool has free.
//
// A node that is too full is found by a few counts and never offered; on a pool of unit nodes
// counts are all there is. Semantics 3.2 to 3.5 and 2.5.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bitmap.hpp"
#include "state/node_pool.hpp"
#include "submit/demand.hpp"

namespace fedsim {

/// Buffers reused by every call.
struct SelectScratch {
  Bitmap open;
  OfferCache offers;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> unit_runs;  ///< (length, first node)
  Bitmap unit_chosen;
  std::vector<NodeUse> unit_use;
};

/// False: node `n` can't be chosen for `demand` now, whatever else is. Features and partition are
/// the caller's to test (Demand::request.nodes).
bool may_use(const ClusterModel& model, const NodePool& pool, const Demand& demand, std::size_t n);

/// Nodes where cores are free, or that may be shared.
inline const Bitmap& with_cores(const NodePool& pool, const Demand& demand) {
  return demand.shares_cores ? pool.usable() : pool.with_free_cpus();
}

/// Chooses nodes among `candidates` and fills `shares` (node order). False: does not fit now.
bool select_nodes(const ClusterModel& model, const NodePool& pool, const Demand& demand,
                  BitSpan candidates, SelectScratch& scratch, std::vector<NodeShare>& shares);

/// The same choice on a pool of unit nodes, where a node is one CPU: fills `chosen` from `open`.
/// O(N/64 + runs log runs). False: fewer than `need` are open.
bool choose_units(std::uint32_t need, BitSpan open, SelectScratch& scratch, Bitmap& chosen);
/// One CPU on each chosen node.
void unit_shares(BitSpan chosen, std::vector<NodeShare>& shares);

}  // namespace fedsim
