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

}  // namespace fedsim
