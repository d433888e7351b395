// Look-ups in the parameter tables (params_options.cpp, params_records.cpp).
#include "conf/params.hpp"

#include <map>
#include <tuple>
#include <utility>

#include "base/text.hpp"

namespace fedsim::conf {

namespace {

using Index = std::map<std::tuple<std::string, std::string, std::string>, const Parameter*>;

Index make_index() {
  Index index;
  for (const auto rows : {option_parameters(), record_parameters()}) {
    for (const Parameter& row : rows) {
      index.emplace(std::tuple(std::string(row.file), std::string(row.scope), to_lower(row.key)),
                    &row);
    }
  }
  return index;
}

Coverage coverage_of(Role role) {
  switch (role) {
    case Role::modelled:
      return Coverage::modelled;
    case Role::simplified:
      return Coverage::simplified;
    case Role::ignored:
    case Role::irrelevant:
    case Role::removed:
      return Coverage::ignored;
  }
  return Coverage::ignored;
}

std::string note_of(const Parameter& row) {
  if (!row.note.empty()) return std::string(row.note);
  if (row.role == Role::irrelevant) return "no effect on scheduling";
  if (row.role == Role::removed) return "removed from Slurm; newer controllers refuse it";
  if (row.role == Role::ignored) return "read and kept, no effect here";
  return "";
}

}  // namespace

const Parameter* find_parameter(std::string_view file, std::string_view scope,
                                std::string_view key) {
  static const Index index = make_index();
  const auto found = index.find({std::string(file), std::string(scope), to_lower(key)});
  return found == index.end() ? nullptr : found->second;
}

std::string nearest_key(std::string_view file, std::string_view scope, std::string_view key) {
  std::string_view best;
  std::size_t best_distance = key.size() < 6 ? 2 : 3;  // farther is a guess, not help
  for (const auto rows : {option_parameters(), record_parameters()}) {
    for (const Parameter& row : rows) {
      if (row.file != file || row.scope != scope) continue;
      const std::size_t distance = edit_distance(key, row.key);
      if (distance >= best_distance) continue;
      best_distance = distance;
      best = row.key;
    }
  }
  return std::string(best);
}

bool value_fits(ValueKind kind, std::string_view value) {
  const bool unlimited = iequals(value, "UNLIMITED") || iequals(value, "INFINITE");
  switch (kind) {
    case ValueKind::text:
      return true;
    case ValueKind::number:
      return unlimited || parse_int(value).has_value();
    case ValueKind::real:
      return parse_double(value).has_value();
    case ValueKind::boolean:
      return parse_bool(value).has_value();
    case ValueKind::time:
      return iequals(value, "NONE") || parse_slurm_time(value).has_value();
  }
  return true;
}

}  // namespace fedsim::conf

namespace fedsim {

const std::vector<ParameterInfo>& parameter_table() {
  static const std::vector<ParameterInfo> table = [] {
    std::vector<ParameterInfo> rows;
    for (const auto part : {conf::option_parameters(), conf::record_parameters()}) {
      for (const conf::Parameter& row : part) {
        rows.push_back({std::string(row.file), std::string(row.scope), std::string(row.key),
                        conf::coverage_of(row.role), conf::note_of(row)});
      }
    }
    return rows;
  }();
  return table;
}

}  // namespace fedsim
