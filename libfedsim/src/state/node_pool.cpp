// Free resources per node: see node_pool.hpp.
#include "state/node_pool.hpp"

#include <string>

#include "base/mix.hpp"
#include "fedsim/error.hpp"

namespace fedsim {

NodePool::NodePool(const ClusterModel& model) {
  const std::size_t n = model.nodes.size();
  free_cpus_.resize(n);
  free_memory_.resize(n);
  free_gpus_.resize(n);
  jobs_.assign(n, 0);
  completing_.assign(n, 0);
  hardware_ = model.hardware;
  if (!model.unit_nodes) use_ = hardware_->idle;
  if (!use_.empty()) states_ = hardware_->kinds;
  with_free_cpus_.assign(model.bitmap_words(), 0);
  completing_nodes_.assign(model.bitmap_words(), 0);
  usable_.assign(model.bitmap_words(), 0);
  for (std::size_t i = 0; i < n; ++i) {
    const NodeClass& c = model.node_class(NodeId{i});
    free_cpus_[i] = static_cast<std::uint32_t>(c.cpus);
    free_memory_[i] = c.memory_mib;
    free_gpus_[i] = c.gpu_mask;
    if (c.cpus > 0) set_bit(with_free_cpus_, i);
    if (model.nodes[i].usable) set_bit(usable_, i);
  }
}

/// Cores may be held by several jobs (OverSubscribe): those that nobody holds are free.
void NodePool::set_free_cpus(const NodeShare& share, bool held) {
  std::uint32_t& free = free_cpus_[share.node];
  if (use_.empty()) {
    FEDSIM_CHECK(!held || free >= share.cpus, "CPUs of node " + std::to_string(share.node));
    free = held ? free - share.cpus : free + share.cpus;
  } else {
    const NodeHardware& node = hardware_->nodes[share.node];
    NodeUse& use = use_[share.node];
    FEDSIM_CHECK(!held || share.sharing == NodeSharing::open || !use.held.overlaps(share.cores),
                 "a core of node " + std::to_string(share.node) + " is held twice");
    held ? hold(node, share, use) : let_go(node, share, use);
    const std::uint64_t key = hash_combine(share.key, share.node);
    states_[share.node] += held ? share.key : -share.key;
    sum_ += held ? key : -key;
    const int cores = node.cores() - node.specialized.count() - use.held.count();
    free = static_cast<std::uint32_t>(cores * node.threads_per_core);
  }
  free > 0 ? set_bit(with_free_cpus_, share.node) : clear_bit(with_free_cpus_, share.node);
}

void NodePool::acquire(const std::vector<NodeShare>& shares) {
  for (const NodeShare& s : shares) {
    FEDSIM_CHECK(free_memory_[s.node] >= s.memory_mib, "memory of node " + std::to_string(s.node));
    FEDSIM_CHECK((free_gpus_[s.node] & s.gpu_mask) == s.gpu_mask,
                 "a GPU of node " + std::to_string(s.node) + " is held twice");
    set_free_cpus(s, true);
    free_memory_[s.node] -= s.memory_mib;
    free_gpus_[s.node] ^= s.gpu_mask;
    ++jobs_[s.node];
  }
}

void NodePool::release(const std::vector<NodeShare>& shares) {
  for (const NodeShare& s : shares) {
    FEDSIM_DCHECK((free_gpus_[s.node] & s.gpu_mask) == 0, "a GPU is released twice");
    FEDSIM_DCHECK(jobs_[s.node] > 0, "release without acquire");
    set_free_cpus(s, false);
    free_memory_[s.node] += s.memory_mib;
    free_gpus_[s.node] |= s.gpu_mask;
    --jobs_[s.node];
  }
}

void NodePool::begin_completing(const std::vector<NodeShare>& shares) {
  ++completing_n_;
  for (const NodeShare& s : shares) {
    if (completing_[s.node]++ == 0) set_bit(completing_nodes_, s.node);
  }
}

void NodePool::end_completing(const std::vector<NodeShare>& shares) {
  --completing_n_;
  for (const NodeShare& s : shares) {
    if (--completing_[s.node] == 0) clear_bit(completing_nodes_, s.node);
  }
}

}  // namespace fedsim
