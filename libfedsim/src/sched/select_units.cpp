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

/// Tightest run in [i, end) that holds `need`, the lowest of equal ones; runs.size(): none does.
std::size_t tightest(const Runs& runs, std::size_t i, std::uint32_t need) {
  std::size_t best = runs.size();
  for (; i < runs.size(); ++i) {
    if (runs[i].first >= need && (best == runs.size() || runs[i].first < runs[best].first))
      best = i;
  }
  return best;
}

void take(std::uint32_t first, std::uint32_t count, Bitmap& chosen) {
  for (std::uint32_t at = first; count > 0;) {
    const std::uint32_t bit = at % 64;
    const std::uint32_t n = std::min(count, 64 - bit);
    chosen[at / 64] |= (n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1) << bit;
    at += n;
    count -= n;
  }
}

}  // namespace

bool choose_units(std::uint32_t need, BitSpan open, SelectScratch& s, Bitmap& chosen) {
  Runs& runs = s.unit_runs;
  find_runs(open, runs);
  chosen.assign(open.size(), 0);
  std::size_t best = tightest(runs, 0, need);
  if (best == runs.size()) {
    // Longest first, then lowest node: runs that don't suffice are taken from the front.
    std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::size_t i = 0;
    for (; i < runs.size() && runs[i].first < need; ++i) {
      take(runs[i].second, runs[i].first, chosen);
      need -= runs[i].first;
    }
    if (need == 0 || i == runs.size()) return need == 0;
    best = tightest(runs, i, need);
  }
  take(runs[best].second, need, chosen);
  return true;
}

void unit_shares(BitSpan chosen, std::vector<NodeShare>& shares) {
  shares.clear();
  for_each_bit(chosen, [&](std::size_t n) {
    NodeShare& share = shares.emplace_back();
    share.node = static_cast<std::uint32_t>(n);
    share.cpus = 1;
  });
}

}  // namespace fedsim
