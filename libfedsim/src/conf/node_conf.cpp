// NodeName, NodeSet and DownNodes lines of slurm.conf.
//
// Counts that a line leaves out are completed as slurmctld does it; a node is what its line says
// (SlurmdParameters=config_overrides), because there is no hardware to compare with.
#include <algorithm>
#include <array>
#include <limits>

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "conf/records.hpp"

namespace fedsim::conf {

namespace {

constexpr std::int64_t kMaxCount = 65533;  // 16-bit counts, the two largest values are reserved
constexpr std::int64_t kMaxMib = std::int64_t{1} << 40;
constexpr std::int64_t kMaxGresCount = std::int64_t{1} << 50;
constexpr std::int64_t kMaxGpus = 1024;  // devices of one node, as in Slurm

/// What a NodeName line says, before the list of names is expanded.
struct NodeLine {
  NodeSpec node;
  Place place;
};

void set_count(const Fields& fields, const char* key, int& count, Findings& findings) {
  if (const auto n = fields.number(key, 1, kMaxCount, findings)) count = static_cast<int>(*n);
}

bool consumable_cores(const Draft& draft) {
  const auto found = draft.options.find("SelectType");
  return found != draft.options.end() && (iequals(found->second.text, "select/cons_tres") ||
                                          iequals(found->second.text, "select/cons_res"));
}

/// CPUs= must be the sockets, the cores or the threads. Anything else becomes the product.
void check_cpus(NodeSpec& node, const Value& given, const Draft& draft, Findings& findings) {
  const int cores = node.sockets * node.cores_per_socket;
  const int threads = cores * node.threads_per_core;
  if (node.cpus == cores || node.cpus == threads) return;
  const std::string what = "CPUs=" + std::to_string(node.cpus) + " is neither the " +
                           std::to_string(cores) + " cores nor the " + std::to_string(threads) +
                           " threads of the line; " + std::to_string(threads) + " taken";
  const std::string hint = "leave CPUs out, or make it Sockets*CoresPerSocket[*ThreadsPerCore]";
  if (node.cpus != node.sockets) {
    findings.warning("C016", given.place, {what, hint + "; slurmctld resets it too"});
  } else if (consumable_cores(draft)) {
    findings.error("C016", given.place, {what, hint + "; slurmctld refuses to start with it"});
  } else {
    return;  // select/linear counts sockets
  }
  node.cpus = threads;
}

void read_counts(const Fields& fields, NodeSpec& node, const Draft& draft, Findings& findings) {
  set_count(fields, "CoresPerSocket", node.cores_per_socket, findings);
  set_count(fields, "ThreadsPerCore", node.threads_per_core, findings);
  int boards = 1;
  set_count(fields, "Boards", boards, findings);
  const Value* cpus = fields.find("CPUs");
  const auto cpus_n = fields.number("CPUs", 1, kMaxCount, findings);
  if (const auto n = fields.number("SocketsPerBoard", 1, kMaxCount, findings)) {
    node.sockets = static_cast<int>(*n) * boards;
  } else if (const auto total = fields.number("Sockets", 1, kMaxCount, findings)) {
    node.sockets = static_cast<int>(*total);
  } else if (cpus_n) {
    const std::int64_t per_socket = std::int64_t{node.cores_per_socket} * node.threads_per_core;
    node.sockets = static_cast<int>(std::max<std::int64_t>(*cpus_n / per_socket, 1));
  } else {
    node.sockets = boards;
  }
  const std::int64_t product =
      std::int64_t{node.sockets} * node.cores_per_socket * node.threads_per_core;
  if (product > kMaxCount) {
    const Value* culprit = fields.find("Sockets");
    if (culprit == nullptr) culprit = fields.find("CoresPerSocket");
    if (culprit == nullptr) culprit = fields.find("SocketsPerBoard");
    if (culprit != nullptr) {
      findings.error("C006", culprit->place,
                     {"a node of " + std::to_string(product) + " CPUs", "at most 65533"});
    }
    node.sockets = node.cores_per_socket = node.threads_per_core = 1;
  }
  node.cpus = node.sockets * node.cores_per_socket * node.threads_per_core;
  if (cpus_n) {
    node.cpus = static_cast<int>(*cpus_n);
    check_cpus(node, *cpus, draft, findings);
  }
}

/// One entry of Gres=; nullopt (and a finding) when it can't be read.
std::optional<GresSpec> parse_gres(const std::string& text, const Value& value,
                                   Findings& findings) {
  // "gpu:2(S:0-1)", as scontrol prints it: the sockets come from gres.conf.
  std::vector<std::string> parts = split(std::string_view(text).substr(0, text.find('(')), ':');
  GresSpec gres;
  gres.name = parts.front();
  gres.count = 1;
  parts.erase(parts.begin());
  const auto plain = std::find_if(parts.begin(), parts.end(), [](const std::string& part) {
    return iequals(part, "no_consume");
  });
  if (plain != parts.end()) {
    parts.erase(plain);
    findings.note(
        "C037", value.place,
        {"no_consume of " + text + " is not modelled", "the count goes down while jobs hold it"});
  }
  if (!parts.empty()) {
    if (const auto count = parse_count(parts.back())) {
      gres.count = *count;
      parts.pop_back();
    }
  }
  if (gres.name.empty() || parts.size() > 1 || gres.count > kMaxGresCount) {
    findings.error("C006", value.place,
                   {"bad value \"" + text + "\" for Gres",
                    "name[:type][:no_consume]:count, as in gpu:a100:8"});
    return std::nullopt;
  }
  if (!parts.empty()) gres.type = parts.front();
  return gres;
}

/// Adds to the entry of equal name and type; Slurm sums them ("gpu:a100:4,gpu:a100:4" is 8).
void add_gres(std::vector<GresSpec>& all, const GresSpec& gres) {
  for (GresSpec& known : all) {
    if (known.name == gres.name && known.type == gres.type) {
      known.count += gres.count;
      return;
    }
  }
  all.push_back(gres);
}

/// Typed and untyped entries of one name on one node: slurmd stops; the typed ones are kept.
void drop_untyped(NodeSpec& node, const Value& value, Findings& findings) {
  for (const GresSpec& gres : std::vector<GresSpec>(node.gres)) {
    const bool mixed = gres.type.empty() &&
                       std::any_of(node.gres.begin(), node.gres.end(), [&](const GresSpec& other) {
                         return other.name == gres.name && !other.type.empty();
                       });
    if (!mixed) continue;
    std::erase(node.gres, gres);
    findings.error(
        "C025", value.place,
        {"some " + gres.name + " of \"" + value.text + "\" have a type and others do not",
         "give all or none a type; slurmd refuses to start with it"});
  }
}

void read_gres_field(const Fields& fields, NodeSpec& node, const Draft& draft, Findings& findings) {
  const Value* value = fields.find("Gres");
  if (value == nullptr || iequals(value->text, "(null)") || iequals(value->text, "none")) return;
  std::set<std::string> unknown;
  for (const std::string& text : split_list(value->text)) {
    const auto gres = parse_gres(text, *value, findings);
    if (!gres) continue;
    if (!draft.gres_names.contains(gres->name)) {
      unknown.insert(gres->name);
    } else if (gres->count > 0) {
      add_gres(node.gres, *gres);
    }
  }
  std::int64_t gpus = 0;
  for (const GresSpec& gres : node.gres) gpus += gres.name == "gpu" ? gres.count : 0;
  if (gpus > kMaxGpus) {
    findings.error("C006", value->place,
                   {"Gres=" + value->text + ": " + std::to_string(gpus) + " GPUs on one node",
                    "at most 1024"});
    std::erase_if(node.gres, [](const GresSpec& gres) { return gres.name == "gpu"; });
  }
  drop_untyped(node, *value, findings);
  for (const std::string& name : unknown) {
    findings.warning(
        "C021", value->place,
        {"Gres=" + value->text + ": " + name + " is ignored, GresTypes does not name it",
         "add GresTypes=" + name + " to slurm.conf"});
  }
}

void read_state(const Fields& fields, NodeSpec& node, Findings& findings) {
  const Value* value = fields.find("State");
  if (const Value* reason = fields.find("Reason")) node.reason = reason->text;
  if (value == nullptr) return;
  static constexpr std::array<std::string_view, 8> kStates{"CLOUD", "DOWN",   "DRAIN", "EXTERNAL",
                                                           "FAIL",  "FUTURE", "IDLE",  "UNKNOWN"};
  const std::string state = to_upper(value->text);
  if (state == "FAILING") {
    node.state = "FAIL";
  } else if (std::find(kStates.begin(), kStates.end(), state) != kStates.end()) {
    node.state = state;
  } else {
    findings.error("C006", value->place,
                   {"bad value \"" + value->text + "\" for State",
                    "CLOUD, DOWN, DRAIN, FAIL, FUTURE, IDLE or UNKNOWN"});
  }
}

NodeSpec read_node(const Fields& fields, const Draft& draft, Findings& findings) {
  NodeSpec node;
  read_counts(fields, node, draft, findings);
  if (const auto n = fields.number("RealMemory", 1, kMaxMib, findings)) node.memory_mib = *n;
  if (const auto n = fields.number("MemSpecLimit", 0, kMaxMib, findings)) {
    node.mem_spec_limit_mib = *n;
  }
  if (const auto n = fields.number("TmpDisk", 0, kMaxMib, findings)) node.tmp_disk_mib = *n;
  const int cores = node.sockets * node.cores_per_socket;
  if (const auto n = fields.number("CoreSpecCount", 0, cores - 1, findings)) {
    node.core_spec_count = static_cast<int>(*n);
  }
  if (const Value* list = fields.find("CpuSpecList")) {
    const auto cpus = expand_at("[" + list->text + "]", list->place, findings);
    const int per_core = node.cpus == cores ? 1 : node.threads_per_core;
    node.core_spec_count = (static_cast<int>(cpus.size()) + per_core - 1) / per_core;
  }
  constexpr std::int64_t kMaxWeight = std::numeric_limits<int>::max();
  if (const auto n = fields.number("Weight", 0, kMaxWeight, findings)) {
    node.weight = static_cast<int>(*n);
  }
  if (const Value* features = fields.find("Features")) {
    for (std::string& feature : split_list(features->text)) {
      if (std::find(node.features.begin(), node.features.end(), feature) == node.features.end()) {
        node.features.push_back(std::move(feature));
      }
    }
  }
  read_gres_field(fields, node, draft, findings);
  read_state(fields, node, findings);
  return node;
}

}  // namespace

void read_node_line(const Record& record, Fields& defaults, Draft& draft, Findings& findings) {
  const Pair& lead = record.pairs.front();
  const Fields fields = Fields::read(record, "NodeName", &defaults, findings);
  if (iequals(lead.value, "DEFAULT")) {
    defaults = fields;
    return;
  }
  NodeSpec node = read_node(fields, draft, findings);
  std::vector<std::string> names = expand_at(lead.value, record.place, findings);
  if (draft.cluster.nodes.size() + names.size() > kMaxHostlistNames) {
    findings.error("C020", record.place, {"more than 262144 nodes", "make the ranges smaller"});
    return;
  }
  std::vector<std::string> twice;
  for (std::string& name : names) {
    if (!draft.node_index.emplace(name, draft.cluster.nodes.size()).second) {
      twice.push_back(name);
      continue;
    }
    node.name = std::move(name);
    draft.cluster.nodes.push_back(node);
    draft.node_places.push_back(record.place);
  }
  if (!twice.empty()) {
    findings.error("C012", record.place,
                   {"Duplicated NodeName " + compress_hostlist(twice) + ", the first line counts",
                    "name every node once; slurmctld refuses to start with it"});
  }
}

void read_down_nodes(const Record& record, Draft& draft, Findings& findings) {
  const Fields fields = Fields::read(record, "DownNodes", nullptr, findings);
  NodeSpec state;
  state.state = "DOWN";
  read_state(fields, state, findings);
  for (const std::string& name : expand_at(record.pairs.front().value, record.place, findings)) {
    const auto found = draft.node_index.find(name);
    if (found == draft.node_index.end() && draft.incomplete) continue;
    if (found == draft.node_index.end()) {
      findings.error(
          "C014", record.place,
          {"DownNodes names " + name + ", which is no node", "names are compared with case"});
      continue;
    }
    NodeSpec& node = draft.cluster.nodes[found->second];
    node.state = state.state;
    if (!state.reason.empty()) node.reason = state.reason;
  }
}

void read_node_set(const Record& record, const Draft& draft, NodeSets& sets, Findings& findings) {
  const Fields fields = Fields::read(record, "NodeSet", nullptr, findings);
  std::vector<std::string> names;
  if (const Value* nodes = fields.find("Nodes")) {
    names = expand_at(nodes->text, nodes->place, findings);
  }
  if (const Value* feature = fields.find("Feature")) {
    const std::set<std::string> listed(names.begin(), names.end());
    for (const NodeSpec& node : draft.cluster.nodes) {
      const bool has = std::find(node.features.begin(), node.features.end(), feature->text) !=
                       node.features.end();
      if (has && !listed.contains(node.name)) names.push_back(node.name);
    }
  }
  sets[record.pairs.front().value] = std::move(names);
}

}  // namespace fedsim::conf
