// slurmctld's side of a submission (22.05): the tests of job creation in their order, then whether
// any configured node could ever run the job. See fedsim/verdict.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fedsim/verdict.hpp"
#include "request/features.hpp"
#include "request/gres_request.hpp"
#include "request/sbatch.hpp"
#include "select/node_request.hpp"

namespace fedsim {

enum class EnforceLimits : std::uint8_t { no, any, all };

/// A node as the static tests see it: everything idle.
struct StaticNode {
  std::string name;
  std::int64_t cpus, sockets, cores, threads;  ///< cores per socket, threads per core
  std::int64_t memory_mib, tmp_mib;
  std::size_t config;  ///< nodes of one NodeName line share it
  std::set<std::string> features;
  std::map<std::pair<std::string, std::string>, std::int64_t> gres;  ///< (name, type) -> count

  std::int64_t gres_of(const std::string& name, const std::string& type) const;
};

/// A partition and its totals.
struct StaticPartition {
  const PartitionSpec* spec;
  std::vector<std::size_t> nodes;  ///< indices of ControllerView::nodes, in slurmctld's order
  std::int64_t cpus = 0;
  std::set<std::string> allowed_accounts;  ///< empty: all
  std::set<std::string> allowed_qos, denied_accounts, denied_qos;
  std::int64_t max_time_min, default_time_min;

  std::int64_t nodes_n() const { return static_cast<std::int64_t>(nodes.size()); }
  bool schedules() const { return spec->state == "UP" || spec->state == "DRAIN"; }
};

/// What slurmctld knows when a job arrives.
struct ControllerView {
  const ClusterSpec& cluster;
  const Accounting& accounting;
  std::vector<StaticNode> nodes;
  std::vector<StaticPartition> partitions;
  std::set<std::string> gres_types;
  std::map<std::string, std::int64_t> licenses;
  std::vector<std::string> tracked_tres;  ///< AccountingStorageTRES beyond the basic ones
  EnforceLimits enforce = EnforceLimits::no;
  bool enforce_associations = false, enforce_qos = false, enforce_limits = false;
  bool cons_tres = true, linear = false, consumes_memory = false;
  std::int64_t max_array_size = 1001, max_switch_wait_s = 300;
  SbatchConfig client;
  std::shared_ptr<const ClusterHardware> hardware;
  SelectRules select;

  /// `shared`: the compiled cluster's, made anew when there is none.
  ControllerView(const ClusterSpec& cluster_spec, const Accounting& accounts,
                 std::shared_ptr<const ClusterHardware> shared = nullptr);
  std::string option(const std::string& key, const std::string& otherwise = "") const;
  const StaticPartition* partition(const std::string& name) const;
  std::optional<std::size_t> node(const std::string& name) const;

 private:
  void read_select_rules();
};

/// Why a job is refused: Slurm's text, after further lines that come with it.
struct Refusal {
  std::string text;
  std::string detail;  ///< printed before, "" for none
};

/// A job on its way through the tests; what the controller fills in is seen by scontrol.
struct Submission {
  JobDescription job;
  std::string user;
  std::int64_t now_s = 0;
  bool held = false;
  bool has_record = false;  ///< neither refused nor kept back by sbatch (--gres=help)
  std::vector<const StaticPartition*> partitions;  ///< first is the one that defaults come from
  std::string partition_text;                      ///< as scontrol shows it
  std::string account, qos;
  GresJob gres;
  std::vector<FeatureTerm> features;
  std::vector<std::size_t> required, excluded;  ///< nodes
  bool memory_given = false;
  bool depends = false;
  std::int64_t created_min_cpus_per_node = 1;
  bool cpus_per_task_given = false;                                 ///< before MaxMemPerCPU
  std::int64_t tres_memory_mib = 0, tres_cpus = 0, tres_nodes = 0;  ///< as counted at creation
  bool tres_memory_per_cpu = false;
  std::map<std::string, std::int64_t> tres_licenses;
  std::int64_t default_cpus_per_gpu = 0;  ///< DefCpuPerGPU, once a test of nodes has applied it
  std::int64_t default_memory_per_gpu_mib = 0;
  bool past_deadline = false;
  std::string reason = "Resources";
  std::int64_t nodes_n = kUnset;  ///< nodes that a start on idle nodes would take
  /// The partition that the last test looked at; limits and defaults shown are its.
  const StaticPartition* shown = nullptr;
};

/// The tests before a job gets its record.
std::optional<Refusal> create_job(const ControllerView& view, Submission& s);

/// The tests with its record: partition limits (a reason to wait) and the node test.
std::optional<Refusal> test_job(const ControllerView& view, Submission& s);

inline constexpr const char* kNodeCount = "Node count specification invalid";
inline constexpr const char* kNodeName = "Invalid node name specified";
inline constexpr const char* kTimeLimit =
    "Requested time limit is invalid (missing or exceeds some limit)";
inline constexpr const char* kTimeMin =
    "Invalid time-min specification (exceeds job's time or other limits)";

/// Why the partition does not take the job (Slurm's text), or nothing. `with_nodes` also tests -w.
std::optional<std::string> partition_access(const ControllerView& view, const Submission& s,
                                            const StaticPartition& part, bool with_nodes);

/// --mem and --mem-per-cpu against MaxMemPer*: false when they are above. Raises CPUs per task when
/// that makes memory per CPU fit.
bool apply_max_memory(const ControllerView& view, JobDescription& job, const StaticPartition& part);

/// DefMemPer* of the partition, else of the cluster; 0 when nothing is said.
void set_default_memory(const ControllerView& view, JobDescription& job,
                        const StaticPartition& part);

/// Limits of one partition as job_limits_check() tests them; the reason to wait, or "".
std::string partition_limit(const ControllerView& view, Submission& s, const StaticPartition& part);

/// The job on the nodes of one partition.
struct FitRequest {
  NodeRequest request;
  bool fits_configuration = true;  ///< some node has the CPUs, memory, disk and shape
  std::string detail;              ///< Slurm's line about what no node has
};
FitRequest fit_request(const ControllerView& view, const Submission& s,
                       const StaticPartition& part);

/// How the partition hands out CPUs to the job.
SelectRules rules_of(const ControllerView& view, const JobDescription& job,
                     const StaticPartition& part);

/// DefCpuPerGPU and DefMemPerGPU of the partition, for a job that asks for GPUs.
void set_gpu_defaults(Submission& s, const StaticPartition& part);

/// sbatch's part over `options`, then both tests above; fills `s`. Leaves Verdict::fields empty.
Verdict submit(const ControllerView& view, const std::vector<std::string>& options,
               const std::string& user, bool held, std::int64_t now_s, Submission& s);

/// Fields of `scontrol show job` for an accepted job.
std::vector<std::pair<std::string, std::string>> scontrol_fields(const ControllerView& view,
                                                                 const Submission& s);

}  // namespace fedsim
