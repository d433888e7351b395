// --set KEY=VALUE: changes to a federation before it is compiled.
#pragma once

#include <string>
#include <vector>

#include "fedsim/spec.hpp"

namespace fedsim::apps {

/// Applies the settings in order. Throws one InputError (C135) with every one that can't be
/// applied.
void apply_settings(FederationSpec& spec, const std::vector<std::string>& settings);

}  // namespace fedsim::apps
