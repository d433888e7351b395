// When a controller's passes begin: the background loop, its gates, and the backfill thread.
//
// Semantics 4.1 and 5.2; recorded timing in the validation page. Nothing ticks in the simulator:
// the next tick that matters is computed. 22.05 has a free-running tick of a little more than a
// second; from 24.11 on passes begin on the whole second.
#pragma once

#include "fedsim/simulation.hpp"
#include "state/state.hpp"

namespace fedsim {

/// One controller's clockwork, for the functions below.
struct Controller {
  const ClusterModel& model;
  const RunOptions& options;
  SimState& state;
  ClusterId cluster;
  ClusterState& own() const { return state.clusters[cluster.index()]; }
};

/// Sets the phases of the loops: from the recorded start of the controller, else drawn from the
/// seed.
void start_loops(const Controller& c);

/// Phases of a controller that starts now.
void restart_loops(const Controller& c);

/// Something may let a job start (submission, freed resources, eligible again): asks for a main
/// pass and marks the change for backfill. In ideal runs the cluster is scheduled before time moves
/// on.
void request_pass(const Controller& c);

/// Something changed that only backfill looks at.
void note_update(const Controller& c);

/// A job that waits for others may be free: the next pass that is due anyway looks.
void note_news(const Controller& c);

/// Schedules the next main or full pass and backfill cycle that are due; call after each pass.
void plan_loops(const Controller& c);

/// First time-limit check at or after `t` (every 30 s on the controller's phase; semantics 8.3,
/// recording 19).
SimTime next_limit_check(const Controller& c, SimTime t);

}  // namespace fedsim
