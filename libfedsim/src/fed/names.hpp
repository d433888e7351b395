// Texts of a trace looked up in the model, each distinct text once.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fedsim/model.hpp"
#include "fedsim/trace.hpp"
#include "state/federation.hpp"

namespace fedsim {

enum class DependencyKind : std::uint8_t {
  after,
  afterany,
  afterok,
  afternotok,
  aftercorr,
  singleton
};
/// One condition: on the job, or the array's tasks, of a label.
struct Dependency {
  DependencyKind kind = DependencyKind::afterany;
  std::string label;
  JobId first;
  std::uint32_t count = 0;
  std::int64_t delay_s = 0;  ///< after:ID+minutes
};
struct DependencyList {
  std::vector<Dependency> conditions;
  bool any = false;  ///< one is enough ('?'), else all are needed
};

/// Jobs of a label: one, or an array's tasks.
struct LabelledJobs {
  JobId first;
  std::uint32_t count = 0;
};

/// Trace texts resolved against the model, each distinct text once. Looked up by StringId, never
/// walked.
struct NameTable {
  struct Constraint {
    ClusterSet clusters;
    bool valid = true;
  };
  std::unordered_map<std::uint32_t, ClusterId> clusters;
  std::unordered_map<std::uint32_t, ClusterSet> cluster_lists;  ///< -M
  std::unordered_set<std::uint32_t> unknown_lists;              ///< -M with a name nobody knows
  std::unordered_map<std::uint32_t, Constraint> constraints;    ///< --cluster-constraint
  std::vector<std::unordered_map<std::uint32_t, std::vector<PartitionId>>>
      partitions;                                          ///< per cluster
  std::unordered_map<std::uint32_t, LabelledJobs> labels;  ///< targets of operations
  std::unordered_map<std::uint32_t, DependencyList> dependencies;
  std::unordered_map<std::uint32_t, std::uint32_t> arrays;  ///< array_job -> SimState::arrays
  std::vector<ArrayLive> array_sizes;                       ///< at the begin of the run
  bool any_het = false;                                     ///< heterogeneous jobs
};

/// Resolves every name of the trace. Unknown clusters are errors, all reported at once (InputError
/// C10x).
NameTable resolve_names(const FederationModel& model, const Trace& trace);

}  // namespace fedsim
