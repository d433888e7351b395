// When a job could start as running jobs reach their time limits: the will-run test of a backfill
// cycle (semantics 5.5; select/cons_tres, 22.05 to 26.05).
#pragma once

#include <algorithm>
#include <cstdint>

#include "sched/pass.hpp"

namespace fedsim {

/// What distinguishes the releases' cycles, and the exact rule of ideal runs.
struct BackfillSettings {
  std::int64_t resolution_s = 60;
  std::int64_t window_s = 86400;
  int max_job_test = 500;
  std::size_t max_slices = 500;
  bool exact = false;  ///< no windows over running jobs; a job may end as a slice begins
  bool bounded =
      false;  ///< 24.11: each attempt looks at running jobs that end by the next one only
  bool relevant = false;  ///< 25.05: the start is the end of a job whose nodes are taken
};

/// One backfill cycle under other settings than slurm.conf's.
PassOutcome run_backfill(const PassView& view, const BackfillSettings& settings);

/// Fewest nodes on which the job can run.
inline std::size_t least_nodes(const PassView& v, const Demand& d) {
  return v.model.unit_nodes && d.simple_units ? d.min_cpus : d.min_nodes;
}

/// Where running jobs are, and which nodes could be used at later times were each to last until its
/// limit and none to start.
///
/// Row k of a shape: nodes on which a demand of that shape could run once the first stride() * k
/// running jobs are gone. At most kRows rows; a time between two takes the later one, an upper
/// bound. Shape 0 asks for a CPU only; O(R * nodes + rows * N/64) to build, others O((R + N) *
/// nodes).
class FreeBy {
 public:
  static constexpr std::size_t kRows = 256;
  using Shape = std::size_t;

  explicit FreeBy(const PassView& view);
  /// After a job has started.
  void update();
  /// The shape of a demand, built when it is first asked for.
  Shape shape_of(std::uint32_t demand);

  std::size_t rows() const { return rows_; }
  BitSpan row(Shape s, std::size_t k) const {
    return {s_.free_rows.data() + (s * rows_ + k) * words_, words_};
  }
  std::size_t stride() const { return stride_; }
  /// Number of nodes in row k, whatever their partition.
  std::size_t count(Shape s, std::size_t k) const { return s_.free_counts[s * rows_ + k]; }
  /// End of running job i by its limit, in order of these ends.
  std::int64_t end(std::size_t i) const { return s_.free_ends[i]; }
  /// Running job i uses a node of `open`.
  bool touches(std::size_t i, BitSpan open) const {
    const RunningWords& r = s_.running_words[i];
    for (std::uint32_t k = 0; k < r.n; ++k) {
      if ((s_.running_bits[r.offset + k] & open[r.first + k]) != 0) return true;
    }
    return false;
  }
  /// Adds the nodes of `open` that running job i uses.
  void add_nodes(std::size_t i, BitSpan open, Bitmap& nodes) const {
    const RunningWords& r = s_.running_words[i];
    for (std::uint32_t k = 0; k < r.n; ++k)
      nodes[r.first + k] |= s_.running_bits[r.offset + k] & open[r.first + k];
  }
  /// First row in which the first `gone` running jobs are away.
  std::size_t row_after(std::size_t gone) const { return (gone + stride_ - 1) / stride_; }
  /// A row that holds every node free at `t`; `from`: one known not to be too late.
  std::size_t row_at(std::int64_t t, std::size_t from) const {
    while (from + 1 < rows_ && s_.free_ends[from * stride_] <= t) ++from;
    return from;
  }
  /// No set of `need` nodes is free before this; INT64_MAX: never.
  std::int64_t earliest(Shape s, std::size_t need) const;

 private:
  void add_running(const std::vector<NodeShare>& shares);
  void add_shape();
  void any_cpu();
  void build(Shape s, const Demand& demand);

  const PassView& v_;
  PassScratch& s_;
  std::size_t words_;
  std::size_t rows_ = 0;
  std::size_t stride_ = 1;
};

/// One question to the will-run test.
struct WillRunQuery {
  const Demand& demand;
  FreeBy::Shape shape = 0;
  BitSpan open;            ///< nodes to choose from
  std::int64_t at = 0;     ///< when the job is tried; now or later
  std::int64_t later = 0;  ///< next time it would be tried; 0: never
};

inline constexpr std::int64_t kNever = INT64_MAX;

/// Expected start at `at` or later; kNever: not even with every job gone that may be taken away.
/// Running jobs are taken away in groups of growing windows (semantics 5.5 point 3), then put back.
std::int64_t will_run(const PassView& view, const BackfillSettings& settings, const FreeBy& free_by,
                      const WillRunQuery& query);

/// Nodes that the last will_run() chose, and what the job would hold of them (in scratch.shares).
void chosen_nodes(const PassView& view, const Demand& demand, Bitmap& nodes);
void chosen_shares(const PassView& view, const Demand& demand, BitSpan nodes);

}  // namespace fedsim
