// The plan of a backfill cycle: time slices with the nodes that earlier reservations leave
// (semantics 5.3).
#pragma once

#include <algorithm>
#include <cstdint>

#include "sched/pass.hpp"

namespace fedsim {

/// What distinguishes Slurm's cycle from the exact rule of ideal runs.
struct BackfillSettings {
  std::int64_t resolution_s = 60;
  std::int64_t window_s = 86400;
  int max_job_test = 500;
  std::size_t max_slices = 500;
  bool exact = false;  ///< no windows over running jobs; a job may end as a slice begins
};
PassOutcome run_backfill(const PassView& view, const BackfillSettings& settings);

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
  std::int64_t window_end() const { return end_; }
  std::int64_t begin(std::size_t i) const { return s_.slice_begin[i]; }
  std::int64_t end(std::size_t i) const { return i + 1 < size() ? s_.slice_begin[i + 1] : end_; }
  BitSpan nodes(std::size_t i) const {
    return {s_.slice_words.data() + std::size_t{s_.slice_rows[i]} * words_, words_};
  }

  /// Takes `nodes` out of every slice in [from, to); splits slices at both ends.
  void reserve(std::int64_t from, std::int64_t to, BitSpan nodes) {
    if (from >= end_) return;
    split(from);
    split(to);
    const std::size_t first = index_at(from);
    std::size_t i = first;
    for (; i < size() && begin(i) < to; ++i) {
      std::uint64_t* row = s_.slice_words.data() + std::size_t{s_.slice_rows[i]} * words_;
      for (std::size_t w = 0; w < words_; ++w) row[w] &= ~nodes[w];
    }
    for (std::size_t k = first > 0 ? first - 1 : 0; k < std::min(i + 1, size()); ++k) {
      s_.slice_gains[k] = k + 1 < size() && !is_subset(this->nodes(k + 1), this->nodes(k));
    }
  }

  /// Slice that holds `at`; times before the plan are in the first.
  std::size_t index_at(std::int64_t at) const {
    const auto it = std::upper_bound(s_.slice_begin.begin(), s_.slice_begin.end(), at);
    return it == s_.slice_begin.begin() ? 0
                                        : static_cast<std::size_t>(it - s_.slice_begin.begin()) - 1;
  }

  /// End of the first slice in [i, last] after which other nodes come; 0: none does.
  std::int64_t next_gain(std::size_t i, std::size_t last) const {
    while (i <= last && i < size() && s_.slice_gains[i] == 0) ++i;
    return i <= last && i < size() ? end(i) : 0;
  }

 private:
  void split(std::int64_t at) {
    const auto it = std::upper_bound(s_.slice_begin.begin(), s_.slice_begin.end(), at);
    if (it == s_.slice_begin.begin() || at >= end_) return;
    const auto i = static_cast<std::size_t>(it - s_.slice_begin.begin()) - 1;
    if (begin(i) == at) return;
    const auto row = static_cast<std::uint32_t>(s_.slice_words.size() / words_);
    s_.slice_words.resize(s_.slice_words.size() + words_);
    std::copy_n(s_.slice_words.begin() + static_cast<std::ptrdiff_t>(s_.slice_rows[i] * words_),
                words_, s_.slice_words.end() - static_cast<std::ptrdiff_t>(words_));
    s_.slice_begin.insert(s_.slice_begin.begin() + static_cast<std::ptrdiff_t>(i) + 1, at);
    s_.slice_rows.insert(s_.slice_rows.begin() + static_cast<std::ptrdiff_t>(i) + 1, row);
    s_.slice_gains.insert(s_.slice_gains.begin() + static_cast<std::ptrdiff_t>(i), 0);
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

  void intersect(Bitmap& nodes) const {
    if (first_ < mid_) {
      const std::uint64_t* row = s_.window_rows.data() + (first_ - base_) * words_;
      for (std::size_t w = 0; w < words_; ++w) nodes[w] &= row[w];
    }
    if (mid_ < last_) and_into(nodes, s_.window_back);
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
