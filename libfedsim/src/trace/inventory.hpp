// Node inventories that are dumped beside traces: "NODE|GRES|GRES_USED" of sinfo.
#pragma once

#include <string>
#include <string_view>

#include "trace/input.hpp"

namespace fedsim {

/// True for a header with a node column and a GRES column.
bool is_inventory(std::string_view header);

/// The summary line: no jobs, `nodes` by name with gpus, types, used and further gres counts.
std::string show_inventory(const Input& input);

}  // namespace fedsim
