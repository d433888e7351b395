// One job on one partition, ready to be placed again and again: what it asks, how the partition
// hands out CPUs, and the nodes it may use (22.05 _build_node_list, _get_req_features).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "select/placement.hpp"

namespace fedsim {

/// NAME*COUNT of -C: so many of these nodes.
struct CountedKind {
  Bitmap nodes;
  std::int64_t count = 0;
  bool apart = false;  ///< not the nodes that count for another kind
};

struct NodeRequest {
  JobAsk ask;
  SelectRules rules;
  Bitmap nodes;                      ///< of the partition, left by -x, -C and the nodes' sizes
  std::vector<Bitmap> kinds;         ///< [a|b]: all nodes of one of these; empty: of any
  std::vector<CountedKind> counted;  ///< in order; with any, `kinds` is not looked at
  std::uint32_t id = 0;              ///< by which its offers are kept; 0: they are not

  /// False when no state of the nodes lets the job start.
  bool possible() const;
};

/// Where the job would start, on nodes of `open` alone. Nothing: it does not fit now.
std::optional<NodePlacements> place(const SelectView& view, const NodeRequest& request,
                                    BitSpan open);

/// Nodes that would do if nothing ran. With counted kinds Slurm looks at the first of them only.
std::optional<std::vector<std::uint32_t>> nodes_when_idle(const ClusterHardware& hardware,
                                                          const NodeRequest& request);

}  // namespace fedsim
