// Summary of a run from its raw rows.
#pragma once

#include "fedsim/result.hpp"

namespace fedsim {

/// Fills Result::summary except events, passes, wall_s and fingerprint, which the engine knows.
/// Linear in the rows; sums are added in row order, so that they are the same on every machine.
void summarise(Result& result);

}  // namespace fedsim
