// The argv of scancel, scontrol and sacctmgr as timed operations (scancel(1), scontrol(1),
// sacctmgr(1)).
#pragma once

#include <string>
#include <vector>

#include "fedsim/trace.hpp"

namespace fedsim {

/// True for commands that change nothing: squeue, sinfo, scontrol show ...
bool only_looks(const std::vector<std::string>& argv);

/// One command: an operation for each job that it names, written {LABEL} or jobid={LABEL}, or one
/// for a cluster. `base` has the instant and where it was typed. Empty: not modelled.
std::vector<Operation> read_command(const std::vector<std::string>& argv, const Operation& base,
                                    StringTable& strings);

}  // namespace fedsim
