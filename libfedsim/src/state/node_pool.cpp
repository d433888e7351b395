// Free resources per node: see node_pool.hpp.
#include "state/node_pool.hpp"

#include <string>

#include "fedsim/error.hpp"

namespace fedsim {

NodePool::NodePool(const ClusterModel& model) {
  const std::size_t n = model.nodes.size();
  free_cpus_.resize(n);
  free_memory_.resize(n);
  free_gpus_.resize(n);
  jobs_.assign(n, 0);
  completing_.assign(n, 0);
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

void NodePool::acquire(const std::vector<NodeShare>& shares) {
  for (const NodeShare& s : shares) {
    FEDSIM_CHECK(free_cpus_[s.node] >= s.cpus, "CPUs of node " + std::to_string(s.node));
    FEDSIM_CHECK(free_memory_[s.node] >= s.memory_mib, "memory of node " + std::to_string(s.node));
    FEDSIM_CHECK((free_gpus_[s.node] & s.gpu_mask) == s.gpu_mask,
                 "a GPU of node " + std::to_string(s.node) + " is held twice");
    free_cpus_[s.node] -= s.cpus;
    free_memory_[s.node] -= s.memory_mib;
    free_gpus_[s.node] ^= s.gpu_mask;
    ++jobs_[s.node];
    if (free_cpus_[s.node] == 0) clear_bit(with_free_cpus_, s.node);
  }
}

void NodePool::release(const std::vector<NodeShare>& shares) {
  for (const NodeShare& s : shares) {
    FEDSIM_DCHECK((free_gpus_[s.node] & s.gpu_mask) == 0, "a GPU is released twice");
    FEDSIM_DCHECK(jobs_[s.node] > 0, "release without acquire");
    free_cpus_[s.node] += s.cpus;
    free_memory_[s.node] += s.memory_mib;
    free_gpus_[s.node] |= s.gpu_mask;
    --jobs_[s.node];
    if (s.cpus != 0) set_bit(with_free_cpus_, s.node);
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
