// Runs a case, with every invariant checked after each event, and compares what came with what the
// case expects.
#pragma once

#include <string>
#include <vector>

#include "cases/case_reader.hpp"

namespace fedsim::cases {

/// What did not come as expected, one text each; empty when the case passes. Throws InternalError
/// when an invariant breaks.
std::vector<std::string> check_case(const Case& c);

/// The story of the run, one line an event, to see why a case fails.
std::string story_of(const Case& c);

}  // namespace fedsim::cases
