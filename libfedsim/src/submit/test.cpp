// Limits of partitions and the node test of a job that has its record (22.05 job_limits_check,
// _select_nodes_parts, select_nodes).
#include <algorithm>

#include "base/text.hpp"
#include "submit/submission.hpp"

namespace fedsim {
namespace {

std::int64_t per_cpu_limit(const ControllerView& view, const StaticPartition& part) {
  if (part.spec->max_mem_per_cpu_mib > 0) return part.spec->max_mem_per_cpu_mib;
  if (part.spec->max_mem_per_node_mib > 0) return 0;
  return parse_int(view.option("MaxMemPerCPU")).value_or(0);
}

std::int64_t per_node_limit(const ControllerView& view, const StaticPartition& part) {
  if (part.spec->max_mem_per_node_mib > 0) return part.spec->max_mem_per_node_mib;
  if (part.spec->max_mem_per_cpu_mib > 0) return 0;
  return parse_int(view.option("MaxMemPerNode")).value_or(0);
}

std::int64_t first_node_memory(const ControllerView& view, const StaticPartition& part) {
  return part.nodes.empty() ? 0 : view.nodes[part.nodes.front()].memory_mib;
}

/// CPUs that the job is known to take on each node.
std::int64_t cpus_on_node(const ControllerView& view, const JobDescription& j,
                          const StaticPartition& part) {
  const bool whole =
      part.spec->oversubscribe == OverSubscribe::exclusive || j.shared == SharedNodes::none;
  if (whole) {
    return part.nodes.empty() ? 0 : view.nodes[part.nodes.front()].cpus;
  }
  std::int64_t cpus = std::max<std::int64_t>(j.ntasks_per_node, 1);
  if (j.num_tasks > 0 && j.max_nodes > 0)
    cpus = std::max(cpus, (j.num_tasks + j.max_nodes - 1) / j.max_nodes);
  if (j.cpus_per_task > 0) cpus *= j.cpus_per_task;
  return std::max(cpus, j.min_cpus_per_node);
}

}  // namespace

std::optional<std::string> partition_access(const ControllerView& view, const Submission& s,
                                            const StaticPartition& part, bool with_nodes) {
  const PartitionSpec& spec = *part.spec;
  const JobDescription& job = s.job;
  const bool up = part.schedules();
  const bool per_node = spec.max_cpus_per_node > 0;
  if (up && (job.min_cpus > part.cpus ||
             (per_node && job.min_cpus > spec.max_cpus_per_node * part.nodes_n()))) {
    return "More processors requested than permitted";
  }
  if (up && job.min_nodes > part.nodes_n()) return kNodeCount;
  if (with_nodes) {
    for (const std::size_t n : s.required) {
      if (std::find(part.nodes.begin(), part.nodes.end(), n) == part.nodes.end())
        return "Requested nodes not in this partition";
    }
  }
  if (up && job.min_nodes != kUnset && job.min_nodes < spec.min_nodes) return kNodeCount;
  if (up && spec.max_nodes >= 0 && job.max_nodes != kUnset && job.max_nodes > spec.max_nodes)
    return kNodeCount;
  if (up && job.time_limit_min != kUnset && part.max_time_min >= 0 &&
      (job.time_limit_min == kUnlimited || job.time_limit_min > part.max_time_min)) {
    return kTimeLimit;
  }
  if (view.enforce == EnforceLimits::no) return std::nullopt;
  if (!part.allowed_accounts.empty() && part.allowed_accounts.count(s.account) == 0)
    return "Invalid account or account/partition combination specified";
  return std::nullopt;
}

bool apply_max_memory(const ControllerView& view, JobDescription& j, const StaticPartition& part) {
  const std::int64_t per_cpu = per_cpu_limit(view, part);
  const std::int64_t per_node = per_node_limit(view, part);
  if (per_cpu <= 0 && per_node <= 0) return true;
  if (j.memory_per_cpu && per_cpu > 0) {
    if (j.memory_mib <= per_cpu) return true;
    const std::int64_t ratio = (j.memory_mib + per_cpu - 1) / per_cpu;
    j.cpus_per_task = std::max<std::int64_t>(j.cpus_per_task, 1) * ratio;
    j.memory_mib = (j.memory_mib + ratio - 1) / ratio;
    if (j.num_tasks > 0)
      j.min_cpus = j.num_tasks * j.cpus_per_task;
    else
      j.min_cpus_per_node = j.cpus_per_task;
    return true;
  }
  std::int64_t memory = j.memory_mib == 0 ? first_node_memory(view, part) : j.memory_mib;
  if (!j.memory_per_cpu && per_node > 0) return memory <= per_node;
  std::int64_t cpus = cpus_on_node(view, j, part);
  if (j.memory_per_cpu) return memory * cpus <= per_node;
  const std::int64_t needed = (memory + per_cpu - 1) / per_cpu;
  if (j.min_cpus_per_node < needed) {
    j.min_cpus_per_node = needed;
    cpus = std::max(cpus, needed);
    if (j.ntasks_per_node > 0)
      j.cpus_per_task = (needed + j.ntasks_per_node - 1) / j.ntasks_per_node;
  }
  return memory <= per_cpu * cpus;
}

std::string partition_limit(const ControllerView& view, Submission& s,
                            const StaticPartition& part) {
  if (const auto problem = partition_access(view, s, part, false)) {
    if (*problem == kTimeLimit) return "PartitionTimeLimit";
    return *problem == kNodeCount ? "PartitionNodeLimit" : "PartitionConfig";
  }
  if (part.spec->state == "DOWN") return "PartitionDown";
  if (part.spec->state == "INACTIVE") return "PartitionInactive";
  if (!apply_max_memory(view, s.job, part)) return "MaxMemPerLimit";
  return "";
}

namespace {

/// What select_nodes() says of one partition.
enum class Answer : std::uint8_t { waits, not_in_partition, never };

class NodeTest {
 public:
  NodeTest(const ControllerView& view, Submission& s) : view_(view), s_(s), original_(s.job) {}

  std::optional<Refusal> run() {
    std::vector<const StaticPartition*> order = s_.partitions;
    std::stable_sort(order.begin(), order.end(),
                     [](const StaticPartition* a, const StaticPartition* b) {
                       return a->spec->priority_tier > b->spec->priority_tier;
                     });
    const Answer answer = order.size() == 1 ? one(*order.front()) : several(order);
    if (answer == Answer::never)
      return Refusal{"Requested node configuration is not available", detail_};
    if (answer == Answer::not_in_partition && view_.enforce != EnforceLimits::no)
      return Refusal{"Requested partition configuration not available now", ""};
    wait(order);
    return std::nullopt;
  }

 private:
  /// Limits of the partition, with the memory and CPUs that it makes of the request.
  std::string limit(const StaticPartition& part) {
    s_.shown = &part;
    const JobDescription before = s_.job;
    s_.job = original_;
    if (!s_.memory_given) set_default_memory(view_, s_.job, part);
    std::string reason = partition_limit(view_, s_, part);
    if (!reason.empty()) s_.job = before;
    return reason;
  }

  Answer select(const StaticPartition& part) {
    if (!part.allowed_accounts.empty() && part.allowed_accounts.count(s_.account) == 0) {
      const std::vector<std::string> allowed(part.allowed_accounts.begin(),
                                             part.allowed_accounts.end());
      not_permitted_ = "Job's_account_not_permitted_to_use_this_partition_(" + part.spec->name +
                       "_allows_" + join(allowed, ",") + "_not_" + s_.account + ")";
      return Answer::not_in_partition;
    }
    if (s_.held) return Answer::waits;
    set_gpu_defaults(s_, part);
    const FitRequest fit = fit_request(view_, s_, part);
    detail_ = fit.detail;
    if (!fit.fits_configuration) return Answer::never;
    const auto nodes = nodes_when_idle(*view_.hardware, fit.request);
    if (!nodes) return Answer::never;
    s_.nodes_n = static_cast<std::int64_t>(nodes->size());
    return Answer::waits;
  }

  /// 24.11 refuses more nodes than the partition has; 22.05 and 26.05 let it wait (recording 02a).
  bool wants_too_many(const StaticPartition& part) const {
    const SlurmRelease r = view_.cluster.release;
    const bool strict = r >= SlurmRelease{24, 11} && r < SlurmRelease{26, 5};
    return strict && !s_.held && original_.min_nodes > part.nodes_n();
  }

  Answer one(const StaticPartition& part) {
    if (wants_too_many(part)) return Answer::never;
    reason_ = limit(part);
    if (reason_.empty() || reason_ == "PartitionDown") return select(part);
    return Answer::not_in_partition;
  }

  Answer several(const std::vector<const StaticPartition*>& order) {
    std::optional<Answer> best;
    Answer last = Answer::not_in_partition;
    for (const StaticPartition* part : order) {
      if (wants_too_many(*part)) {
        last = Answer::never;
        continue;
      }
      reason_ = limit(*part);
      if (!reason_.empty() && view_.enforce == EnforceLimits::any) continue;
      if (!reason_.empty() && reason_ != "PartitionDown" && view_.enforce == EnforceLimits::all)
        return Answer::not_in_partition;
      last = select(*part);
      if (last == Answer::not_in_partition && view_.enforce == EnforceLimits::all) return last;
      if (last != Answer::waits) continue;
      best = last;
      if (view_.enforce != EnforceLimits::all) break;
    }
    return best.value_or(last);
  }

  /// The reason to wait, and what the scheduler's next pass over the partitions leaves behind.
  void wait(const std::vector<const StaticPartition*>& order) {
    if (!s_.held) {
      for (const StaticPartition* part : order) {
        const std::string found = limit(*part);
        if (order.size() > 1) reason_ = found;
      }
    }
    s_.reason = reason_.empty() ? "Resources" : reason_;
    if (s_.held)
      s_.reason = "JobHeldUser";
    else if (s_.depends)
      s_.reason = "Dependency";
    else if (s_.job.begin_s > s_.now_s)
      s_.reason = "BeginTime";
    if (!not_permitted_.empty() && !s_.depends) s_.reason = not_permitted_;
    const std::int64_t minutes =
        s_.job.time_min_min != kUnset ? s_.job.time_min_min : s_.job.time_limit_min;
    if (s_.held || s_.depends || s_.job.deadline_s == 0 || minutes < 0) return;
    s_.past_deadline = s_.now_s + minutes * 60 > s_.job.deadline_s;
    if (s_.past_deadline) s_.reason = "DeadLine";
  }

  const ControllerView& view_;
  Submission& s_;
  const JobDescription original_;
  std::string reason_;
  std::string detail_;
  std::string not_permitted_;
};

}  // namespace

std::optional<Refusal> test_job(const ControllerView& view, Submission& s) {
  return NodeTest(view, s).run();
}

void set_gpu_defaults(Submission& s, const StaticPartition& part) {
  const bool gpus = std::any_of(s.gres.asks.begin(), s.gres.asks.end(), [](const GresAsk& a) {
    return a.name == "gpu" && a.per_job + a.per_node + a.per_socket + a.per_task > 0;
  });
  if (!gpus) return;
  if (part.spec->def_cpu_per_gpu > 0 && !s.cpus_per_task_given && s.job.cpus_per_gres.empty())
    s.default_cpus_per_gpu = part.spec->def_cpu_per_gpu;
  if (part.spec->def_mem_per_gpu_mib > 0 && s.job.memory_per_gres.empty())
    s.default_memory_per_gpu_mib = part.spec->def_mem_per_gpu_mib;
}

void set_default_memory(const ControllerView& view, JobDescription& job,
                        const StaticPartition& part) {
  const auto option = [&](const char* key) { return parse_int(view.option(key)).value_or(0); };
  std::int64_t per_node = part.spec->def_mem_per_node_mib;
  std::int64_t per_cpu = part.spec->def_mem_per_cpu_mib;
  if (per_node <= 0 && per_cpu <= 0) {
    per_node = option("DefMemPerNode");
    per_cpu = option("DefMemPerCPU");
  }
  job.memory_per_cpu = per_node <= 0 && per_cpu > 0;
  job.memory_mib = std::max<std::int64_t>(per_node > 0 ? per_node : per_cpu, 0);
}

}  // namespace fedsim
