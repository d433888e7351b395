// The only place where time advances: pops events in their total order and hands them to the rules.
#pragma once

#include "fed/context.hpp"
#include "fedsim/simulation.hpp"
#include "sched/pass.hpp"

namespace fedsim {

/// slurmctld of every cluster, as far as its configuration goes.
struct Controllers {
  explicit Controllers(const FederationModel& model);
  Accounting accounting;
  std::vector<ControllerView> views;
};

/// One run as a value: copying it copies the run.
class Engine {
 public:
  explicit Engine(Scenario scenario);

  /// Processes the next event; false when none is left up to `until`.
  bool step(SimTime until);

  const Scenario& scenario() const { return scenario_; }
  const SimState& state() const { return state_; }
  SimState& mutable_state() { return state_; }
  void observe(Observer* observer) { observer_ = observer; }
  void audit() const;

 private:
  /// What is next: an event of the queue, the trace's next submission, or an ideal pass of this
  /// instant.
  enum class Source { none, queue, submit, operation, ideal };
  struct Next {
    Source source = Source::none;
    Event event;
  };
  Next next() const;
  bool is_quiet(std::int64_t at) const;

  void dispatch(const Event& event);
  void deliver(const Context& ctx, const Event& message);
  void count(const Event& event, std::uint64_t outcome);
  bool is_on_its_way(const Context& ctx, const Event& command);
  ClusterId earliest_cluster(const Context& ctx, JobId job);
  std::int64_t would_start(const Context& ctx, ClusterId cluster, JobId job);
  bool waits_for_lock_call(const Context& ctx, const Event& pass);
  void run_main(const Event& event);
  void run_backfill(const Event& event);
  void run_ideal(ClusterId cluster);
  Context context();
  PassView view(const Context& ctx, PassHost& host, ClusterId cluster);

  Scenario scenario_;
  std::shared_ptr<const Trace> trace_;  ///< the scenario's, with its faults as operations
  NameTable names_;
  std::shared_ptr<const Controllers> controllers_;
  DemandTable demands_;
  SimState state_;
  PassScratch scratch_;
  Observer* observer_ = nullptr;
};

}  // namespace fedsim
