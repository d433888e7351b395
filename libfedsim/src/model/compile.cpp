// FederationSpec -> FederationModel: validation, slurmctld's node order, node classes, scheduler
// options.
#include <algorithm>
#include <map>

#include "base/bitmap.hpp"
#include "base/hostlist.hpp"
#include "base/mix.hpp"
#include "base/text.hpp"
#include "fedsim/model.hpp"
#include "model/hardware.hpp"
#include "model/options.hpp"

namespace fedsim {
namespace {

/// Device masks are 64-bit.
constexpr std::size_t kMaxGpusPerNode = 64;

bool node_usable(const NodeSpec& n) {
  const std::string state = to_upper(n.state);
  for (const char* bad : {"DOWN", "DRAIN", "FAIL", "FUTURE", "ERROR", "MAINT"}) {
    if (state.find(bad) != std::string::npos) return false;
  }
  return true;
}

class ClusterCompiler {
 public:
  ClusterCompiler(const ClusterSpec& spec, std::vector<Diagnostic>& found)
      : spec_(spec), found_(found) {}

  ClusterModel run() {
    out_.name = spec_.name;
    out_.release = spec_.release;
    out_.switches = spec_.switches;
    out_.cluster_features = spec_.features;
    read_cluster_options(spec_, out_, found_);
    compile_nodes();
    compile_partitions();
    out_.unit_nodes = !out_.consumes_memory && !out_.linear && out_.classes.size() == 1 &&
                      out_.classes.front().cpus == 1 && out_.gpus_n == 0;
    return std::move(out_);
  }

 private:
  void error(const char* code, std::string message, std::string hint) {
    found_.push_back({Severity::error, code, "", 0,
                      "cluster " + spec_.name + ": " + std::move(message), std::move(hint)});
  }

  std::uint32_t feature_id(const std::string& name) {
    const auto [it, added] =
        features_.emplace(name, static_cast<std::uint32_t>(out_.feature_names.size()));
    if (added) out_.feature_names.push_back(name);
    return it->second;
  }

  GpuTypeId gpu_type_id(const std::string& name) {
    const auto it = std::find(out_.gpu_types.begin(), out_.gpu_types.end(), name);
    const auto index = static_cast<std::size_t>(it - out_.gpu_types.begin());
    if (index == out_.gpu_types.size()) out_.gpu_types.push_back(name);
    return GpuTypeId{index};
  }

  NodeClass make_class(const NodeSpec& n) {
    NodeClass c;
    c.sockets = std::max(n.sockets, 1);
    c.cores_per_socket = std::max(n.cores_per_socket, 1);
    c.threads_per_core = std::max(n.threads_per_core, 1);
    c.cpus = std::max(n.cpus - n.core_spec_count * c.threads_per_core, 0);
    c.memory_mib = std::max<std::int64_t>(n.memory_mib - n.mem_spec_limit_mib, 0);
    c.weight = n.weight;
    for (const std::string& f : n.features) c.features.push_back(feature_id(f));
    std::sort(c.features.begin(), c.features.end());
    if (n.gpus.size() > kMaxGpusPerNode) {
      error("C106", "node " + n.name + " has " + std::to_string(n.gpus.size()) + " GPU devices",
            "fedsim models at most 64 a node; split the node or its MIG devices");
    }
    for (std::size_t i = 0; i < std::min(n.gpus.size(), kMaxGpusPerNode); ++i) {
      const GpuTypeId type = gpu_type_id(n.gpus[i].type);
      c.gpu_type_by_index.push_back(type);
      if (c.gpu_mask_by_type.size() <= type.index()) c.gpu_mask_by_type.resize(type.index() + 1, 0);
      c.gpu_mask_by_type[type.index()] |= std::uint64_t{1} << i;
      c.gpu_mask |= std::uint64_t{1} << i;
    }
    for (const GresSpec& g : n.gres) {
      if (g.name != "gpu") c.other_gres.push_back(g);
    }
    return c;
  }

  static std::uint64_t class_hash(const NodeClass& c) {
    std::uint64_t h = 1;
    for (const std::int64_t v :
         {std::int64_t{c.cpus}, std::int64_t{c.sockets}, std::int64_t{c.cores_per_socket},
          std::int64_t{c.threads_per_core}, c.memory_mib, std::int64_t{c.weight}}) {
      h = hash_combine(h, static_cast<std::uint64_t>(v));
    }
    for (const std::uint32_t f : c.features) h = hash_combine(h, f);
    for (const GpuTypeId t : c.gpu_type_by_index) h = hash_combine(h, t.index() + 1000);
    for (const GresSpec& g : c.other_gres) {
      h = hash_combine(hash_text(g.name + ":" + g.type, h), static_cast<std::uint64_t>(g.count));
    }
    return h;
  }

  void compile_nodes() {
    out_.gpu_types.push_back("");
    std::vector<const NodeSpec*> order;
    for (const NodeSpec& n : spec_.nodes) order.push_back(&n);
    // slurmctld sorts its node table by name, numbers by value (semantics 3.5 point 0).
    std::stable_sort(order.begin(), order.end(), [](const NodeSpec* a, const NodeSpec* b) {
      return natural_less(a->name, b->name);
    });
    std::map<std::uint64_t, std::uint32_t> classes;
    for (const NodeSpec* n : order) {
      NodeClass c = make_class(*n);
      const auto [it, added] =
          classes.emplace(class_hash(c), static_cast<std::uint32_t>(out_.classes.size()));
      out_.gpus_n += c.gpu_type_by_index.size();
      out_.cpus_n += c.cpus;
      if (added) out_.classes.push_back(std::move(c));
      if (!index_.emplace(n->name, out_.nodes.size()).second) {
        error("C107", "node " + n->name + " is defined twice", "remove one of the definitions");
      }
      out_.nodes.push_back({n->name, it->second, node_usable(*n), n->reason});
    }
    out_.hardware = std::make_shared<ClusterHardware>(hardware_of(spec_, order));
    for (const NodeHardware& n : out_.hardware->nodes) {
      if (fits_selection(n)) continue;
      error("C115", "node " + n.name + " has " + std::to_string(n.cores()) + " cores",
            "fedsim models at most 512 cores a node; split the node");
      break;
    }
    if (out_.nodes.empty()) error("C108", "no nodes", "give at least one NodeName line");
  }

  void compile_partitions() {
    for (const PartitionSpec& p : spec_.partitions) {
      PartitionModel m;
      m.spec = p;
      m.nodes.assign(out_.bitmap_words(), 0);
      for (const std::string& name : p.nodes) {
        const auto it = index_.find(name);
        if (it == index_.end()) {
          error("C109", "partition " + p.name + " names the unknown node " + name,
                "define the node or correct Nodes=");
          continue;
        }
        if (!test_bit(m.nodes, it->second)) {
          ++m.nodes_n;
          m.cpus_n += out_.node_class(NodeId{it->second}).cpus;
        }
        set_bit(m.nodes, it->second);
      }
      const std::string state = to_upper(p.state);
      m.up = state != "DOWN" && state != "INACTIVE";
      m.accepts = state != "INACTIVE" && state != "DRAIN";
      if (p.is_default) out_.default_partition = PartitionId{out_.partitions.size()};
      out_.partitions.push_back(std::move(m));
    }
    if (out_.partitions.empty())
      error("C110", "no partitions", "give at least one PartitionName line");
  }

  const ClusterSpec& spec_;
  std::vector<Diagnostic>& found_;
  ClusterModel out_;
  std::map<std::string, std::uint32_t> features_;
  std::map<std::string, std::size_t> index_;
};

std::uint64_t hash_spec(const FederationSpec& spec) {
  std::uint64_t h = hash_text(spec.name, spec.federated ? 1 : 0);
  for (const Duration d : {spec.latency.sibling_message, spec.latency.lock_round_trip,
                           spec.latency.client_command, spec.latency.launch, spec.latency.epilog}) {
    h = hash_combine(h, static_cast<std::uint64_t>(d.count()));
  }
  for (const ClusterSpec& c : spec.clusters) {
    h = hash_text(c.name, h);
    h = hash_combine(h, static_cast<std::uint64_t>(c.release.year * 100 + c.release.month));
    for (const NodeSpec& n : c.nodes) {
      h = hash_text(n.name, h);
      for (const std::int64_t v : {std::int64_t{n.cpus}, n.memory_mib, std::int64_t{n.weight},
                                   std::int64_t{n.threads_per_core}, std::int64_t{n.sockets}}) {
        h = hash_combine(h, static_cast<std::uint64_t>(v));
      }
      for (const GpuDeviceSpec& g : n.gpus) h = hash_text(g.type, h + 1);
      for (const std::string& f : n.features) h = hash_text(f, h);
      h = hash_text(n.state, h);
    }
    for (const PartitionSpec& p : c.partitions) {
      h = hash_text(p.name + "/" + p.state, h);
      for (const std::string& n : p.nodes) h = hash_text(n, h);
      for (const std::int64_t v : {p.max_time_s, p.default_time_s, std::int64_t{p.priority_tier},
                                   p.min_nodes, p.max_nodes, std::int64_t{p.is_default}}) {
        h = hash_combine(h, static_cast<std::uint64_t>(v));
      }
    }
    for (const auto& [key, value] : c.options) h = hash_text(value, hash_text(key, h));
    for (const std::string& f : c.features) h = hash_text(f, h);
  }
  return h;
}

}  // namespace

PartitionId ClusterModel::find_partition(const std::string& partition) const {
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    if (partitions[p].spec.name == partition) return PartitionId{p};
  }
  return {};
}

ClusterId FederationModel::find_cluster(const std::string& cluster) const {
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    if (clusters[c].name == cluster) return ClusterId{c};
  }
  return {};
}

std::size_t FederationModel::gpus_n() const {
  std::size_t n = 0;
  for (const ClusterModel& c : clusters) n += c.gpus_n;
  return n;
}

std::shared_ptr<const FederationModel> compile(const FederationSpec& spec) {
  std::vector<Diagnostic> found = spec.warnings;
  auto model = std::make_shared<FederationModel>();
  model->name = spec.name;
  model->federated = spec.federated;
  model->latency = spec.latency;
  if (spec.clusters.empty()) {
    found.push_back(
        {Severity::error, "C111", "", 0, "a federation without clusters", "add a cluster"});
  }
  if (spec.clusters.size() > kMaxFederationClusters) {
    found.push_back({Severity::error, "C040", "", 0, "Too many clusters in federation",
                     "Slurm allows 63, this has " + std::to_string(spec.clusters.size())});
    throw InputError(std::move(found));
  }
  for (const ClusterSpec& c : spec.clusters) {
    if (model->find_cluster(c.name).valid()) {
      found.push_back({Severity::error, "C112", "", 0, "two clusters are called " + c.name,
                       "cluster names must differ"});
    }
    model->clusters.push_back(ClusterCompiler(c, found).run());
  }
  const auto is_error = [](const Diagnostic& d) { return d.severity == Severity::error; };
  if (std::any_of(found.begin(), found.end(), is_error)) throw InputError(std::move(found));
  model->warnings = std::move(found);
  model->hash = hash_spec(spec);
  model->spec = std::make_shared<const FederationSpec>(spec);
  return model;
}

}  // namespace fedsim
