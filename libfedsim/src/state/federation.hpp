// What changes about the federation itself: its members and their connections, jobs that wait for
// others, arrays that have not split off all their tasks.
#pragma once

#include <cstdint>
#include <vector>

#include "fedsim/ids.hpp"
#include "fedsim/time.hpp"

namespace fedsim {

/// No cluster: a start lock that nobody holds.
inline constexpr std::uint8_t kNobody = 255;

/// A job array that has not split off all its tasks.
struct ArrayLive {
  std::uint32_t base_id = 0;  ///< job id of the array and of its last task
  std::uint32_t left = 0;     ///< tasks that never started
  std::uint32_t running = 0;
};

/// A job that waits for others at its origin; bits count conditions of its list.
struct Dependent {
  JobId job;
  ClusterSet agreed;  ///< singleton: members that have no older job of that name
  std::uint64_t met = 0;
  std::uint64_t failed = 0;
};

/// State of a cluster in its federation (sacctmgr(1), fedstate).
enum class FedState : std::uint8_t { active, inactive, drain, drain_remove, drained };

/// What a controller has to do with its siblings.
struct Member {
  FedState state = FedState::active;
  bool joined = true;  ///< of the federation
  bool up = true;      ///< slurmctld runs, on whatever host
  bool primary_up = true;
  std::uint8_t life = 0;  ///< counts restarts: what was queued to be sent does not survive one
  ClusterSet cut_off;     ///< siblings without a network link
  ClusterSet sends_to;    ///< siblings with an open connection
  ClusterSet unsynced;    ///< connected siblings whose jobs are not yet compared with ours
  std::vector<SimTime> snapshot;  ///< by sibling: instant of the list of jobs on its way there
  std::vector<std::int64_t> last_arrival;  ///< by sibling: messages stay in order

  /// Its controller runs and starts jobs (semantics 1.8).
  bool schedules() const {
    return up && (!joined || (state != FedState::inactive && state != FedState::drained));
  }
};

}  // namespace fedsim
