// slurm.conf options of a cluster turned into ClusterModel fields with Slurm's defaults per
// release.
#pragma once

#include <vector>

#include "fedsim/model.hpp"

namespace fedsim {

/// Unreadable values are warnings: slurmctld logs them and keeps its default.
void read_cluster_options(const ClusterSpec& spec, ClusterModel& out,
                          std::vector<Diagnostic>& found);

}  // namespace fedsim
