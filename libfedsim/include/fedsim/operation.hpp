// What happens to a run from outside besides submissions: commands of users and administrators, and
// faults, each at an instant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fedsim/ids.hpp"
#include "fedsim/time.hpp"

namespace fedsim {

enum class OperationKind : std::uint8_t {
  scancel,
  requeue,
  requeuehold,
  hold,
  release,
  update_clusters,          ///< scontrol update Clusters=value
  update_cluster_features,  ///< scontrol update ClusterFeatures=value
  fed_state,                ///< sacctmgr modify cluster NAME set fedstate=value
  fed_join,                 ///< sacctmgr modify federation set clusters+=NAME
  fed_leave,                ///< sacctmgr modify federation set clusters-=NAME
  controller_down,          ///< slurmctld of `cluster` stops; its jobs run on
  controller_up,
  link_down,  ///< no connection between the controllers of `cluster` and `sibling`
  link_up,
  database_down,  ///< no controller reaches slurmdbd
  database_up
};

/// A timed command of a user or administrator, or a fault.
struct Operation {
  SimTime at{};
  OperationKind kind = OperationKind::scancel;
  StringId cluster{0};  ///< whose controller gets the command; NAME of those on clusters
  StringId target{0};   ///< label of the job; "" when the command names none
  StringId sibling{0};  ///< cluster of scancel --sibling=NAME; other end of a link
  StringId value{0};    ///< new value
  bool remote = false;  ///< sent straight to `cluster` with -M
};

/// A fault that comes and goes by itself: up for an exponential time with mean `mean_up`, down for
/// one with mean `mean_down`. "*" is every cluster, each with times of its own.
struct FaultProcess {
  OperationKind down = OperationKind::controller_down;  ///< or link_down, database_down
  std::string cluster;
  std::string other;  ///< other end of a link
  Duration mean_up{};
  Duration mean_down{};
  friend bool operator==(const FaultProcess&, const FaultProcess&) = default;
};

/// "controller:alpha,mtbf=6h,mttr=10m", "link:alpha/beta,...", "slurmdbd,...". Throws InputError
/// (C069).
FaultProcess parse_fault(std::string_view text);
std::string to_string(const FaultProcess& fault);

}  // namespace fedsim
