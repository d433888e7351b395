// Requests resolved against a partition: see demand.hpp.
#include "submit/demand.hpp"

#include <algorithm>

namespace fedsim {
namespace {

std::uint32_t narrow(std::int64_t n) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(n, 0, UINT32_MAX));
}

/// Least devices of one kind on each node of the job.
std::int64_t devices_on_a_node(const DeviceAsk& d) {
  const std::int64_t some = d.per_job > 0 ? 1 : 0;
  return std::max({d.per_node, d.per_socket, d.per_task, some});
}

void set_gpu_bounds(const ClusterModel& cluster, Demand& d) {
  for (const DeviceAsk& ask : d.request.ask.devices) {
    if (ask.name != "gpu") continue;
    d.job_gpus += ask.per_job;
    const auto type = std::find(cluster.gpu_types.begin(), cluster.gpu_types.end(), ask.type);
    // A type that no node has leaves no node that fits; nothing need be tested then.
    if (type == cluster.gpu_types.end()) continue;
    const std::int64_t n = devices_on_a_node(ask);
    if (n > 0)
      d.node_gpus.push_back(
          {GpuTypeId{static_cast<std::size_t>(type - cluster.gpu_types.begin())}, narrow(n)});
  }
}

void set_node_bounds(const ClusterModel& cluster, Demand& d) {
  const JobAsk& ask = d.request.ask;
  const SelectRules& rules = d.request.rules;
  const bool plain = !ask.overcommit && rules.unit != SelectRules::Unit::socket &&
                     std::all_of(cluster.classes.begin(), cluster.classes.end(),
                                 [](const NodeClass& c) { return c.threads_per_core == 1; });
  if (plain)
    d.node_cpus = narrow(std::max({ask.min_cpus_per_node, ask.cpus_per_task, std::int64_t{1}}));
  d.shares_cores = rules.shares_cores;
  d.idle_nodes = ask.whole_nodes || rules.exclusive;
  if (rules.memory) {
    d.node_memory_mib = ask.least_memory_mib();
    d.all_memory = d.node_memory_mib == 0;
  }
  set_gpu_bounds(cluster, d);
}

/// As many CPUs as nodes at the least, and nothing beside them: only free nodes matter.
bool is_simple(const Demand& d) {
  const JobAsk& a = d.request.ask;
  return a.cpus_per_task == 1 && a.devices.empty() && !d.idle_nodes && !d.shares_cores &&
         a.required.empty() && d.request.kinds.empty() && d.request.counted.empty() &&
         a.ntasks_per_node == 0 && !a.overcommit && !a.contiguous && !a.spread &&
         d.node_cpus == 1 && !d.request.rules.memory && a.least_nodes() <= a.min_cpus &&
         a.most_nodes() >= a.min_cpus;
}

}  // namespace

Reason refusal_reason(std::string text) {
  for (const char* prefix : {"sbatch: error: ", "sbatch: fatal: "})
    if (text.starts_with(prefix)) text.erase(0, std::string(prefix).size());
  return find_reason(text).value_or(Reason::contradicting_options);
}

bool describe(const ControllerView& view, const ResourceRequest& request,
              std::vector<std::string> more, JobDescription& job, Reason& refusal) {
  std::vector<std::string> argv = sbatch_options(request);
  for (std::string& word : more) argv.push_back(std::move(word));
  SbatchOutcome sent = run_sbatch(argv, view.client);
  if (!sent.sent) {
    refusal =
        sent.lines.empty() ? Reason::contradicting_options : refusal_reason(sent.lines.back());
    return false;
  }
  job = std::move(sent.job);
  return true;
}

Demand resolve_demand(const ControllerView& view, const ClusterModel& cluster,
                      PartitionId partition, const ResourceRequest& request) {
  Demand d;
  const StaticPartition& part = view.partitions[partition.index()];
  Submission s;
  if (!describe(view, request, {"--partition=" + part.spec->name}, s.job, d.refusal)) return d;
  const auto refused = create_job(view, s);
  if (refused) d.refusal = refusal_reason(refused->text);
  if (!s.memory_given) set_default_memory(view, s.job, part);
  s.job.time_limit_min = kUnset;  // the limit of each job is looked at later
  const std::string limit = partition_limit(view, s, part);
  if (limit != "PartitionDown" && limit != "PartitionInactive")
    d.limit = find_reason(limit).value_or(Reason::none);
  set_gpu_defaults(s, part);
  FitRequest fit = fit_request(view, s, part);
  d.request = std::move(fit.request);
  const JobAsk& ask = d.request.ask;
  d.min_nodes = narrow(ask.min_nodes);
  d.min_cpus = narrow(ask.min_cpus);
  const std::int64_t per_node = std::max<std::int64_t>(ask.ntasks_per_node, 1);
  d.ntasks = narrow(ask.num_tasks > 0 ? ask.num_tasks : ask.min_nodes * per_node);
  for (const GresAsk& g : s.gres.asks) d.gpus += g.name == "gpu" ? g.total : 0;
  d.switches = narrow(s.job.switches);
  d.switch_wait_s =
      std::min(s.job.switch_wait_s == kUnset ? view.max_switch_wait_s : s.job.switch_wait_s,
               view.max_switch_wait_s);
  set_node_bounds(cluster, d);
  if (!ask.required.empty()) {
    d.required.assign(cluster.bitmap_words(), 0);
    for (const std::uint32_t n : ask.required) set_bit(d.required, n);
  }
  d.simple_units = is_simple(d);
  d.fits_idle = d.refusal == Reason::none && fit.fits_configuration &&
                nodes_when_idle(*view.hardware, d.request).has_value();
  return d;
}

}  // namespace fedsim
