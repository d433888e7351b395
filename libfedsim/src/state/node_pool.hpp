// What is free on each node of one cluster, and the allocations that hold the rest.
//
// Columns, not node objects, for what a scheduling pass reads of many nodes; cores and devices one
// by one for selection. release() and acquire() are exact inverses, which lets a will-run test take
// running jobs away and put them back.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bitmap.hpp"
#include "fedsim/ids.hpp"
#include "fedsim/model.hpp"
#include "model/hardware.hpp"

namespace fedsim {

class NodePool {
 public:
  NodePool() = default;
  explicit NodePool(const ClusterModel& model);

  std::size_t size() const { return free_cpus_.size(); }
  /// CPUs of cores that no job holds.
  std::uint32_t free_cpus(std::size_t n) const { return free_cpus_[n]; }
  std::int64_t free_memory_mib(std::size_t n) const { return free_memory_[n]; }
  std::uint64_t free_gpus(std::size_t n) const { return free_gpus_[n]; }
  std::uint32_t jobs(std::size_t n) const { return jobs_[n]; }
  std::uint32_t completing(std::size_t n) const { return completing_[n]; }
  /// By node; empty on a pool of unit nodes, where the free CPU is all there is to a node.
  const std::vector<NodeUse>& use() const { return use_; }
  /// Of every node (see key_of), where use() is not empty.
  const std::vector<std::uint64_t>& states() const { return states_; }
  /// Of everything that is held: equal sums, equal pools.
  std::uint64_t sum() const { return sum_; }

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
  void set_free_cpus(const NodeShare& share, bool held);

  std::shared_ptr<const ClusterHardware> hardware_;
  std::vector<NodeUse> use_;
  std::vector<std::uint64_t> states_;
  std::vector<std::uint32_t> free_cpus_;
  std::vector<std::int64_t> free_memory_;
  std::vector<std::uint64_t> free_gpus_;
  std::vector<std::uint32_t> jobs_;
  std::vector<std::uint32_t> completing_;
  Bitmap with_free_cpus_;
  Bitmap completing_nodes_;
  Bitmap usable_;
  std::size_t completing_n_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace fedsim
