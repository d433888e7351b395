// PartitionName lines of slurm.conf.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "conf/records.hpp"

namespace fedsim::conf {

namespace {

/// Keys that PartitionSpec has members for; the others are kept as text.
constexpr std::string_view kMembers[] = {
    "Nodes",         "Default",      "MaxTime",       "DefaultTime",    "PriorityTier",
    "Priority",      "MinNodes",     "MaxNodes",      "MaxCPUsPerNode", "PriorityJobFactor",
    "OverSubscribe", "DefMemPerCPU", "DefMemPerNode", "MaxMemPerCPU",   "MaxMemPerNode",
    "DefCpuPerGPU",  "DefMemPerGPU", "JobDefaults",   "State",          "RootOnly",
};

void read_oversubscribe(const Fields& fields, PartitionSpec& partition, Findings& findings) {
  const Value* value = fields.find("OverSubscribe");
  if (value == nullptr) return;
  const std::vector<std::string> parts = split(value->text, ':');
  constexpr int kJobsPerResource = 4;  // what YES and FORCE without a number stand for
  std::optional<std::int64_t> count = kJobsPerResource;
  if (parts.size() == 2) count = parse_int(parts[1]);
  const bool readable = parts.size() <= 2 && count && *count >= 1 && *count <= 32767;
  const bool counted = parts.size() == 2;
  if (readable && iequals(parts[0], "YES")) {
    partition.oversubscribe = OverSubscribe::yes;
    partition.oversubscribe_count = static_cast<int>(*count);
  } else if (readable && iequals(parts[0], "FORCE")) {
    partition.oversubscribe = OverSubscribe::force;
    partition.oversubscribe_count = static_cast<int>(*count);
  } else if (!counted && iequals(parts[0], "EXCLUSIVE")) {
    partition.oversubscribe = OverSubscribe::exclusive;
    partition.oversubscribe_count = 1;
  } else if (!counted && iequals(parts[0], "NO")) {
    partition.oversubscribe = OverSubscribe::no;
    partition.oversubscribe_count = 1;
  } else {
    report_bad_value("OverSubscribe", *value, "NO, YES[:n], FORCE[:n] or EXCLUSIVE", findings);
  }
}

void read_times(const Fields& fields, PartitionSpec& partition, Findings& findings) {
  if (const auto seconds = fields.minutes("MaxTime", findings)) {
    partition.max_time_s = *seconds == kUnset ? kUnlimited : *seconds;
  }
  const auto given = fields.minutes("DefaultTime", findings);
  if (!given) return;
  const bool above =
      partition.max_time_s != kUnlimited && (*given == kUnlimited || *given > partition.max_time_s);
  if (!above) {
    partition.default_time_s = *given;
    return;
  }
  findings.warning(
      "C017", fields.find("DefaultTime")->place,
      {"partition " + partition.name + ": DefaultTime " + format_slurm_time(*given) +
           " is above MaxTime " + format_slurm_time(partition.max_time_s) + " and dropped",
       "lower DefaultTime; slurmctld drops it without a word"});
}

struct MemoryLimits {
  const char* per_cpu_key;
  const char* per_node_key;
  std::int64_t& per_cpu;
  std::int64_t& per_node;
};

void read_memory(const Fields& fields, MemoryLimits limits, Findings& findings) {
  const auto per_cpu = fields.limit(limits.per_cpu_key, findings);
  const auto per_node = fields.limit(limits.per_node_key, findings);
  if (per_node) limits.per_node = *per_node;
  if (per_cpu && !per_node) limits.per_cpu = *per_cpu;
  if (per_cpu && per_node) {
    findings.warning("C018", fields.find(limits.per_cpu_key)->place,
                     {std::string(limits.per_cpu_key) + " is ignored, since " +
                          limits.per_node_key + " is given too",
                      "keep one of the two"});
  }
}

void read_gpu_defaults(const Fields& fields, PartitionSpec& partition, Findings& findings) {
  if (const Value* defaults = fields.find("JobDefaults")) {
    for (const std::string& item : split_list(defaults->text)) {
      const std::size_t equals = item.find('=');
      const auto number =
          parse_int(std::string_view(item).substr(std::min(equals, item.size() - 1) + 1));
      const std::string_view key = std::string_view(item).substr(0, equals);
      if (number && *number >= 0 && iequals(key, "DefCpuPerGPU")) {
        partition.def_cpu_per_gpu = *number;
      } else if (number && *number >= 0 && iequals(key, "DefMemPerGPU")) {
        partition.def_mem_per_gpu_mib = *number;
      } else {
        report_bad_value("JobDefaults", *defaults, "DefCpuPerGPU=n,DefMemPerGPU=n", findings);
      }
    }
  }
  if (const auto n = fields.limit("DefCpuPerGPU", findings)) partition.def_cpu_per_gpu = *n;
  if (const auto n = fields.limit("DefMemPerGPU", findings)) partition.def_mem_per_gpu_mib = *n;
}

void read_state(const Fields& fields, PartitionSpec& partition, Findings& findings) {
  const Value* value = fields.find("State");
  if (value == nullptr) return;
  for (const char* state : {"UP", "DOWN", "DRAIN", "INACTIVE"}) {
    if (iequals(value->text, state)) {
      partition.state = state;
      return;
    }
  }
  report_bad_value("State", *value, "UP, DOWN, DRAIN or INACTIVE", findings);
}

/// Nodes= expanded: node sets and ALL replaced, names that are no node reported and left out.
std::vector<std::string> read_nodes(const Value& value, const std::string& partition,
                                    const NodeSets& sets, const Draft& draft, Findings& findings) {
  std::vector<std::string> names;
  std::vector<std::string> unknown;
  std::set<std::string> seen;
  const auto add = [&](const std::string& name) {
    if (!seen.insert(name).second) return;
    (draft.node_index.contains(name) ? names : unknown).push_back(name);
  };
  for (const std::string& name : expand_at(value.text, value.place, findings)) {
    const auto set = sets.find(name);
    if (iequals(name, "ALL")) {
      for (const NodeSpec& node : draft.cluster.nodes) add(node.name);
    } else if (set != sets.end()) {
      for (const std::string& member : set->second) add(member);
    } else {
      add(name);
    }
  }
  if (!unknown.empty() && !draft.incomplete) {
    findings.error("C014", value.place,
                   {"partition " + partition + " names " + compress_hostlist(unknown) +
                        ", which is no node or node set; left out",
                    "names are compared with case; slurmctld refuses to start with it"});
  }
  return names;
}

PartitionSpec read_partition(const std::string& name, const Fields& fields, Findings& findings) {
  constexpr std::int64_t kMax16 = 65535;
  PartitionSpec partition;
  partition.name = name;
  read_times(fields, partition, findings);
  if (const auto n = fields.number("Priority", 0, kMax16, findings)) {
    partition.priority_tier = partition.priority_job_factor = static_cast<int>(*n);
  }
  if (const auto n = fields.number("PriorityTier", 0, kMax16, findings)) {
    partition.priority_tier = static_cast<int>(*n);
  }
  if (const auto n = fields.number("PriorityJobFactor", 0, kMax16, findings)) {
    partition.priority_job_factor = static_cast<int>(*n);
  }
  if (const auto n = fields.limit("MinNodes", findings))
    partition.min_nodes = std::max<std::int64_t>(*n, 0);
  if (const auto n = fields.limit("MaxNodes", findings)) partition.max_nodes = *n;
  if (const auto n = fields.limit("MaxCPUsPerNode", findings)) partition.max_cpus_per_node = *n;
  if (const auto flag = fields.boolean("RootOnly", findings)) partition.root_only = *flag;
  read_oversubscribe(fields, partition, findings);
  read_memory(fields,
              {"DefMemPerCPU", "DefMemPerNode", partition.def_mem_per_cpu_mib,
               partition.def_mem_per_node_mib},
              findings);
  read_memory(fields,
              {"MaxMemPerCPU", "MaxMemPerNode", partition.max_mem_per_cpu_mib,
               partition.max_mem_per_node_mib},
              findings);
  read_gpu_defaults(fields, partition, findings);
  read_state(fields, partition, findings);
  for (const auto& [key, value] : fields.all()) {
    if (std::find(std::begin(kMembers), std::end(kMembers), key) == std::end(kMembers)) {
      partition.other[key] = value.text;
    }
  }
  return partition;
}

/// The partitions that say Default=YES, in order.
struct DefaultClaims {
  std::vector<std::size_t> index;
  std::vector<Place> place;
};

void choose_default(const DefaultClaims& claims, Draft& draft, Findings& findings) {
  std::vector<PartitionSpec>& partitions = draft.cluster.partitions;
  if (claims.index.empty()) {
    if (partitions.empty() || draft.incomplete) return;
    findings.warning("C015", {"slurm.conf", 0, ""},
                     {"default partition not set: jobs without --partition are refused",
                      "add Default=YES to one partition"});
    return;
  }
  partitions[claims.index.back()].is_default = true;
  for (std::size_t i = 1; i < claims.index.size(); ++i) {
    findings.warning(
        "C015", claims.place[i],
        {"partitions " + partitions[claims.index[i - 1]].name + " and " +
             partitions[claims.index[i]].name + " both say Default=YES; the last one counts",
         "keep one Default=YES; slurmctld takes the last without a word"});
  }
}

}  // namespace

void read_partitions(const std::vector<Record>& records, const NodeSets& sets, Draft& draft,
                     Findings& findings) {
  Fields defaults;
  DefaultClaims claims;
  std::set<std::string> seen;
  for (const Record& record : records) {
    const Fields fields = Fields::read(record, "PartitionName", &defaults, findings);
    const std::string& name = record.pairs.front().value;
    if (iequals(name, "DEFAULT")) {
      defaults = fields;
      continue;
    }
    if (!seen.insert(name).second) {
      findings.error("C013", record.place,
                     {"duplicate entry for partition " + name + ", the first line counts",
                      "name every partition once; slurmctld refuses to start with it"});
      continue;
    }
    PartitionSpec partition = read_partition(name, fields, findings);
    if (const Value* nodes = fields.find("Nodes")) {
      partition.nodes = read_nodes(*nodes, name, sets, draft, findings);
    }
    if (fields.boolean("Default", findings).value_or(false)) {
      claims.index.push_back(draft.cluster.partitions.size());
      claims.place.push_back(record.place);
    }
    draft.cluster.partitions.push_back(std::move(partition));
  }
  choose_default(claims, draft, findings);
}

}  // namespace fedsim::conf
