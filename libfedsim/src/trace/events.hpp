// Timed events of a recorded scenario: submissions and administrators' commands.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fedsim/trace.hpp"
#include "trace/setup.hpp"

namespace fedsim {

/// Fills `trace` from scenario.json's events. Whatever is not modelled becomes an error in
/// `diagnostics` that names it; remarks become warnings there.
void read_events(const nlohmann::json& events, const std::string& file,
                 const AccountingSetup& setup, Trace& trace, std::vector<Diagnostic>& diagnostics);

}  // namespace fedsim
