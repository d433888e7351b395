// Running a scenario: options, one-call run(), and the Simulation that can be stepped, copied and
// observed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fedsim/model.hpp"
#include "fedsim/time.hpp"
#include "fedsim/trace.hpp"

namespace fedsim {

struct Result;

/// slurm: slurmctld's loops, rates and latencies. ideal: a decision at every event, no latency.
enum class Fidelity { slurm, ideal };
/// Rule of ideal runs.
enum class Policy { fcfs, easy, conservative };

/// How far a run has come; given to the progress callback at most 20 times a second.
struct Progress {
  SimTime now{};
  SimTime first{};
  SimTime last{};  ///< last submission
  std::uint64_t events = 0;
  std::size_t jobs_done = 0;
  std::size_t jobs = 0;
  std::size_t queued = 0;
};

/// Affects behaviour unless marked otherwise.
struct RunOptions {
  Fidelity fidelity = Fidelity::slurm;
  Policy policy = Policy::easy;
  std::uint64_t seed = 0;
  /// Start of each cluster's controller (phase of its loops), by cluster index; kNoTime: drawn from
  /// the seed.
  std::vector<SimTime> controller_start;
  /// Recorded passes; when not empty no others happen.
  std::vector<DrivenPass> driven;
  /// Faults that come and go, from the first instant until a day after the last submission.
  std::vector<FaultProcess> faults;
  SimTime horizon =
      kEndOfTime;  ///< the run stops here; what runs or waits then stays so in the tables
  std::uint64_t max_events = 0;  ///< 0: no cap; reaching it is an InputError naming the option
  /// No effect on the outcome: audit all invariants after every n-th event (0: only at the end).
  std::uint64_t audit_every = 0;
  /// No effect on the outcome: keep one row per event for Result::events.
  bool keep_events = false;
  /// No effect on the outcome: keep node and GPU lists for the tables; off saves memory.
  bool keep_placement = true;
  /// No effect on the outcome: called now and then; returning false stops the run (Interrupted).
  std::function<bool(const Progress&)> progress;
};

/// One run's input. Model and trace are shared, never changed.
struct Scenario {
  std::shared_ptr<const FederationModel> model;
  std::shared_ptr<const Trace> trace;
  RunOptions options;
};

/// Runs to the end. Throws InputError for a trace that does not fit the model, InternalError for
/// our faults.
Result run(const Scenario& scenario);

/// What just happened, for observers and the event table. Texts of `kind` are in event_kind_name().
enum class StoryKind : std::uint8_t {
  submit,
  sibling_submit,
  reject,
  lock,
  lock_denied,
  start,
  revoke,
  complete,
  timeout,
  cancel,
  requeue,
  hold,
  release,
  main_pass,
  backfill_pass,
  plan,
  update,
  controller_down,
  controller_up,
  link_down,
  link_up,
  takeover,  ///< the backup controller takes over
  fed_state,
  message_retry,        ///< not accepted: tried again later
  message_lost,         ///< dropped, as slurmctld does without a connection
  double_start_averted  ///< clusters that cannot see each other would both have started the job
};
std::string_view to_string(StoryKind kind);

/// One line of the story of a run: record-level, never needed to reproduce a result.
struct StoryEvent {
  SimTime at{};
  StoryKind kind = StoryKind::submit;
  ClusterId cluster;  ///< where it happened
  JobId job;          ///< invalid for passes
  ClusterId other;    ///< the other cluster of a message or lock, else invalid
};

/// Sees what happens, changes nothing.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_event(const StoryEvent& event) = 0;
};

struct SimState;

/// A run in progress. A copy is a branch: both continue independently.
class Simulation {
 public:
  explicit Simulation(Scenario scenario);
  Simulation(const Simulation& other);
  Simulation& operator=(const Simulation& other);
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;
  ~Simulation();

  /// Processes one event; false when none is left or the horizon is reached.
  bool step();
  /// Processes every event up to and including `until`.
  void run_until(SimTime until);
  /// Processes everything that is left.
  void run_to_end();

  SimTime now() const;
  std::uint64_t events() const;
  std::uint64_t fingerprint() const;  ///< over all events so far
  const SimState& state() const;
  const Scenario& scenario() const;
  void audit() const;  ///< every invariant; throws InternalError
  /// Not owned; must outlive the simulation. Copies have no observer.
  void observe(Observer* observer);
  /// Tables and summary as of now.
  Result result() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fedsim
