// Partition limits: see admission.hpp.
#include "sched/admission.hpp"

namespace fedsim {

std::int64_t effective_limit(const PartitionModel& partition, std::int64_t limit_s) {
  if (limit_s != kUnset) return limit_s;
  if (partition.spec.default_time_s != kUnset) return partition.spec.default_time_s;
  return partition.spec.max_time_s;
}

Reason partition_limit(const PartitionModel& partition, const Demand& d, std::int64_t limit_s) {
  if (!partition.up) return Reason::partition_down;
  if (d.limit != Reason::none) return d.limit;
  const std::int64_t most = partition.spec.max_time_s;
  if (most >= 0 && (limit_s == kUnlimited || limit_s > most)) return Reason::partition_time_limit;
  return Reason::none;
}

}  // namespace fedsim
