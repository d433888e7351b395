// Requests resolved against a partition: see demand.hpp. Rules: slurm.conf(5), sbatch(1); 3.1 of
// the scheduling page "cons_tres" for node, task and CPU counts.
#include "request/demand.hpp"

#include <algorithm>

#include "fedsim/slurm_conf.hpp"

namespace fedsim {
namespace {

std::uint32_t sum(const std::vector<GpuDemand>& list) {
  std::uint32_t n = 0;
  for (const GpuDemand& g : list) n += g.count;
  return n;
}

std::uint32_t at_least_one(int v) {
  return v > 0 ? static_cast<std::uint32_t>(v) : 1U;
}

/// GPU entries of a list; `refusal` is set for names and types the cluster does not have.
std::vector<GpuDemand> gpu_list(const ClusterModel& cluster, const std::vector<GresRequest>& list,
                                Reason& refusal) {
  std::vector<GpuDemand> out;
  for (const GresRequest& g : list) {
    if (g.name != "gpu") {
      refusal = Reason::invalid_gres;
      continue;
    }
    if (cluster.gpus_n == 0) refusal = Reason::invalid_gres;
    const auto type = std::find(cluster.gpu_types.begin(), cluster.gpu_types.end(), g.type);
    if (type == cluster.gpu_types.end()) {
      // An unknown type passes the syntax check; no configured node can ever satisfy it.
      if (refusal == Reason::none) refusal = Reason::node_config_unavailable;
      continue;
    }
    if (g.count > 0) {
      out.push_back({GpuTypeId{static_cast<std::size_t>(type - cluster.gpu_types.begin())},
                     static_cast<std::uint32_t>(g.count)});
    }
  }
  return out;
}

void resolve_counts(const ResourceRequest& r, const PartitionModel& partition, Demand& d) {
  d.cpus_per_task = at_least_one(r.cpus_per_task);
  d.tasks_per_node = r.ntasks_per_node > 0 ? static_cast<std::uint32_t>(r.ntasks_per_node) : 0;
  d.nodes_given = r.nodes_min > 0;
  d.min_nodes = at_least_one(r.nodes_min);
  d.max_nodes = r.nodes_max > 0 ? static_cast<std::uint32_t>(r.nodes_max) : UINT32_MAX;
  if (!d.nodes_given && d.tasks_per_node > 0 && r.ntasks > 0) {
    d.min_nodes = (static_cast<std::uint32_t>(r.ntasks) + d.tasks_per_node - 1) / d.tasks_per_node;
  }
  d.ntasks = r.ntasks > 0 ? static_cast<std::uint32_t>(r.ntasks)
                          : d.min_nodes * std::max(1U, d.tasks_per_node);
  if (r.ntasks > 0 && d.nodes_given) {
    d.max_nodes = std::min(d.max_nodes, d.ntasks);
    d.min_nodes = std::min(d.min_nodes, d.ntasks);
  }
  const std::int64_t part_min = partition.spec.min_nodes;
  if (part_min > d.min_nodes) d.min_nodes = static_cast<std::uint32_t>(part_min);
  d.max_nodes = std::max(d.max_nodes, d.min_nodes);
  // A range tries its upper end first unless --use-min-nodes (semantics 3.1 point 6).
  const bool range = r.nodes_max > 0 && !r.use_min_nodes;
  d.req_nodes = range ? d.max_nodes : d.min_nodes;
  d.min_cpus = r.overcommit ? d.min_nodes : d.ntasks * d.cpus_per_task;
}

void resolve_gpu_tasks(const ResourceRequest& r, Demand& d) {
  const std::uint32_t per_task = d.gpus_per_task_n();
  const std::uint32_t per_job = d.gpus_per_job_n();
  if (per_task > 0 && per_job > 0 && r.ntasks == 0) d.ntasks = per_job / per_task;
  if (r.ntasks_per_gpu > 0 && per_job > 0) {
    d.ntasks = per_job * static_cast<std::uint32_t>(r.ntasks_per_gpu);
  }
  const std::uint32_t per_node = d.gpus_per_node_n();
  if (per_job > 0 && per_node > 0 && per_job % per_node == 0) {
    d.min_nodes = d.max_nodes = d.req_nodes = per_job / per_node;
    d.gpus_per_job.clear();
  }
  d.min_cpus = std::max(d.min_cpus, d.ntasks * d.cpus_per_task);
}

void resolve_memory(const ClusterModel& cluster, const PartitionSpec& part,
                    const ResourceRequest& r, Demand& d) {
  const auto pick = [&](MemoryRule rule, std::int64_t mib) {
    d.memory_rule = mib == 0 && rule == MemoryRule::per_node ? MemoryRule::whole_node : rule;
    d.memory_mib = mib;
  };
  if (!cluster.consumes_memory) return;
  if (r.mem_per_node_mib != kUnset) return pick(MemoryRule::per_node, r.mem_per_node_mib);
  if (r.mem_per_cpu_mib > 0) return pick(MemoryRule::per_cpu, r.mem_per_cpu_mib);
  if (r.mem_per_gpu_mib > 0) return pick(MemoryRule::per_gpu, r.mem_per_gpu_mib);
  if (d.has_gpus && part.def_mem_per_gpu_mib > 0) {
    return pick(MemoryRule::per_gpu, part.def_mem_per_gpu_mib);
  }
  if (d.has_gpus && cluster.def_mem_per_gpu_mib > 0) {
    return pick(MemoryRule::per_gpu, cluster.def_mem_per_gpu_mib);
  }
  if (part.def_mem_per_node_mib > 0) return pick(MemoryRule::per_node, part.def_mem_per_node_mib);
  if (part.def_mem_per_cpu_mib > 0) return pick(MemoryRule::per_cpu, part.def_mem_per_cpu_mib);
  if (cluster.def_mem_per_node_mib > 0) {
    return pick(MemoryRule::per_node, cluster.def_mem_per_node_mib);
  }
  if (cluster.def_mem_per_cpu_mib > 0)
    return pick(MemoryRule::per_cpu, cluster.def_mem_per_cpu_mib);
  pick(MemoryRule::per_node, 0);  // nothing said: all memory of the node
}

/// --mem-per-cpu above MaxMemPerCPU asks for more CPUs so that the per-CPU value fits.
void apply_max_memory(const ClusterModel& cluster, const PartitionSpec& part, Demand& d) {
  const std::int64_t max_cpu =
      part.max_mem_per_cpu_mib > 0 ? part.max_mem_per_cpu_mib : cluster.max_mem_per_cpu_mib;
  if (d.memory_rule != MemoryRule::per_cpu || max_cpu <= 0 || d.memory_mib <= max_cpu) return;
  const auto factor = static_cast<std::uint32_t>((d.memory_mib + max_cpu - 1) / max_cpu);
  d.memory_mib = (d.memory_mib + factor - 1) / factor;
  d.cpus_per_task *= factor;
  d.min_cpus = std::max(d.min_cpus, d.ntasks * d.cpus_per_task);
}

void resolve_features(const ClusterModel& cluster, const std::string& text, Demand& d) {
  for (std::size_t from = 0; from < text.size();) {
    std::size_t to = text.find_first_of("&,", from);
    if (to == std::string::npos) to = text.size();
    const std::string name = text.substr(from, to - from);
    from = to + 1;
    if (name.empty()) continue;
    const auto it = std::find(cluster.feature_names.begin(), cluster.feature_names.end(), name);
    if (it == cluster.feature_names.end()) {
      d.refusal = Reason::invalid_feature;
      continue;
    }
    d.features.push_back(static_cast<std::uint32_t>(it - cluster.feature_names.begin()));
  }
  std::sort(d.features.begin(), d.features.end());
}

Bitmap node_set(const ClusterModel& cluster, const std::string& hosts, Reason& refusal) {
  Bitmap set(cluster.bitmap_words(), 0);
  for (const std::string& name : expand_hostlist(hosts)) {
    const auto it = std::find_if(cluster.nodes.begin(), cluster.nodes.end(),
                                 [&](const NodeModel& n) { return n.name == name; });
    if (it == cluster.nodes.end()) {
      refusal = Reason::invalid_node_name;
      continue;
    }
    set_bit(set, static_cast<std::size_t>(it - cluster.nodes.begin()));
  }
  return set;
}

}  // namespace

std::uint32_t Demand::gpus_per_node_n() const {
  return sum(gpus_per_node);
}
std::uint32_t Demand::gpus_per_job_n() const {
  return sum(gpus_per_job);
}
std::uint32_t Demand::gpus_per_task_n() const {
  return sum(gpus_per_task);
}

Demand resolve_demand(const ClusterModel& cluster, const PartitionModel& partition,
                      const ResourceRequest& r) {
  Demand d;
  resolve_counts(r, partition, d);
  d.gpus_per_node = gpu_list(cluster, r.gres_per_node, d.refusal);
  d.gpus_per_job = gpu_list(cluster, r.gres_per_job, d.refusal);
  d.gpus_per_task = gpu_list(cluster, r.gres_per_task, d.refusal);
  if (!r.gres_per_socket.empty()) {
    // Per-socket requests count sockets; without socket places the per-node product is the same.
    std::vector<GpuDemand> per_socket = gpu_list(cluster, r.gres_per_socket, d.refusal);
    for (GpuDemand g : per_socket) {
      g.count *= at_least_one(r.sockets_per_node);
      d.gpus_per_node.push_back(g);
    }
  }
  d.has_gpus = !(d.gpus_per_node.empty() && d.gpus_per_job.empty() && d.gpus_per_task.empty());
  resolve_gpu_tasks(r, d);
  d.cpus_per_gpu = r.cpus_per_gpu > 0 ? static_cast<std::uint32_t>(r.cpus_per_gpu) : 0;
  if (d.has_gpus && d.cpus_per_gpu == 0 && r.cpus_per_task == 0) {
    const std::int64_t def = partition.spec.def_cpu_per_gpu > 0 ? partition.spec.def_cpu_per_gpu
                                                                : cluster.def_cpu_per_gpu;
    if (def > 0) d.cpus_per_gpu = static_cast<std::uint32_t>(def);
  }
  d.whole_node =
      r.exclusive || cluster.linear || partition.spec.oversubscribe == OverSubscribe::exclusive;
  if (partition.spec.max_cpus_per_node > 0) {
    d.max_cpus_per_node = static_cast<std::uint32_t>(partition.spec.max_cpus_per_node);
  }
  resolve_memory(cluster, partition.spec, r, d);
  apply_max_memory(cluster, partition.spec, d);
  resolve_features(cluster, r.constraint, d);
  if (!r.nodelist.empty()) d.required = node_set(cluster, r.nodelist, d.refusal);
  if (!r.exclude.empty()) d.excluded = node_set(cluster, r.exclude, d.refusal);
  d.simple_units = d.cpus_per_task == 1 && !d.has_gpus && !d.whole_node && d.features.empty() &&
                   d.required.empty() && d.excluded.empty() && d.tasks_per_node == 0 &&
                   d.memory_rule == MemoryRule::none && d.max_cpus_per_node == UINT32_MAX &&
                   d.min_nodes <= d.min_cpus && d.max_nodes >= d.min_cpus;
  return d;
}

std::int64_t requested_gpus(const Demand& d) {
  if (d.gpus_per_job_n() > 0) return d.gpus_per_job_n();
  if (d.gpus_per_task_n() > 0) return std::int64_t{d.gpus_per_task_n()} * d.ntasks;
  return std::int64_t{d.gpus_per_node_n()} * d.min_nodes;
}

}  // namespace fedsim
