// Node inventories of sinfo/scontrol: GRES strings with sockets "(S:0-1)" and indices "(IDX:0,2)".
#include "trace/inventory.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace fedsim {
namespace {

using nlohmann::ordered_json;

// Entries between commas, with what stands in parentheses taken out: it holds commas too.
std::vector<std::string> gres_entries(std::string_view text) {
  std::string flat;
  int depth = 0;
  for (const char c : text) {
    depth += c == '(';
    if (depth == 0) flat += c;
    depth -= c == ')';
  }
  return split_list(flat);
}

// "gpu:a100:8", "gpu:8", "gpu": name, type, count.
void add_gres(ordered_json& node, const std::string& entry) {
  const std::vector<std::string> parts = split(entry, ':');
  const auto last = parts.size() > 1 ? parse_count(parts.back()) : std::nullopt;
  const std::int64_t count = last.value_or(1);
  const bool typed = parts.size() >= (last ? 3U : 2U);
  if (parts[0] != "gpu") {
    node[parts[0]] = node.value(parts[0], std::int64_t{0}) + count;
    return;
  }
  node["gpus"] = node.value("gpus", std::int64_t{0}) + count;
  if (typed) node["types"][parts[1]] = count;
}

std::int64_t used_gpus(std::string_view text) {
  std::int64_t used = 0;
  for (const std::string& entry : gres_entries(text)) {
    const std::vector<std::string> parts = split(entry, ':');
    if (parts[0] == "gpu" && parts.size() > 1) used += parse_count(parts.back()).value_or(0);
  }
  return used;
}

std::size_t column(const std::vector<std::string>& names, std::string_view prefix) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (iequals(trim(names[i]), prefix)) return i;
  }
  return names.size();
}

}  // namespace

bool is_inventory(std::string_view header) {
  const std::vector<std::string> names = split(header, '|');
  const std::size_t n = names.size();
  return (column(names, "NODE") < n || column(names, "NODELIST") < n) && column(names, "GRES") < n;
}

std::string show_inventory(const Input& input) {
  ordered_json nodes = ordered_json::object();
  ordered_json warnings = ordered_json::array();
  std::vector<std::string> names;
  std::size_t rows = 0;
  int number = 0;
  for (const std::string& line : split(input.text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const std::vector<std::string> cells = split(trim(line), '|');
    if (names.empty()) {
      if (is_inventory(trim(line))) names = cells;  // what stands above the header is talk
      continue;
    }
    ++rows;
    if (cells.size() != names.size()) {
      warnings.push_back({{"line", number},
                          {"message", std::to_string(cells.size()) + " fields, " +
                                          std::to_string(names.size()) + " expected"}});
      continue;
    }
    const std::size_t node_column = std::min(column(names, "NODE"), column(names, "NODELIST"));
    ordered_json node = {{"gpus", 0}};
    const std::string& gres = cells[column(names, "GRES")];
    if (gres != "(null)") {
      for (const std::string& entry : gres_entries(gres)) add_gres(node, entry);
    }
    const std::size_t used = column(names, "GRES_USED");
    if (used < names.size()) node["used"] = used_gpus(cells[used]);
    nodes[cells[node_column]] = node;
  }
  const ordered_json summary = {{"format", "inventory"}, {"rows", rows},  {"jobs", 0},
                                {"steps", 0},            {"rejected", 0}, {"nodes", nodes},
                                {"warnings", warnings}};
  return ordered_json{{"summary", summary}}.dump(-1, ' ', false,
                                                 ordered_json::error_handler_t::replace);
}

}  // namespace fedsim
