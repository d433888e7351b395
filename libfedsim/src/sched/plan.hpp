// The plan of a backfill cycle: time slices with the nodes that earlier reservations leave
// (semantics 5.3).
#pragma once

#include <algorithm>
#include <cstdint>

#include "sched/pass.hpp"

namespace fedsim {

/// The plan: slices [begin, next begin) with the nodes free of earlier reservations.
class Plan {
 public:
  struct Span {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  Plan(PassScratch& s, Span span, BitSpan nodes) : s_(s), words_(nodes.size()), end_(span.end) {
    s_.slice_begin.assign(1, span.begin);
    s_.slice_rows.assign(1, 0);
    s_.slice_words.assign(nodes.begin(), nodes.end());
    s_.slice_gains.assign(1, 0);
  }

  std::size_t size() const { return s_.slice_begin.size(); }
  /// Slices ever made: bf_node_space_size counts those that were merged too.
  std::size_t records() const { return s_.slice_words.size() / words_; }
  std::int64_t window_end() const { return end_; }
  std::int64_t begin(std::size_t i) const { return s_.slice_begin[i]; }
  std::int64_t end(std::size_t i) const { return i + 1 < size() ? s_.slice_begin[i + 1] : end_; }
  BitSpan nodes(std::size_t i) const {
    return {s_.slice_words.data() + std::size_t{s_.slice_rows[i]} * words_, words_};
  }

  /// Every slice that overlaps [from, to) has all of `nodes`.
  bool open(std::int64_t from, std::int64_t to, BitSpan nodes) const {
    if (from >= end_) return true;
    const WordRange range = word_range(nodes);
    for (std::size_t i = index_at(from); i < size() && begin(i) < to; ++i) {
      const BitSpan row = this->nodes(i);
      for (std::size_t w = range.first; w < range.last; ++w) {
        if ((nodes[w] & ~row[w]) != 0) return false;
      }
    }
    return true;
  }

  /// Takes `nodes` out of every slice in [from, to); splits slices at both ends. They must be open.
  void reserve(std::int64_t from, std::int64_t to, BitSpan nodes) {
    if (from >= end_) return;
    split(from);
    split(to);
    const WordRange range = word_range(nodes);
    const std::size_t first = index_at(from);
    std::size_t i = first;
    for (; i < size() && begin(i) < to; ++i) {
      std::uint64_t* row = s_.slice_words.data() + std::size_t{s_.slice_rows[i]} * words_;
      for (std::size_t w = range.first; w < range.last; ++w) row[w] &= ~nodes[w];
    }
    const std::size_t before = first > 0 ? first - 1 : 0;
    // Within the reservation neighbours lost the same nodes: gains can only end there.
    for (std::size_t k = before; k < std::min(i, size()); ++k) {
      const bool inside = k >= first && k + 1 < i;
      if (inside && s_.slice_gains[k] == 0) continue;
      s_.slice_gains[k] = k + 1 < size() && !is_subset(this->nodes(k + 1), this->nodes(k));
    }
    if (!merge(before, first)) merge(i - 1, i);
  }

  /// Slice that holds `at`; times before the plan are in the first.
  std::size_t index_at(std::int64_t at) const {
    const auto it = std::upper_bound(s_.slice_begin.begin(), s_.slice_begin.end(), at);
    return it == s_.slice_begin.begin() ? 0
                                        : static_cast<std::size_t>(it - s_.slice_begin.begin()) - 1;
  }

  /// First slice in [i, last] whose successor has nodes of `base` that it lacks itself; size():
  /// none. `all`: base holds every node of the plan.
  std::size_t next_gain(std::size_t i, std::size_t last, BitSpan base, bool all) const {
    for (; i <= last && i < size(); ++i) {
      if (s_.slice_gains[i] != 0 && (all || gains(i, base))) return i;
    }
    return size();
  }

 private:
  bool gains(std::size_t i, BitSpan base) const {
    const BitSpan here = nodes(i);
    const BitSpan next = nodes(i + 1);
    for (std::size_t w = 0; w < words_; ++w) {
      if ((next[w] & ~here[w] & base[w]) != 0) return true;
    }
    return false;
  }

  void split(std::int64_t at) {
    const auto it = std::upper_bound(s_.slice_begin.begin(), s_.slice_begin.end(), at);
    if (it == s_.slice_begin.begin() || at >= end_) return;
    const auto i = static_cast<std::size_t>(it - s_.slice_begin.begin()) - 1;
    if (begin(i) == at) return;
    const auto row = static_cast<std::uint32_t>(records());
    s_.slice_words.resize(s_.slice_words.size() + words_);
    std::copy_n(s_.slice_words.begin() + static_cast<std::ptrdiff_t>(s_.slice_rows[i] * words_),
                words_, s_.slice_words.end() - static_cast<std::ptrdiff_t>(words_));
    insert(s_.slice_begin, i + 1, at);
    insert(s_.slice_rows, i + 1, row);
    insert(s_.slice_gains, i, std::uint8_t{0});
  }

  /// Joins slice `b` to `a` before it when both offer the same nodes: slurmctld does that once a
  /// reservation.
  bool merge(std::size_t a, std::size_t b) {
    if (a == b || b >= size() || !std::ranges::equal(nodes(a), nodes(b))) return false;
    const auto at = static_cast<std::ptrdiff_t>(b);
    s_.slice_begin.erase(s_.slice_begin.begin() + at);
    s_.slice_rows.erase(s_.slice_rows.begin() + at);
    s_.slice_gains.erase(s_.slice_gains.begin() + at - 1);  // a == b gained nothing
    return true;
  }

  template <class T>
  static void insert(std::vector<T>& column, std::size_t i, T value) {
    column.insert(column.begin() + static_cast<std::ptrdiff_t>(i), value);
  }

  PassScratch& s_;
  std::size_t words_;
  std::int64_t end_;
};

/// Intersection of the slices [first, last) for ends that only move forward: each slice is read
/// twice, whatever the number of moves (two-stack queue).
class SlidingAnd {
 public:
  SlidingAnd(const Plan& plan, PassScratch& s, std::size_t words)
      : plan_(plan), s_(s), words_(words) {}

  void move(std::size_t first, std::size_t last) {
    first_ = first;
    if (first_ >= mid_) return rebuild(last);
    for (; last_ < last; ++last_) {
      const BitSpan row = plan_.nodes(last_);
      for (std::size_t w = 0; w < words_; ++w) s_.window_back[w] &= row[w];
    }
  }

  /// Nodes of `base` in every slice, into `out`. Returns how many, and of those how many are in
  /// `among`.
  std::pair<std::size_t, std::size_t> intersect(BitSpan base, BitSpan among, Bitmap& out) const {
    out.resize(words_);
    const std::uint64_t* front =
        first_ < mid_ ? s_.window_rows.data() + (first_ - base_) * words_ : s_.window_back.data();
    std::size_t n = 0;
    std::size_t m = 0;
#pragma GCC unroll 8
    for (std::size_t w = 0; w < words_; ++w) {
      const std::uint64_t bits = base[w] & front[w] & s_.window_back[w];
      out[w] = bits;
      n += static_cast<std::size_t>(std::popcount(bits));
      m += static_cast<std::size_t>(std::popcount(bits & among[w]));
    }
    return {n, m};
  }

 private:
  void rebuild(std::size_t last) {
    base_ = first_;
    mid_ = last_ = std::max(last, first_);
    s_.window_back.assign(words_, ~std::uint64_t{0});
    s_.window_rows.resize((mid_ - base_) * words_);
    for (std::size_t i = mid_; i > base_; --i) {
      const BitSpan row = plan_.nodes(i - 1);
      std::uint64_t* out = s_.window_rows.data() + (i - 1 - base_) * words_;
      for (std::size_t w = 0; w < words_; ++w)
        out[w] = i == mid_ ? row[w] : row[w] & out[words_ + w];
    }
  }

  const Plan& plan_;
  PassScratch& s_;
  std::size_t words_;
  std::size_t base_ = 0, first_ = 0, mid_ = 0, last_ = 0;
};

}  // namespace fedsim
