// Counts that follow from what a job asks: see ask.hpp.
#include "select/ask.hpp"

#include <algorithm>

namespace fedsim {

std::int64_t JobAsk::least_nodes() const {
  return std::max(min_nodes, part_min_nodes);
}

std::int64_t JobAsk::most_nodes() const {
  return max_nodes == 0 ? part_max_nodes : std::min(max_nodes, part_max_nodes);
}

std::int64_t JobAsk::wanted_nodes() const {
  return max_nodes > 0 && !use_min_nodes ? most_nodes() : least_nodes();
}

std::int64_t JobAsk::sockets_for_tasks() const {
  const std::int64_t nodes = std::max<std::int64_t>(min_nodes, 1);
  if (std::max(num_tasks * cpus_per_task, min_cpus) / nodes <= 1) return 1;
  if (ntasks_per_socket == 0) return 0;
  return (num_tasks / nodes + ntasks_per_socket - 1) / ntasks_per_socket;
}

std::int64_t JobAsk::memory_per_device() const {
  std::int64_t most = 0;
  for (const DeviceAsk& d : devices) most = std::max(most, d.memory_per_mib);
  return most;
}

std::int64_t JobAsk::least_memory_mib() const {
  if (!counts_memory()) return memory_per_device();
  if (!memory_per_cpu) return memory_mib;
  return memory_mib * std::max({ntasks_per_node, min_cpus_per_node, cpus_per_task});
}

NodeSharing sharing_of(const SelectRules& rules) {
  if (rules.exclusive) return NodeSharing::reserved;
  return rules.shares_cores ? NodeSharing::open : NodeSharing::one_row;
}

}  // namespace fedsim
