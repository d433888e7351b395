// What a controller says to a submission: refused with a text, or taken with the reason it will
// wait for.
//
// Semantics 1.3 points 5 and 6, 8.3 and 13.2: partition, its state, its limits under
// EnforcePartLimits, then whether any configured nodes could ever hold the job.
#pragma once

#include "base/reason.hpp"
#include "fedsim/model.hpp"
#include "request/demand.hpp"

namespace fedsim {

/// What backfill takes for a job without any limit (semantics 5.4 point 4).
inline constexpr std::int64_t kYearSeconds = 365LL * 24 * 3600;

struct Admission {
  Reason refusal = Reason::none;  ///< none: accepted
  Reason pending = Reason::none;  ///< a partition limit that keeps it waiting for ever, else none
};

/// Everything that depends only on partition, request and time limit; held jobs skip feasibility.
struct AdmissionQuery {
  const ClusterModel* cluster = nullptr;
  const PartitionModel* partition = nullptr;
  const Demand* demand = nullptr;
  std::int64_t limit_s = kUnset;
  bool fits_empty = true;  ///< ever_fits(), computed once per request
  bool held = false;
};
Admission admit(const AdmissionQuery& query);

/// Reason for which the partition's limits exclude the job, none when they don't (checked in every
/// pass).
Reason partition_limit(const PartitionModel& partition, const Demand& demand, std::int64_t limit_s);

/// Seconds the job may run: its limit, else DefaultTime, else MaxTime; kUnlimited.
std::int64_t effective_limit(const PartitionModel& partition, std::int64_t limit_s);

}  // namespace fedsim
