// Limits of a partition that keep a job waiting, tested in every pass (semantics 8.3, 13.2).
#pragma once

#include "base/reason.hpp"
#include "fedsim/model.hpp"
#include "submit/demand.hpp"

namespace fedsim {

/// What backfill takes for a job without any limit (semantics 5.4 point 4).
inline constexpr std::int64_t kYearSeconds = 365LL * 24 * 3600;

/// Reason for which the partition's limits exclude the job, none when they don't (checked in every
/// pass).
Reason partition_limit(const PartitionModel& partition, const Demand& demand, std::int64_t limit_s);

/// Seconds the job may run: its limit, else DefaultTime, else MaxTime; kUnlimited.
std::int64_t effective_limit(const PartitionModel& partition, std::int64_t limit_s);

}  // namespace fedsim
