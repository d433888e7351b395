// ControllerView: what of slurm.conf and accounting the tests look at, indexed once.
#include <algorithm>

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "submit/submission.hpp"

namespace fedsim {
namespace {

std::set<std::string> names(const std::map<std::string, std::string>& fields, const char* key) {
  const auto found = fields.find(key);
  if (found == fields.end() || iequals(found->second, "ALL")) return {};
  const std::vector<std::string> list = split_list(found->second);
  return {list.begin(), list.end()};
}

std::int64_t minutes(std::int64_t seconds) {
  return seconds < 0 ? seconds : seconds / 60;
}

/// Nodes of one line have one configuration record; equal lines are told apart by content alone.
bool same_config(const NodeSpec& a, const NodeSpec& b) {
  return a.cpus == b.cpus && a.sockets == b.sockets && a.cores_per_socket == b.cores_per_socket &&
         a.threads_per_core == b.threads_per_core && a.memory_mib == b.memory_mib &&
         a.weight == b.weight && a.features == b.features && a.gres == b.gres &&
         a.tmp_disk_mib == b.tmp_disk_mib;
}

EnforceLimits read_enforce(const std::string& text) {
  if (iequals(text, "ALL") || iequals(text, "YES")) return EnforceLimits::all;
  return iequals(text, "ANY") ? EnforceLimits::any : EnforceLimits::no;
}

std::map<std::string, std::int64_t> read_licenses(const std::string& text) {
  std::map<std::string, std::int64_t> out;
  for (const std::string& entry : split_list(text)) {
    const std::size_t colon = entry.find_first_of(":=");
    const auto count = colon == std::string::npos ? std::optional<std::int64_t>{1}
                                                  : parse_int(entry.substr(colon + 1));
    out[entry.substr(0, colon)] = count.value_or(0);
  }
  return out;
}

}  // namespace

std::int64_t StaticNode::gres_of(const std::string& gres_name, const std::string& type) const {
  if (!type.empty()) {
    const auto found = gres.find({gres_name, type});
    return found == gres.end() ? 0 : found->second;
  }
  std::int64_t n = 0;
  for (const auto& [key, count] : gres) n += key.first == gres_name ? count : 0;
  return n;
}

ControllerView::ControllerView(const ClusterSpec& cluster_spec, const Accounting& accounts,
                               std::shared_ptr<const ClusterHardware> shared)
    : cluster(cluster_spec), accounting(accounts), hardware(std::move(shared)) {
  std::vector<const NodeSpec*> order;
  std::vector<const NodeSpec*> configs;
  for (const NodeSpec& n : cluster.nodes) order.push_back(&n);
  std::stable_sort(order.begin(), order.end(), [](const NodeSpec* a, const NodeSpec* b) {
    return natural_less(a->name, b->name);
  });
  for (const NodeSpec& n : cluster.nodes) {
    const auto known = std::find_if(configs.begin(), configs.end(),
                                    [&](const NodeSpec* c) { return same_config(*c, n); });
    if (known == configs.end()) configs.push_back(&n);
  }
  for (const NodeSpec* n : order) {
    const auto config = std::find_if(configs.begin(), configs.end(),
                                     [&](const NodeSpec* c) { return same_config(*c, *n); });
    StaticNode node{n->name,
                    n->cpus,
                    n->sockets,
                    n->cores_per_socket,
                    n->threads_per_core,
                    n->memory_mib - n->mem_spec_limit_mib,
                    n->tmp_disk_mib,
                    static_cast<std::size_t>(config - configs.begin()),
                    {n->features.begin(), n->features.end()},
                    {}};
    for (const GresSpec& g : n->gres) node.gres[{g.name, g.type}] += g.count;
    nodes.push_back(std::move(node));
  }
  if (hardware == nullptr)
    hardware = std::make_shared<const ClusterHardware>(hardware_of(cluster, order));
  for (const PartitionSpec& p : cluster.partitions) {
    StaticPartition part{&p,
                         {},
                         0,
                         names(p.other, "AllowAccounts"),
                         names(p.other, "AllowQos"),
                         names(p.other, "DenyAccounts"),
                         names(p.other, "DenyQos"),
                         minutes(p.max_time_s),
                         minutes(p.default_time_s)};
    const std::set<std::string> members(p.nodes.begin(), p.nodes.end());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (members.count(nodes[i].name) == 0) continue;
      part.nodes.push_back(i);
      part.cpus += nodes[i].cpus;
    }
    partitions.push_back(std::move(part));
  }
  read_select_rules();
  for (const std::string& type : split_list(option("GresTypes"))) gres_types.insert(type);
  licenses = read_licenses(option("Licenses"));
  tracked_tres = split_list(option("AccountingStorageTRES"));
  enforce = read_enforce(option("EnforcePartLimits"));
  for (const std::string& what : split_list(to_lower(option("AccountingStorageEnforce")))) {
    const bool all = what == "all" || what == "1";
    enforce_qos = enforce_qos || all || what == "qos" || what == "safe";
    enforce_limits = enforce_limits || all || what == "limits" || what == "safe" || what == "qos";
    enforce_associations = true;
  }
  cons_tres = iequals(option("SelectType", "select/cons_tres"), "select/cons_tres");
  consumes_memory = to_lower(option("SelectTypeParameters", "CR_Core_Memory")).find("memory") !=
                    std::string::npos;
  max_array_size = parse_int(option("MaxArraySize", "1001")).value_or(1001);
  client = {gres_types, cons_tres, parse_bool(option("AllowSpecResourcesUsage", "no")) == true, 0};
}

void ControllerView::read_select_rules() {
  const std::string how = to_lower(option("SelectTypeParameters", "CR_Core_Memory"));
  const auto has = [&](const char* word) { return how.find(word) != std::string::npos; };
  select.memory = has("memory");
  if (has("cr_socket"))
    select.unit = SelectRules::Unit::socket;
  else
    select.unit = has("cr_cpu") ? SelectRules::Unit::cpu : SelectRules::Unit::core;
  select.one_task_per_core = has("cr_one_task_per_core");
  select.block_cores = has("cr_core_default_dist_block");
  select.least_loaded = has("cr_lln");
  linear = iequals(option("SelectType"), "select/linear");
  for (const std::string& word : split_list(option("SchedulerParameters")))
    if (istarts_with(word, "max_switch_wait="))
      max_switch_wait_s = parse_int(word.substr(16)).value_or(300);
  select.pack_serial_at_end =
      option("SchedulerParameters").find("pack_serial_at_end") != std::string::npos;
}

std::string ControllerView::option(const std::string& key, const std::string& otherwise) const {
  const auto found = cluster.options.find(key);
  return found == cluster.options.end() ? otherwise : found->second;
}

const StaticPartition* ControllerView::partition(const std::string& name) const {
  for (const StaticPartition& p : partitions)
    if (p.spec->name == name) return &p;
  return nullptr;
}

std::optional<std::size_t> ControllerView::node(const std::string& name) const {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].name == name) return i;
  return std::nullopt;
}

}  // namespace fedsim
