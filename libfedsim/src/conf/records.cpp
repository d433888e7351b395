// Fields of NodeName and PartitionName lines: see conf/records.hpp.
#include "conf/records.hpp"

#include <utility>

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "conf/params.hpp"

namespace fedsim::conf {

namespace {

/// Old spellings of keys. When a line has both, the current one counts (CPUs=96 Procs=48 is 96).
struct Alias {
  std::string_view scope;
  std::string_view old_key;
  const char* key;
};
constexpr Alias kAliases[] = {
    {"NodeName", "Procs", "CPUs"},
    {"NodeName", "Feature", "Features"},
    {"PartitionName", "Shared", "OverSubscribe"},
};

const char* alias_of(std::string_view scope, std::string_view key) {
  for (const Alias& alias : kAliases) {
    if (alias.scope == scope && alias.old_key == key) return alias.key;
  }
  return nullptr;
}

std::string where_known(std::string_view scope) {
  return scope.empty() ? "slurm.conf" : "a " + std::string(scope) + " line";
}

}  // namespace

const Parameter* check_key(const Place& place, std::string_view scope, const std::string& key,
                           Findings& findings) {
  const Parameter* row = find_parameter("slurm.conf", scope, key);
  if (row == nullptr) {
    const std::string near = nearest_key("slurm.conf", scope, key);
    findings.warning("C005", place,
                     {key + ": unrecognized key in " + where_known(scope) + ", ignored",
                      (near.empty() ? "" : "did you mean " + near + "? ") +
                          std::string("slurmctld refuses to start with it")});
  } else if (row->role == Role::removed) {
    findings.warning("C008", place,
                     {std::string(row->key) + ": " + std::string(row->note),
                      "take it out; newer controllers refuse to start with it"});
  }
  return row;
}

void report_bad_value(const char* key, const Value& value, const char* accepted,
                      Findings& findings) {
  findings.error("C006", value.place, {"bad value \"" + value.text + "\" for " + key, accepted});
}

std::vector<std::string> expand_at(const std::string& text, const Place& place,
                                   Findings& findings) {
  std::string problem;
  auto names = try_expand_hostlist(text, problem);
  if (names) return *std::move(names);
  findings.error(
      "C020", place,
      {"host list \"" + text + "\": " + problem, "write ranges as n[1-3,7], low number first"});
  return {};
}

Fields Fields::read(const Record& record, const char* scope, const Fields* defaults,
                    Findings& findings) {
  Fields own;
  std::map<std::string, Value> old_keys;
  for (std::size_t i = 1; i < record.pairs.size(); ++i) {
    const Pair& pair = record.pairs[i];
    const Parameter* row = check_key(record.at(pair), scope, pair.key, findings);
    if (row == nullptr) continue;
    const char* alias = alias_of(scope, row->key);
    std::map<std::string, Value>& target = alias != nullptr ? old_keys : own.values_;
    const std::string key = alias != nullptr ? alias : std::string(row->key);
    const Value value{pair.value, record.at(pair)};
    if (!target.insert_or_assign(key, value).second) {
      findings.warning("C007", value.place,
                       {pair.key + " is given more than once, the last one counts", ""});
    }
  }
  own.values_.merge(old_keys);
  if (defaults != nullptr) {
    for (const auto& [key, value] : defaults->values_) own.values_.emplace(key, value);
  }
  return own;
}

const Value* Fields::find(const char* key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<std::int64_t> Fields::number(const char* key, std::int64_t low, std::int64_t high,
                                           Findings& findings) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto number = parse_int(value->text);
  if (number && *number >= low && *number <= high) return number;
  const std::string range =
      "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  report_bad_value(key, *value, range.c_str(), findings);
  return std::nullopt;
}

std::optional<std::int64_t> Fields::limit(const char* key, Findings& findings) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (iequals(value->text, "UNLIMITED") || iequals(value->text, "INFINITE")) return kUnlimited;
  const auto number = parse_int(value->text);
  if (number && *number >= 0) return number;
  report_bad_value(key, *value, "a whole number without unit, or UNLIMITED", findings);
  return std::nullopt;
}

std::optional<bool> Fields::boolean(const char* key, Findings& findings) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto flag = parse_bool(value->text);
  if (!flag) report_bad_value(key, *value, "YES or NO", findings);
  return flag;
}

std::optional<std::int64_t> Fields::minutes(const char* key, Findings& findings) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (iequals(value->text, "NONE")) return kUnset;
  const auto seconds = parse_slurm_time(value->text);
  if (seconds) return round_up_to_minute(*seconds);
  report_bad_value(key, *value,
                   "minutes, minutes:seconds, h:m:s, days-hours, d-h:m, d-h:m:s or UNLIMITED",
                   findings);
  return std::nullopt;
}

}  // namespace fedsim::conf
