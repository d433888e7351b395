// Fixed-width sets of small indices over 64-bit words: node sets of schedulers. Header only, no
// allocation after sizing; every function is O(words).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fedsim {

using Bitmap = std::vector<std::uint64_t>;
using BitSpan = std::span<const std::uint64_t>;

inline bool test_bit(BitSpan b, std::size_t i) {
  return (b[i / 64] >> (i % 64)) & 1U;
}
inline void set_bit(Bitmap& b, std::size_t i) {
  b[i / 64] |= std::uint64_t{1} << (i % 64);
}
inline void clear_bit(Bitmap& b, std::size_t i) {
  b[i / 64] &= ~(std::uint64_t{1} << (i % 64));
}

inline std::size_t count_bits(BitSpan b) {
  std::size_t n = 0;
  for (const std::uint64_t w : b) n += static_cast<std::size_t>(std::popcount(w));
  return n;
}

inline void and_into(Bitmap& a, BitSpan b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] &= b[i];
}
inline void subtract_from(Bitmap& a, BitSpan b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] &= ~b[i];
}

/// Every member of `a` is a member of `b`.
inline bool is_subset(BitSpan a, BitSpan b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if ((a[i] & ~b[i]) != 0) return false;
  }
  return true;
}
inline bool overlaps(BitSpan a, BitSpan b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if ((a[i] & b[i]) != 0) return true;
  }
  return false;
}
/// Words [first, last) outside which `b` is empty.
struct WordRange {
  std::size_t first = 0, last = 0;
};
inline WordRange word_range(BitSpan b) {
  WordRange r{0, b.size()};
  while (r.first < r.last && b[r.first] == 0) ++r.first;
  while (r.last > r.first && b[r.last - 1] == 0) --r.last;
  return r;
}

/// Calls `f(index)` for each member, ascending.
template <class F>
void for_each_bit(BitSpan b, F&& f) {
  for (std::size_t w = 0; w < b.size(); ++w) {
    for (std::uint64_t bits = b[w]; bits != 0; bits &= bits - 1) {
      f(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }
}

}  // namespace fedsim
