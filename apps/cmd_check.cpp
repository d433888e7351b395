// fedsim check CONFDIR: the inventory that slurm.conf, gres.conf and topology.conf give, and every
// finding about them. The JSON form is fixed by the contract; exit 2 when there is an error.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"
#include "fedsim/slurm_conf.hpp"

namespace fedsim::apps {
namespace {

using Json = nlohmann::ordered_json;

/// FUTURE nodes are in slurm.conf only for later; slurmctld does not list them either.
bool listed(const NodeSpec& node) {
  return node.state != "FUTURE";
}

std::string gres_key(const GresSpec& gres) {
  return gres.type.empty() ? gres.name : gres.name + ":" + gres.type;
}

std::int64_t gpus_of(const NodeSpec& node) {
  std::int64_t gpus = 0;
  for (const GresSpec& gres : node.gres) gpus += gres.name == "gpu" ? gres.count : 0;
  return gpus;
}

Json to_json(const NodeSpec& node) {
  Json gres = Json::object();
  for (const GresSpec& entry : node.gres) gres[gres_key(entry)] = entry.count;
  Json out{{"cpus", node.cpus},
           {"sockets", node.sockets},
           {"cores_per_socket", node.cores_per_socket},
           {"threads_per_core", node.threads_per_core},
           {"memory_mib", node.memory_mib},
           {"weight", node.weight},
           {"features", node.features},
           {"gres", std::move(gres)},
           {"gpus", gpus_of(node)},
           {"state", node.state}};
  if (!node.reason.empty()) out["reason"] = node.reason;
  return out;
}

/// Seconds, null for no limit or none.
Json seconds_or_null(std::int64_t seconds) {
  return seconds < 0 ? Json() : Json(seconds);
}

Json to_json(const PartitionSpec& partition) {
  return {{"nodes_n", partition.nodes.size()},
          {"max_time_s", seconds_or_null(partition.max_time_s)},
          {"default_time_s", seconds_or_null(partition.default_time_s)},
          {"default", partition.is_default},
          {"priority_tier", partition.priority_tier},
          {"priority_job_factor", partition.priority_job_factor},
          {"state", partition.state},
          {"nodes", compress_hostlist(partition.nodes)}};
}

Json to_json(const ConfigResult& result) {
  Json nodes = Json::object();
  for (const NodeSpec& node : result.cluster.nodes) {
    if (listed(node)) nodes[node.name] = to_json(node);
  }
  Json partitions = Json::object();
  for (const PartitionSpec& p : result.cluster.partitions) partitions[p.name] = to_json(p);
  Json diagnostics = Json::array();
  for (const Diagnostic& d : result.diagnostics) {
    diagnostics.push_back({{"severity", to_string(d.severity)},
                           {"code", d.code},
                           {"file", d.file},
                           {"line", d.line},
                           {"message", d.message},
                           {"hint", d.hint}});
  }
  const std::size_t nodes_n = nodes.size();
  return {{"cluster", result.cluster.name},
          {"nodes_n", nodes_n},
          {"nodes", std::move(nodes)},
          {"partitions", std::move(partitions)},
          {"diagnostics", std::move(diagnostics)}};
}

using Row = std::vector<std::string>;

/// Columns as wide as their longest cell; the last one ragged.
void print_table(const std::vector<Row>& rows) {
  std::vector<std::size_t> width(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line += std::string(width[i] - row[i].size() + 2, ' ');
    }
    std::printf("%s\n", line.c_str());
  }
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ",") + part;
  return out.empty() ? "-" : out;
}

std::string time_text(std::int64_t seconds) {
  if (seconds == kUnlimited) return "unlimited";
  if (seconds < 0) return "-";
  char text[40];
  std::snprintf(text, sizeof text, "%lld-%02lld:%02lld:%02lld",
                static_cast<long long>(seconds / 86400),
                static_cast<long long>(seconds / 3600 % 24),
                static_cast<long long>(seconds / 60 % 60), static_cast<long long>(seconds % 60));
  return text;
}

/// Equal nodes on one row, in the order in which the first of them stands in the file.
void print_nodes(const ClusterSpec& cluster) {
  std::map<Row, std::size_t> row_of;
  std::vector<std::pair<Row, std::vector<std::string>>> groups;
  for (const NodeSpec& node : cluster.nodes) {
    if (!listed(node)) continue;
    std::vector<std::string> gres;
    for (const GresSpec& g : node.gres) gres.push_back(gres_key(g) + ":" + std::to_string(g.count));
    Row row{std::to_string(node.cpus),
            std::to_string(node.sockets) + ":" + std::to_string(node.cores_per_socket) + ":" +
                std::to_string(node.threads_per_core),
            std::to_string(node.memory_mib),
            std::to_string(node.weight),
            joined(gres),
            node.state,
            joined(node.features)};
    const auto [known, fresh] = row_of.emplace(row, groups.size());
    if (fresh) groups.push_back({std::move(row), {}});
    groups[known->second].second.push_back(node.name);
  }
  std::vector<Row> rows{
      {"NODES", "N", "CPUS", "S:C:T", "MEMORY_MIB", "WEIGHT", "GRES", "STATE", "FEATURES"}};
  for (auto& [row, names] : groups) {
    Row whole{compress_hostlist(names), std::to_string(names.size())};
    whole.insert(whole.end(), row.begin(), row.end());
    rows.push_back(std::move(whole));
  }
  print_table(rows);
}

void print_partitions(const ClusterSpec& cluster) {
  std::vector<Row> rows{{"PARTITION", "N", "STATE", "TIER", "MAX_TIME", "DEFAULT_TIME", "NODES"}};
  for (const PartitionSpec& p : cluster.partitions) {
    rows.push_back({p.name + (p.is_default ? "*" : ""), std::to_string(p.nodes.size()), p.state,
                    std::to_string(p.priority_tier), time_text(p.max_time_s),
                    time_text(p.default_time_s), joined({compress_hostlist(p.nodes)})});
  }
  print_table(rows);
}

void print_text(const ConfigResult& result) {
  const ClusterSpec& cluster = result.cluster;
  std::int64_t cpus = 0;
  std::int64_t gpus = 0;
  std::size_t nodes_n = 0;
  for (const NodeSpec& node : cluster.nodes) {
    if (!listed(node)) continue;
    ++nodes_n;
    cpus += node.cpus;
    gpus += gpus_of(node);
  }
  std::printf("cluster %s: %zu nodes, %lld CPUs, %lld GPUs, %zu partitions\n\n",
              cluster.name.empty() ? "(no name)" : cluster.name.c_str(), nodes_n,
              static_cast<long long>(cpus), static_cast<long long>(gpus),
              cluster.partitions.size());
  print_nodes(cluster);
  std::printf("\n");
  print_partitions(cluster);
  std::size_t count[3] = {0, 0, 0};
  if (!result.diagnostics.empty()) std::printf("\n");
  for (const Diagnostic& d : result.diagnostics) {
    ++count[static_cast<std::size_t>(d.severity)];
    std::printf("%s\n", to_string(d).c_str());
  }
  std::printf("\n%zu errors, %zu warnings, %zu notes\n", count[2], count[1], count[0]);
}

}  // namespace

void add_check(CLI::App& root, Context& context) {
  struct Options {
    std::string folder;
    std::string format;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = root.add_subcommand(
      "check", "What fedsim makes of a Slurm configuration: inventory and every finding");
  command->add_option("CONFDIR", options->folder, "Folder with slurm.conf (or the file itself)")
      ->required();
  add_format(*command, options->format, {"text", "json"});
  command->callback([options, &context] {
    std::filesystem::path folder = options->folder;
    if (folder.filename() == "slurm.conf") folder = folder.parent_path();
    const ConfigResult result = read_config_folder(folder);
    if (options->format == "json") {
      const std::string text = to_json(result).dump(1, ' ', false, Json::error_handler_t::replace);
      std::printf("%s\n", text.c_str());
    } else {
      print_text(result);
    }
    context.exit_code = result.ok() ? kOk : kBadInput;
  });
}

}  // namespace fedsim::apps
