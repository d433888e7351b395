// Reading a configuration folder: slurm.conf with its includes, then gres.conf and topology.conf.
//
// Models what slurmctld 22.05 makes of the files (slurm.conf(5)). Where it would refuse to start,
// the finding is an error (an unknown key: a warning) and reading goes on, so that one run shows
// everything and gives the inventory as far as it can be read.
#include "fedsim/slurm_conf.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.hpp"
#include "conf/params.hpp"
#include "conf/records.hpp"

namespace fedsim {

namespace conf {
namespace {

/// The records of slurm.conf by kind, in file order.
struct Records {
  std::vector<Record> nodes, partitions, node_sets, down_nodes, options;
};

Records sort_records(std::vector<Record> records) {
  Records sorted;
  for (Record& record : records) {
    const std::string& key = record.pairs.front().key;
    if (iequals(key, "NodeName"))
      sorted.nodes.push_back(std::move(record));
    else if (iequals(key, "PartitionName"))
      sorted.partitions.push_back(std::move(record));
    else if (iequals(key, "NodeSet"))
      sorted.node_sets.push_back(std::move(record));
    else if (iequals(key, "DownNodes"))
      sorted.down_nodes.push_back(std::move(record));
    else
      sorted.options.push_back(std::move(record));
  }
  return sorted;
}

/// Keys that may stand several times, each adding to a list.
bool may_repeat(std::string_view key) {
  return key == "SlurmctldHost";
}

const char* words_for(ValueKind kind) {
  switch (kind) {
    case ValueKind::number:
      return "a whole number, or UNLIMITED";
    case ValueKind::real:
      return "a number";
    case ValueKind::boolean:
      return "YES or NO";
    case ValueKind::time:
      return "a whole number or a time, as in 7-0 or 1:30:00";
    case ValueKind::text:
      return "";
  }
  return "";
}

void read_option(const Record& record, Draft& draft, Findings& findings) {
  const Pair& pair = record.pairs.front();
  const Parameter* row = check_key(record.place, "", pair.key, findings);
  if (row == nullptr) return;
  const std::string key(row->key);
  const Value value{pair.value, record.place};
  if (!value_fits(row->kind, pair.value)) {
    report_bad_value(key.c_str(), value, words_for(row->kind), findings);
    return;
  }
  const auto before = draft.options.find(key);
  if (before != draft.options.end() && may_repeat(key)) {
    before->second.text += "," + value.text;
    return;
  }
  if (!draft.options.insert_or_assign(key, value).second) {
    findings.warning("C007", record.place,
                     {key + " is given more than once, the last one counts", ""});
  }
}

/// Options of a comma list: unknown ones are reported, ones without effect gathered in `unused`.
void check_list(const Draft& draft, const std::string& scope, std::vector<std::string>& unused,
                Findings& findings) {
  const auto found = draft.options.find(scope);
  if (found == draft.options.end()) return;
  for (const std::string& item : split_list(found->second.text)) {
    const std::size_t equals = item.find('=');
    const std::string key = item.substr(0, equals);
    const Parameter* row = find_parameter("slurm.conf", scope, key);
    if (row == nullptr) {
      const std::string near = nearest_key("slurm.conf", scope, key);
      findings.warning(
          "C019", found->second.place,
          {"unknown option " + key + " in " + scope + ", ignored",
           near.empty() ? "Slurm ignores it without a word" : "did you mean " + near + "?"});
    } else if (row->role == Role::ignored) {
      unused.push_back(scope + ":" + std::string(row->key));
    } else if (row->kind == ValueKind::number &&
               (equals == std::string::npos || !parse_int(item.substr(equals + 1)))) {
      findings.warning("C019", found->second.place,
                       {"\"" + item + "\" in " + scope + " has no number; the default counts",
                        "write " + key + "=NUMBER"});
    }
  }
}

void check_select(const Draft& draft, Findings& findings) {
  const auto type = draft.options.find("SelectType");
  const auto parameters = draft.options.find("SelectTypeParameters");
  // Unset is select/linear up to 23.02 and cons_tres later; only a stated one is checked.
  if (type == draft.options.end() || parameters == draft.options.end()) return;
  if (!iequals(type->second.text, "select/linear")) return;
  for (const std::string& item : split_list(parameters->second.text)) {
    for (const char* unit : {"CR_CPU", "CR_Core", "CR_Socket"}) {
      if (!istarts_with(item, unit) || istarts_with(item, "CR_CORE_DEFAULT")) continue;
      findings.error("C029", parameters->second.place,
                     {"Invalid SelectTypeParameters for select/linear: " + item,
                      "it can't contain CR_(CPU|CORE|SOCKET): use CR_Memory, or select/cons_tres"});
    }
  }
}

/// PerNode wins over PerCPU, as in a partition.
void drop_exclusive(const char* per_cpu, const char* per_node, Draft& draft, Findings& findings) {
  const auto loser = draft.options.find(per_cpu);
  if (loser == draft.options.end() || !draft.options.contains(per_node)) return;
  findings.warning("C018", loser->second.place,
                   {std::string(per_cpu) + " is ignored, since " + per_node + " is given too",
                    "keep one of the two"});
  draft.options.erase(loser);
}

/// JobDefaults= is the newer home of DefCpuPerGPU and DefMemPerGPU.
void spread_job_defaults(Draft& draft, Findings& findings) {
  const auto found = draft.options.find("JobDefaults");
  if (found == draft.options.end()) return;
  const Value defaults = found->second;
  for (const std::string& item : split_list(defaults.text)) {
    const std::vector<std::string> parts = split(item, '=');
    const Parameter* row = find_parameter("slurm.conf", "PartitionName", parts.front());
    const bool known = row != nullptr && (row->key == "DefCpuPerGPU" || row->key == "DefMemPerGPU");
    if (!known || parts.size() != 2 || !parse_int(parts[1])) {
      report_bad_value("JobDefaults", defaults, "DefCpuPerGPU=n,DefMemPerGPU=n", findings);
      continue;
    }
    draft.options.emplace(std::string(row->key), Value{parts[1], defaults.place});
  }
}

void read_options(const std::vector<Record>& records, Draft& draft, Findings& findings) {
  for (const Record& record : records) read_option(record, draft, findings);
  std::vector<std::string> unused;
  for (const auto& [key, value] : draft.options) {
    const Parameter* row = find_parameter("slurm.conf", "", key);
    if (row != nullptr && row->role == Role::ignored) unused.push_back(key);
  }
  check_list(draft, "SchedulerParameters", unused, findings);
  check_list(draft, "SelectTypeParameters", unused, findings);
  if (!unused.empty()) {
    findings.note("C009", {"slurm.conf", 0, ""},
                  {"read and kept, but without effect here: " + join(unused, ", "),
                   "fedsim params says what is modelled"});
  }
  check_select(draft, findings);
  drop_exclusive("DefMemPerCPU", "DefMemPerNode", draft, findings);
  drop_exclusive("MaxMemPerCPU", "MaxMemPerNode", draft, findings);
  spread_job_defaults(draft, findings);
  const auto types = draft.options.find("GresTypes");
  if (types == draft.options.end()) return;
  for (const std::string& name : split_list(types->second.text)) draft.gres_names.insert(name);
}

void check_presence(Draft& draft, Findings& findings) {
  const auto name = draft.options.find("ClusterName");
  if (name != draft.options.end()) draft.cluster.name = to_lower(name->second.text);
  if (draft.incomplete) return;  // the missing file may have it
  const Place begin{"slurm.conf", 1, ""};
  if (draft.cluster.name.empty()) {
    findings.error("C010", begin, {"ClusterName is missing", "add ClusterName=NAME"});
  }
  if (draft.cluster.nodes.empty()) {
    findings.error(
        "C011", begin,
        {"No NodeName information available!", "add NodeName lines, or the Include that has them"});
  }
  if (draft.cluster.partitions.empty()) {
    findings.error("C011", begin,
                   {"No PartitionName information available!",
                    "add PartitionName=batch Nodes=ALL Default=YES"});
  }
}

/// What is said about a DEFAULT line is found again for every line that inherits it.
std::vector<Diagnostic> without_repeats(std::vector<Diagnostic> all) {
  std::vector<Diagnostic> once;
  for (Diagnostic& d : all) {
    if (std::find(once.begin(), once.end(), d) == once.end()) once.push_back(std::move(d));
  }
  return once;
}

}  // namespace
}  // namespace conf

ConfigResult read_config_folder(const std::filesystem::path& folder) {
  using namespace conf;
  static const FileGrammar kGrammar{{"NodeName", "PartitionName", "NodeSet", "DownNodes"}, true};
  Findings findings;
  FileText text = read_conf_file({folder, "slurm.conf"}, kGrammar, findings);
  if (!text.present) throw FileError((folder / "slurm.conf").string(), ENOENT, "read");

  Draft draft;
  draft.incomplete = text.include_failed;
  const Records records = sort_records(std::move(text.records));
  read_options(records.options, draft, findings);
  Fields defaults;
  for (const Record& record : records.nodes) read_node_line(record, defaults, draft, findings);
  for (const Record& record : records.down_nodes) read_down_nodes(record, draft, findings);
  NodeSets sets;
  for (const Record& record : records.node_sets) read_node_set(record, draft, sets, findings);
  read_partitions(records.partitions, sets, draft, findings);
  check_presence(draft, findings);
  read_gres(folder, draft, findings);
  read_topology(folder, draft, findings);

  for (const auto& [key, value] : draft.options) draft.cluster.options[key] = value.text;
  return {std::move(draft.cluster), without_repeats(findings.take())};
}

FederationSpec read_slurm_conf(
    const std::vector<std::pair<std::string, std::filesystem::path>>& folders) {
  FederationSpec spec;
  spec.federated = folders.size() > 1;
  std::vector<Diagnostic> all;
  bool ok = true;
  for (const auto& [name, folder] : folders) {
    ConfigResult result = read_config_folder(folder);
    if (!name.empty()) result.cluster.name = name;
    ok = ok && result.ok();
    // With several folders "slurm.conf" alone does not say which one is meant.
    for (Diagnostic& d : result.diagnostics) {
      if (!d.file.empty()) d.file = (folder / d.file).string();
      all.push_back(std::move(d));
    }
    spec.clusters.push_back(std::move(result.cluster));
  }
  if (!ok) throw InputError(std::move(all));
  spec.warnings = std::move(all);
  return spec;
}

}  // namespace fedsim
