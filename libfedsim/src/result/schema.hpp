// The result tables' columns as a page of the documentation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fedsim {

/// Names of the result tables, in the order of the documentation.
const std::vector<std::string_view>& result_table_names();

/// docs/reference/tables.md, whole: one section per table, one row per column.
std::string schema_markdown();

}  // namespace fedsim
