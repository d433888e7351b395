// Offers of nodes in states that were seen before. Most nodes of a cluster are alike and idle, full
// or in one of few states between: looking an offer up costs a tenth of working it out.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/mix.hpp"
#include "select/offer.hpp"

namespace fedsim {

class OfferCache {
 public:
  /// The offer that `make` gives for a request on a node in state `state` (NodePool::states).
  /// `round` tells the questions of one selection apart.
  template <class Make>
  const std::optional<NodeOffer>& get(std::uint32_t request, std::uint64_t state, unsigned round,
                                      Make make) {
    const std::uint64_t key = hash_combine(hash_combine(state, request), round);
    const auto known = offers_.find(key);
    if (known != offers_.end()) return known->second;
    if (offers_.size() >= kMost) offers_.clear();
    return offers_.emplace(key, make()).first->second;
  }

  std::vector<NodeOffer> buffer;  ///< of the selection under way, kept for its memory

 private:
  static constexpr std::size_t kMost = 1 << 14;
  std::unordered_map<std::uint64_t, std::optional<NodeOffer>> offers_;
};

}  // namespace fedsim
