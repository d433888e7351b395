// Faults that come and go by themselves: controllers, links and slurmdbd with exponential times up
// and down, drawn from the seed.
#pragma once

#include <memory>

#include "fedsim/model.hpp"
#include "fedsim/simulation.hpp"

namespace fedsim {

/// `trace` with the faults of `options` as operations, in order of time: from t0 until a day after
/// the last submission, or the horizon when that is sooner. The same trace when there are none.
/// Throws InputError for an unknown cluster (C101).
std::shared_ptr<const Trace> with_faults(std::shared_ptr<const Trace> trace,
                                         const FederationModel& model, const RunOptions& options);

}  // namespace fedsim
