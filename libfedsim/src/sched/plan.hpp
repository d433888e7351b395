// The plan of a backfill cycle: time slices with the nodes that earlier reservations leave (semantics 5.3).
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
  bool exact = false;                 ///< no windows over running jobs; a job may end as a slice begins
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
  }

  std::size_t size() const { return s_.slice_begin.size(); }
  std::int64_t begin(std::size_t i) const { return s_.slice_begin[i]; }
  std::int64_t end(std::size_t i) const { return i + 1 < size() ? s_.slice_begin[i + 1] : end_; }
  BitSpan nodes(std::size_t i) const {
    return {s_.slice_words.data() + std::size_t{s_.slice_rows[i]} * words_, words_};
  }

  /// Takes `nodes` out of every slice in [from, to); splits slices at both ends.
  void reserve(std::int64_t from, std::int64_t to, BitSpan nodes) {
    split(from);
    split(to);
    for (std::size_t i = 0; i < size(); ++i) {
      if (begin(i) < from || begin(i) >= to) continue;
      std::uint64_t* row = s_.slice_words.data() + std::size_t{s_.slice_rows[i]} * words_;
      for (std::size_t w = 0; w < words_; ++w) row[w] &= ~nodes[w];
    }
  }

 private:
  void split(std::int64_t at) {
    const auto it = std::upper_bound(s_.slice_begin.begin(), s_.slice_begin.end(), at);
    if (it == s_.slice_begin.begin() || at >= end_) return;
    const auto i = static_cast<std::size_t>(it - s_.slice_begin.begin()) - 1;
    if (begin(i) == at) return;
    const auto row = static_cast<std::uint32_t>(s_.slice_words.size() / words_);
    s_.slice_words.resize(s_.slice_words.size() + words_);
    std::copy_n(s_.slice_words.begin() + static_cast<std::ptrdiff_t>(s_.slice_rows[i] * words_), words_,
                s_.slice_words.end() - static_cast<std::ptrdiff_t>(words_));
    s_.slice_begin.insert(s_.slice_begin.begin() + static_cast<std::ptrdiff_t>(i) + 1, at);
    s_.slice_rows.insert(s_.slice_rows.begin() + static_cast<std::ptrdiff_t>(i) + 1, row);
  }

  PassScratch& s_;
  std::size_t words_;
  std::int64_t end_;
};

}  // namespace fedsim
