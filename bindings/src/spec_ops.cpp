// Short forms and what-ifs on specs: Federation.of, with_cluster, with_options, check_config.
#include "spec_ops.hpp"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "fedsim/scenario.hpp"
#include "fedsim/slurm_conf.hpp"

namespace fedsim::python {
namespace {

/// A copy of `like` under another name with `nodes_n` nodes NAME1, NAME2, ...
ClusterSpec cluster_like(const ClusterSpec& like, const std::string& name, std::size_t nodes_n) {
  ClusterSpec made = like;
  made.name = name;
  made.nodes.clear();
  // Each new node copies the old ones in turn and joins the partitions of the one it copies.
  std::map<std::string, std::vector<std::string>> copies;
  for (std::size_t i = 0; i < nodes_n; ++i) {
    NodeSpec node = like.nodes[i % like.nodes.size()];
    const std::string old = node.name;
    node.name = name + std::to_string(i + 1);
    copies[old].push_back(node.name);
    made.nodes.push_back(std::move(node));
  }
  auto renamed = [&copies](const std::vector<std::string>& names) {
    std::vector<std::string> out;
    for (const std::string& n : names) {
      const auto it = copies.find(n);
      if (it != copies.end()) out.insert(out.end(), it->second.begin(), it->second.end());
    }
    return out;
  };
  for (PartitionSpec& p : made.partitions) p.nodes = renamed(p.nodes);
  for (SwitchSpec& s : made.switches) s.nodes = renamed(s.nodes);
  return made;
}

/// "2x8 a100" -> machine(name, 2, 8, "a100") with nodes NAME1, NAME2.
ClusterSpec short_cluster(const std::string& name, const py::handle& value) {
  constexpr const char* kAccepted = "'NODESxGPUS TYPE' such as '1x8 a100', or '4x64' without GPUs";
  const std::string text = py::str(value);
  const char* const end = text.data() + text.size();
  int nodes = 0;
  int units = 0;
  const auto first = std::from_chars(text.data(), end, nodes);
  const bool cross = first.ec == std::errc{} && first.ptr != end && *first.ptr == 'x';
  const auto second = std::from_chars(cross ? first.ptr + 1 : end, end, units);
  if (!cross || second.ec != std::errc{} || nodes < 1 || units < 1) {
    bad_value(name, value, kAccepted);
  }
  std::string type(second.ptr, end);
  type.erase(0, std::min(type.find_first_not_of(' '), type.size()));
  if (type.find_first_of(" :,") != std::string::npos) bad_value(name, value, kAccepted);
  if (!type.empty() && *second.ptr != ' ') bad_value(name, value, kAccepted);
  const ClusterSpec made = machine(name, nodes, units, type.empty() ? "-" : type);
  return cluster_like(made, name, static_cast<std::size_t>(nodes));
}

std::vector<std::string> cluster_names(const FederationSpec& spec) {
  std::vector<std::string> names;
  for (const ClusterSpec& c : spec.clusters) names.push_back(c.name);
  return names;
}

const ClusterSpec& find_cluster(const FederationSpec& spec, const std::string& name,
                                const std::string& field) {
  for (const ClusterSpec& c : spec.clusters) {
    if (c.name == name) return c;
  }
  const std::vector<std::string> names = cluster_names(spec);
  bad_value(field, py::str(name), "a cluster of this federation" + did_you_mean(name, names));
}

py::dict node_dict(const NodeSpec& n) {
  py::dict gres;
  for (const GresSpec& g : n.gres) {
    gres[py::str(g.type.empty() ? g.name : g.name + ":" + g.type)] = g.count;
  }
  py::dict d;
  d["cpus"] = n.cpus;
  d["sockets"] = n.sockets;
  d["cores_per_socket"] = n.cores_per_socket;
  d["threads_per_core"] = n.threads_per_core;
  d["memory_mib"] = n.memory_mib;
  d["weight"] = n.weight;
  d["features"] = n.features;
  d["gres"] = gres;
  d["gpus"] = n.gpus.size();
  d["state"] = n.state;
  return d;
}

py::dict inventory(const ClusterSpec& c) {
  py::dict nodes;
  for (const NodeSpec& n : c.nodes) nodes[py::str(n.name)] = node_dict(n);
  py::dict partitions;
  for (const PartitionSpec& p : c.partitions) {
    py::dict d;
    d["nodes_n"] = p.nodes.size();
    d["max_time_s"] = p.max_time_s == kUnlimited ? py::none() : py::object(py::int_(p.max_time_s));
    d["default"] = p.is_default;
    d["priority_tier"] = p.priority_tier;
    partitions[py::str(p.name)] = d;
  }
  py::dict d;
  d["cluster"] = c.name;
  d["nodes_n"] = c.nodes.size();
  d["nodes"] = nodes;
  d["partitions"] = partitions;
  return d;
}

}  // namespace

FederationSpec federation_of(const py::kwargs& clusters) {
  FederationSpec spec;
  for (const auto& [key, value] : clusters) {
    const std::string name = key.cast<std::string>();
    if (py::isinstance<ClusterSpec>(value)) {
      spec.clusters.push_back(value.cast<ClusterSpec>());
      spec.clusters.back().name = name;
    } else {
      spec.clusters.push_back(short_cluster(name, value));
    }
  }
  if (spec.clusters.empty())
    throw py::type_error("Federation.of() needs at least one NAME=CLUSTER");
  spec.federated = spec.clusters.size() > 1;
  return spec;
}

FederationSpec with_cluster(const FederationSpec& spec, const py::object& cluster,
                            const py::object& like, const py::object& nodes) {
  FederationSpec out = spec;
  if (py::isinstance<ClusterSpec>(cluster)) {
    if (!like.is_none() || !nodes.is_none()) {
      throw py::type_error("with_cluster(): like= and nodes= go with a name, not a ClusterSpec");
    }
    out = spec.with_cluster(cluster.cast<ClusterSpec>());
  } else {
    if (like.is_none()) throw py::type_error("with_cluster(): a new name needs like=CLUSTER");
    const ClusterSpec& model = find_cluster(spec, py::str(like), "with_cluster(like)");
    const std::int64_t count = nodes.is_none() ? static_cast<std::int64_t>(model.nodes.size())
                                               : nodes.cast<std::int64_t>();
    if (count < 1 || model.nodes.empty()) bad_value("with_cluster(nodes)", nodes, "at least 1");
    out = spec.with_cluster(cluster_like(model, py::str(cluster), static_cast<std::size_t>(count)));
  }
  out.federated = true;
  return out;
}

FederationSpec with_options(const FederationSpec& spec, const py::args& cluster,
                            const py::kwargs& options) {
  if (cluster.size() > 1) throw py::type_error("with_options() takes one cluster name or none");
  const bool all = cluster.empty() || cluster[0].is_none();
  if (!all) find_cluster(spec, py::str(cluster[0]), "with_options(cluster)");
  FederationSpec out = spec;
  for (ClusterSpec& c : out.clusters) {
    if (!all && c.name != std::string(py::str(cluster[0]))) continue;
    for (const auto& [key, value] : options) c.options[py::str(key)] = py::str(value);
  }
  return out;
}

std::size_t gpus_n(const FederationSpec& spec) {
  std::size_t n = 0;
  for (const ClusterSpec& c : spec.clusters) {
    for (const NodeSpec& node : c.nodes) n += node.gpus.size();
  }
  return n;
}

std::string federation_html(const FederationSpec& spec) {
  const py::object escape = py::module_::import("html").attr("escape");
  std::string out =
      "<table><tr><th>cluster</th><th>nodes</th><th>CPUs</th><th>GPUs</th>"
      "<th>partitions</th></tr>";
  for (const ClusterSpec& c : spec.clusters) {
    std::int64_t cpus = 0;
    std::map<std::string, int> gpus;
    for (const NodeSpec& n : c.nodes) {
      cpus += n.cpus;
      for (const GpuDeviceSpec& g : n.gpus) ++gpus[g.type.empty() ? "gpu" : g.type];
    }
    std::string gpu_text;
    for (const auto& [type, count] : gpus) {
      gpu_text += (gpu_text.empty() ? "" : ", ") + std::to_string(count) + " " + type;
    }
    std::string partitions;
    for (const PartitionSpec& p : c.partitions) {
      partitions += (partitions.empty() ? "" : ", ") + p.name;
    }
    const auto cell_of = [&escape](const std::string& text) {
      return "<td>" + escape(text).cast<std::string>() + "</td>";
    };
    out += "<tr>" + cell_of(c.name) + cell_of(std::to_string(c.nodes.size())) +
           cell_of(std::to_string(cpus)) + cell_of(gpu_text) + cell_of(partitions) + "</tr>";
  }
  return out + "</table>";
}

ClusterSpec machine_spec(const std::string& name, int nodes, int units,
                         const py::object& gpu_type) {
  return machine(name, nodes, units, gpu_type.is_none() ? "-" : gpu_type.cast<std::string>());
}

py::tuple check_config(const py::object& folder) {
  const auto path = folder.cast<std::filesystem::path>();
  ConfigResult read;
  {
    const py::gil_scoped_release released;
    read = read_config_folder(path);
  }
  return py::make_tuple(inventory(read.cluster), py::cast(read.diagnostics));
}

SpecPtr to_spec(const py::object& value) {
  if (py::isinstance<FederationSpec>(value)) return value.cast<SpecPtr>();
  if (py::isinstance<RecordedScenario>(value)) {
    return std::make_shared<FederationSpec>(value.cast<const RecordedScenario&>().spec);
  }
  if (py::isinstance<ClusterSpec>(value)) {
    auto spec = std::make_shared<FederationSpec>();
    spec->clusters.push_back(value.cast<ClusterSpec>());
    return spec;
  }
  throw py::type_error("expected a FederationSpec, a ClusterSpec or a RecordedScenario, not a " +
                       py::type::of(value).attr("__name__").cast<std::string>());
}

}  // namespace fedsim::python
