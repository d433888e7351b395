// Why a record waits, ended or was refused: one byte in every raw row, Slurm's words in the tables.
//
// Words of the first part are those of squeue(1), JOB REASON CODES; texts of the second part are
// what sbatch prints when a controller refuses a submission. Codes that need no simulation are left
// out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fedsim {

/// Append only within a part: the number is a raw row's `reason` and takes part in fingerprints.
enum class Reason : std::uint8_t {
  none,
  // Pending: the queue's own reasons.
  priority,
  resources,
  partition_node_limit,
  partition_time_limit,
  partition_down,
  partition_inactive,
  partition_config,
  job_held_user,
  job_held_admin,
  job_requeued_in_held_state,
  begin_time,
  fed_job_lock,
  req_node_not_avail,
  nodes_down,
  dependency,
  dependency_never_satisfied,
  reservation,
  job_array_task_limit,
  bad_constraints,
  cleaning,
  prolog,
  licenses,
  // Pending: limits of associations and QOS.
  assoc_job_limit,
  assoc_grp_cpu_limit,
  assoc_grp_gres,
  assoc_grp_jobs_limit,
  assoc_grp_node_limit,
  assoc_max_jobs_limit,
  assoc_max_wall_duration_per_job_limit,
  qos_not_allowed,
  qos_grp_cpu_limit,
  qos_grp_gres,
  qos_grp_jobs_limit,
  qos_grp_node_limit,
  qos_max_cpu_per_user_limit,
  qos_max_gres_per_job,
  qos_max_gres_per_user,
  qos_max_jobs_per_user_limit,
  qos_max_node_per_user_limit,
  qos_max_wall_duration_per_job_limit,
  // How an execution ended.
  time_limit,
  deadline,
  node_down,
  job_launch_failure,
  non_zero_exit_code,
  raised_signal,
  out_of_memory,
  // Refusals: the text after "Batch job submission failed: ".
  node_config_unavailable,
  invalid_partition,
  partition_not_available,
  invalid_feature,
  invalid_gres,
  invalid_cluster_feature,
  invalid_time_limit,
  node_count_invalid,
  more_processors_than_permitted,
  memory_not_satisfiable,
  no_valid_clusters,
  cluster_not_reachable,
  system_submissions_disabled,
  access_denied,
  group_not_permitted,
  invalid_account,
  invalid_qos,
  accounting_policy,
  invalid_dependency,
  invalid_job_array,
  invalid_node_name,
  invalid_trackable_resources,
  reservation_invalid,
  expired_deadline,
  controller_unreachable,
  invalid_nice,
  invalid_license,
  invalid_time_min,
  nodes_not_in_partition,
  mixed_gres_types,
  not_supported,
  no_default_partition,
  partition_config_unavailable,
  contradicting_options,
  count_  ///< how many there are; never in a row
};

/// Slurm's word or text; "None" for Reason::none and for numbers that are not in the enumeration.
/// The text of cluster_not_reachable names the cluster as "{cluster}"; the tables fill it in.
std::string_view reason_text(Reason reason);

/// The reason whose word or text this is (case matters); nullopt when there is none.
std::optional<Reason> find_reason(std::string_view text);

/// True for the refusal texts, the second part of the enumeration.
constexpr bool is_refusal(Reason reason) {
  return reason >= Reason::node_config_unavailable && reason < Reason::count_;
}

}  // namespace fedsim
