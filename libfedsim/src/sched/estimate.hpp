// When a controller says a job would start, asked by sbatch -M for several clusters: running jobs
// by their limits, and a penalty for the queue (semantics 1.15; job_start_data, 22.05 to 25.11).
#pragma once

#include "sched/pass.hpp"

namespace fedsim {

struct StartQuestion {
  std::uint32_t demand = 0;  ///< index of PassView::demands
  PartitionId partition;
  std::uint32_t priority = 0;  ///< records of at least this wait before the job
};

/// Seconds of Unix time; INT64_MAX: not even with every running job gone. O(R * nodes + J).
std::int64_t estimate_start(const PassView& view, const StartQuestion& question);

}  // namespace fedsim
