// Submission verdicts: see admission.hpp.
#include "sched/admission.hpp"

#include <algorithm>

namespace fedsim {

std::int64_t effective_limit(const PartitionModel& partition, std::int64_t limit_s) {
  if (limit_s != kUnset) return limit_s;
  if (partition.spec.default_time_s != kUnset) return partition.spec.default_time_s;
  return partition.spec.max_time_s;
}

Reason partition_limit(const PartitionModel& partition, const Demand& d, std::int64_t limit_s) {
  const PartitionSpec& spec = partition.spec;
  if (!partition.up) return Reason::partition_down;
  if (spec.max_nodes >= 0 && d.min_nodes > spec.max_nodes) return Reason::partition_node_limit;
  if (d.min_nodes > partition.nodes_n) return Reason::partition_node_limit;
  if (d.min_cpus > partition.cpus_n) return Reason::partition_config;
  if (spec.max_time_s >= 0 && (limit_s == kUnlimited || limit_s > spec.max_time_s)) {
    return Reason::partition_time_limit;
  }
  return Reason::none;
}

namespace {

/// The refusal that EnforcePartLimits=ALL|ANY makes of a broken limit (semantics 13.2 point 2).
Reason enforced(Reason limit) {
  switch (limit) {
    case Reason::partition_node_limit:
      return Reason::node_count_invalid;
    case Reason::partition_time_limit:
      return Reason::invalid_time_limit;
    case Reason::partition_config:
      return Reason::more_processors_than_permitted;
    default:
      return Reason::none;
  }
}

}  // namespace

Admission admit(const AdmissionQuery& q) {
  Admission out;
  if (!q.partition->accepts) return {Reason::partition_not_available, Reason::none};
  if (q.demand->refusal == Reason::invalid_gres) return {Reason::invalid_gres, Reason::none};
  out.pending = partition_limit(*q.partition, *q.demand, effective_limit(*q.partition, q.limit_s));
  const bool enforce = q.cluster->enforce_part_limits != EnforcePartLimits::no;
  if (enforce && enforced(out.pending) != Reason::none)
    return {enforced(out.pending), Reason::none};
  if (q.demand->refusal != Reason::none && q.demand->refusal != Reason::node_config_unavailable) {
    return {q.demand->refusal, Reason::none};
  }
  if (q.held) return out;
  // 24.11 refuses more nodes than the cluster has; 22.05 and 26.05 let it wait (recording 02a).
  const SlurmRelease r = q.cluster->release;
  const bool strict = r >= SlurmRelease{24, 11} && r < SlurmRelease{26, 5};
  const bool too_many_nodes = q.demand->min_nodes > q.partition->nodes_n;
  if (strict && too_many_nodes) return {Reason::node_config_unavailable, Reason::none};
  const bool tested = out.pending == Reason::none || out.pending == Reason::partition_down;
  if (tested && (!q.fits_empty || q.demand->refusal != Reason::none)) {
    return {Reason::node_config_unavailable, Reason::none};
  }
  return out;
}

}  // namespace fedsim
