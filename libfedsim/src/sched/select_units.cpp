// Consecutive best fit on a pool of unit nodes: only runs of free nodes matter, see select.hpp.
#include <algorithm>
#include <bit>

#include "sched/select.hpp"

namespace fedsim {
namespace {

using Runs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Maximal runs of set bits as (length, first), ascending by first.
void find_runs(BitSpan open, Runs& runs) {
  runs.clear();
  std::uint32_t end = UINT32_MAX;  // one past the last run
  for (std::size_t w = 0; w < open.size(); ++w) {
    std::uint64_t bits = open[w];
    std::uint32_t at = static_cast<std::uint32_t>(w * 64);
    while (bits != 0) {
      const auto skip = static_cast<std::uint32_t>(std::countr_zero(bits));
      bits >>= skip;
      at += skip;
      const auto length = static_cast<std::uint32_t>(std::countr_one(bits));
      if (end == at) {
        runs.back().first += length;
      } else {
        runs.emplace_back(length, at);
      }
      at += length;
      end = at;
      bits = length == 64 ? 0 : bits >> length;
    }
  }
}

void take(std::uint32_t first, std::uint32_t count, std::vector<NodeShare>& shares) {
  for (std::uint32_t n = first; n < first + count; ++n) shares.push_back({n, 1, 0, 0});
}

}  // namespace

bool select_units(std::uint32_t need, BitSpan open, SelectScratch& s,
                  std::vector<NodeShare>& shares) {
  Runs& runs = s.unit_runs;
  find_runs(open, runs);
  // Longest first, then lowest node: runs that don't suffice are taken from the front.
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  shares.clear();
  std::size_t i = 0;
  for (; i < runs.size() && runs[i].first < need; ++i) {
    take(runs[i].second, runs[i].first, shares);
    need -= runs[i].first;
  }
  if (need == 0 || i == runs.size()) return need == 0;
  // The tightest run that holds the rest; the lowest of equal ones.
  std::size_t best = i;
  for (std::size_t k = i; k < runs.size() && runs[k].first >= need; ++k) {
    if (runs[k].first < runs[best].first) best = k;
  }
  take(runs[best].second, need, shares);
  std::sort(shares.begin(), shares.end(),
            [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
  return true;
}

}  // namespace fedsim
