// Words and texts of reasons: squeue(1) JOB REASON CODES, and sbatch's refusal messages (22.05
// to 26.05).
#include "base/reason.hpp"

#include <array>
#include <cstddef>

namespace fedsim {
namespace {

struct Entry {
  Reason reason;
  std::string_view text;
};

constexpr std::size_t kCount = static_cast<std::size_t>(Reason::count_);

constexpr std::array<Entry, kCount> kEntries{{
    {Reason::none, "None"},
    {Reason::priority, "Priority"},
    {Reason::resources, "Resources"},
    {Reason::partition_node_limit, "PartitionNodeLimit"},
    {Reason::partition_time_limit, "PartitionTimeLimit"},
    {Reason::partition_down, "PartitionDown"},
    {Reason::partition_inactive, "PartitionInactive"},
    {Reason::partition_config, "PartitionConfig"},
    {Reason::job_held_user, "JobHeldUser"},
    {Reason::job_held_admin, "JobHeldAdmin"},
    {Reason::job_requeued_in_held_state, "job requeued in held state"},
    {Reason::begin_time, "BeginTime"},
    {Reason::fed_job_lock, "FedJobLock"},
    {Reason::req_node_not_avail, "ReqNodeNotAvail"},
    {Reason::nodes_down,
     "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"},
    {Reason::dependency, "Dependency"},
    {Reason::dependency_never_satisfied, "DependencyNeverSatisfied"},
    {Reason::reservation, "Reservation"},
    {Reason::job_array_task_limit, "JobArrayTaskLimit"},
    {Reason::bad_constraints, "BadConstraints"},
    {Reason::cleaning, "Cleaning"},
    {Reason::prolog, "Prolog"},
    {Reason::licenses, "Licenses"},
    {Reason::assoc_job_limit, "AssociationJobLimit"},
    {Reason::assoc_grp_cpu_limit, "AssocGrpCpuLimit"},
    {Reason::assoc_grp_gres, "AssocGrpGRES"},
    {Reason::assoc_grp_jobs_limit, "AssocGrpJobsLimit"},
    {Reason::assoc_grp_node_limit, "AssocGrpNodeLimit"},
    {Reason::assoc_max_jobs_limit, "AssocMaxJobsLimit"},
    {Reason::assoc_max_wall_duration_per_job_limit, "AssocMaxWallDurationPerJobLimit"},
    {Reason::qos_not_allowed, "QOSNotAllowed"},
    {Reason::qos_grp_cpu_limit, "QOSGrpCpuLimit"},
    {Reason::qos_grp_gres, "QOSGrpGRES"},
    {Reason::qos_grp_jobs_limit, "QOSGrpJobsLimit"},
    {Reason::qos_grp_node_limit, "QOSGrpNodeLimit"},
    {Reason::qos_max_cpu_per_user_limit, "QOSMaxCpuPerUserLimit"},
    {Reason::qos_max_gres_per_job, "QOSMaxGRESPerJob"},
    {Reason::qos_max_gres_per_user, "QOSMaxGRESPerUser"},
    {Reason::qos_max_jobs_per_user_limit, "QOSMaxJobsPerUserLimit"},
    {Reason::qos_max_node_per_user_limit, "QOSMaxNodePerUserLimit"},
    {Reason::qos_max_wall_duration_per_job_limit, "QOSMaxWallDurationPerJobLimit"},
    {Reason::time_limit, "TimeLimit"},
    {Reason::deadline, "DeadLine"},
    {Reason::node_down, "NodeDown"},
    {Reason::job_launch_failure, "JobLaunchFailure"},
    {Reason::non_zero_exit_code, "NonZeroExitCode"},
    {Reason::raised_signal, "RaisedSignal"},
    {Reason::out_of_memory, "OutOfMemory"},
    {Reason::node_config_unavailable, "Requested node configuration is not available"},
    {Reason::invalid_partition, "Invalid partition name specified"},
    {Reason::partition_not_available, "Required partition not available (inactive or drain)"},
    {Reason::invalid_feature, "Invalid feature specification"},
    {Reason::invalid_gres, "Invalid generic resource (gres) specification"},
    {Reason::invalid_cluster_feature, "Invalid cluster feature specification"},
    {Reason::invalid_time_limit, "Requested time limit is invalid (missing or exceeds some limit)"},
    {Reason::node_count_invalid, "Node count specification invalid"},
    {Reason::more_processors_than_permitted, "More processors requested than permitted"},
    {Reason::memory_not_satisfiable, "Memory required by task is not available"},
    {Reason::no_valid_clusters, "Can't run on any of the specified clusters"},
    {Reason::cluster_not_reachable,
     "'{cluster}' can't be reached now, or it is an invalid entry for --cluster.  "
     "Use 'sacctmgr list clusters' to see available clusters."},
    {Reason::system_submissions_disabled, "System submissions disabled"},
    {Reason::access_denied, "Access/permission denied"},
    {Reason::group_not_permitted, "User's group not permitted to use this partition"},
    {Reason::invalid_account, "Invalid account or account/partition combination specified"},
    {Reason::invalid_qos, "Invalid qos specification"},
    {Reason::accounting_policy,
     "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"},
    {Reason::invalid_dependency, "Job dependency problem"},
    {Reason::invalid_job_array, "Invalid job array specification"},
    {Reason::invalid_node_name, "Invalid node name specified"},
    {Reason::invalid_trackable_resources, "Invalid Trackable RESource (TRES) specification"},
    {Reason::reservation_invalid, "Requested reservation is invalid"},
    {Reason::expired_deadline, "Requested deadline is invalid"},
    {Reason::controller_unreachable, "Unable to contact slurm controller (connect failure)"},
    {Reason::invalid_nice, "Invalid --nice value"},
    {Reason::invalid_license, "Invalid license specification"},
    {Reason::invalid_time_min,
     "Invalid time-min specification (exceeds job's time or other limits)"},
    {Reason::nodes_not_in_partition, "Requested nodes not in this partition"},
    {Reason::mixed_gres_types, "Invalid GRES specification (with and without type identification)"},
    {Reason::not_supported, "Requested operation not supported on this system"},
    {Reason::no_default_partition, "No partition specified or system default partition"},
    {Reason::partition_config_unavailable, "Requested partition configuration not available now"},
    {Reason::contradicting_options, "sbatch does not send these options"},
}};

// A row that stands elsewhere than its number would give a job another job's reason.
constexpr bool in_order() {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (static_cast<std::size_t>(kEntries[i].reason) != i || kEntries[i].text.empty()) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::string_view reason_text(Reason reason) {
  const auto i = static_cast<std::size_t>(reason);
  return i < kCount ? kEntries[i].text : kEntries[0].text;
}

std::optional<Reason> find_reason(std::string_view text) {
  for (const Entry& e : kEntries) {
    if (e.text == text) return e.reason;
  }
  return std::nullopt;
}

}  // namespace fedsim
