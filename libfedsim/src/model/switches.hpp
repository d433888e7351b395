// topology/tree: switches over nodes and over each other, with their distances (topology.conf).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bitmap.hpp"
#include "fedsim/spec.hpp"

namespace fedsim {

/// Switches in file order. O(switches^3) to build, for the distances.
class SwitchTree {
 public:
  static constexpr std::uint32_t kNoWay = UINT32_MAX;

  struct Switch {
    int level = 0;  ///< 0: leaf
    std::size_t parent = 0;
    Bitmap nodes;  ///< reached below it
  };

  SwitchTree() = default;
  /// `names` are the cluster's nodes in slurmctld's order. Unknown names are left out; compile()
  /// has reported them.
  SwitchTree(const std::vector<SwitchSpec>& specs, const std::vector<std::string>& names);

  bool empty() const { return switches_.empty(); }
  std::size_t size() const { return switches_.size(); }
  const Switch& operator[](std::size_t i) const { return switches_[i]; }
  /// Leaf switches with a node of `nodes`.
  std::size_t leaves(BitSpan nodes) const;
  /// Hops between two switches; kNoWay when they are not connected.
  std::uint32_t distance(std::size_t a, std::size_t b) const { return distance_[a * size() + b]; }

 private:
  void set_levels(const std::vector<SwitchSpec>& specs);
  void set_distances();

  std::vector<Switch> switches_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<std::uint32_t> distance_;
};

}  // namespace fedsim
