// What is free on each node of one cluster, and the allocations that hold the rest.
//
// Columns, not node objects: a scheduling pass reads one or two of them for many nodes. release()
// and acquire() are exact inverses, which lets a will-run test take running jobs away and put them
// back.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bitmap.hpp"
#include "fedsim/ids.hpp"
#include "fedsim/model.hpp"

namespace fedsim {

/// What an allocation holds on one node.
struct NodeShare {
  std::uint32_t node = 0;
  std::uint32_t cpus = 0;
  std::int64_t memory_mib = 0;
  std::uint64_t gpu_mask = 0;
};

class NodePool {
 public:
  NodePool() = default;
  explicit NodePool(const ClusterModel& model);

  std::size_t size() const { return free_cpus_.size(); }
  std::uint32_t free_cpus(std::size_t n) const { return free_cpus_[n]; }
  std::int64_t free_memory_mib(std::size_t n) const { return free_memory_[n]; }
  std::uint64_t free_gpus(std::size_t n) const { return free_gpus_[n]; }
  std::uint32_t jobs(std::size_t n) const { return jobs_[n]; }
  std::uint32_t completing(std::size_t n) const { return completing_[n]; }

  /// Nodes with a free CPU. Kept up to date by acquire() and release().
  const Bitmap& with_free_cpus() const { return with_free_cpus_; }
  /// Nodes where an epilog still runs: no job may start there (semantics 3.2 point 3).
  const Bitmap& completing_nodes() const { return completing_nodes_; }
  /// Nodes that are up: not down, drained or invalid.
  const Bitmap& usable() const { return usable_; }
  bool any_completing() const { return completing_n_ != 0; }

  void acquire(const std::vector<NodeShare>& shares);
  void release(const std::vector<NodeShare>& shares);
  void begin_completing(const std::vector<NodeShare>& shares);
  void end_completing(const std::vector<NodeShare>& shares);

 private:
  std::vector<std::uint32_t> free_cpus_;
  std::vector<std::int64_t> free_memory_;
  std::vector<std::uint64_t> free_gpus_;
  std::vector<std::uint32_t> jobs_;
  std::vector<std::uint32_t> completing_;
  Bitmap with_free_cpus_;
  Bitmap completing_nodes_;
  Bitmap usable_;
  std::size_t completing_n_ = 0;
};

}  // namespace fedsim
