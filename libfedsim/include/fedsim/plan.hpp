// Which clusters can hold one job at all, and which could start it now: capacity is not
// eligibility, and eligibility is not a start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedsim/model.hpp"
#include "fedsim/simulation.hpp"
#include "fedsim/trace.hpp"

namespace fedsim {

/// One cluster as a destination of one job. A job never spans clusters, so each stands alone.
struct DestinationFit {
  std::string cluster;
  std::int64_t gpus = 0;         ///< GPUs of the cluster: a ceiling, not a promise
  std::int64_t free_gpus = 0;    ///< GPUs no allocation holds now
  bool eligible = false;         ///< some configured nodes could hold the job
  bool schedulable_now = false;  ///< it would fit on what is free now
  std::string refusal;           ///< what sbatch would say when the cluster is the origin, else ""
};

/// The answer for one request. A federation's total is shown beside the domains so that it misleads
/// nobody.
struct FitReport {
  std::int64_t requested = 0;           ///< GPUs of the job, all nodes together
  std::int64_t fleet_gpus = 0;          ///< sum over clusters; no job can use it
  std::int64_t max_domain = 0;          ///< GPUs of the largest cluster
  std::int64_t largest_free_block = 0;  ///< most GPUs free in one cluster now
  std::int64_t shortfall = 0;           ///< requested - max_domain, at least 0
  bool feasible = false;                ///< at least one cluster is eligible
  std::string code;                     ///< "OK", "EXCEEDS_EVERY_DOMAIN", "NO_ELIGIBLE_CLUSTER"
  std::size_t eligible = 0;
  std::size_t schedulable_now = 0;
  std::size_t guaranteed = 0;  ///< always 0: eligibility establishes no concurrency
  std::vector<DestinationFit> destinations;
};

/// Fits `request` (default partition of each cluster) on every cluster; `state` null: an idle
/// fleet.
FitReport fit(const FederationModel& model, const ResourceRequest& request,
              const SimState* state = nullptr);

/// The submission that works where the origin refuses: "sbatch -M NAME ..." or "" when none does.
std::string remedy(const FitReport& report, const std::string& origin);

}  // namespace fedsim
