// Host lists ("n[01-03,7]-ib,x") and slurmctld's node order; expand/compress are in slurm_conf.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fedsim/slurm_conf.hpp"

namespace fedsim {

/// Most names one expression may stand for, as in Slurm.
inline constexpr std::size_t kMaxHostlistNames = 256 * 1024;

/// Like expand_hostlist(), but says what is wrong in `problem` instead of throwing.
std::optional<std::vector<std::string>> try_expand_hostlist(std::string_view text,
                                                            std::string& problem);

/// slurmctld's order of nodes: number-aware, upper before lower case; numbers with a leading zero
/// compare as fractions ("c010" < "c07" < "c1"). A total order: equal only for equal text.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace fedsim
