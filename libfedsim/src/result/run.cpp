// run(): a Simulation from start to end with progress, and the Result made of its state.
#include <chrono>

#include "engine/engine.hpp"
#include "fedsim/result.hpp"
#include "result/metrics.hpp"

namespace fedsim {
namespace {

/// Wall time only: how long the run took and how often progress is told. Never part of an outcome.
using WallClock = std::chrono::steady_clock;

double seconds_since(WallClock::time_point t) {
  return std::chrono::duration<double>(WallClock::now() - t).count();
}

Result make_result(const Scenario& scenario, SimState state) {
  Result r;
  r.scenario = scenario;
  r.scenario.options.progress = nullptr;
  r.job_rows = std::move(state.job_rows);
  r.record_rows = std::move(state.record_rows);
  r.allocation_rows = std::move(state.allocation_rows);
  r.placements = std::move(state.placements);
  r.events = std::move(state.story);
  for (std::size_t j = 0; j < r.job_rows.size(); ++j) {
    const std::uint32_t newest = state.jobs[j].newest_record;
    if (newest != kNoIndex && r.job_rows[j].state == RecordState::pending) {
      const std::uint32_t origin = state.jobs[j].origin_record;
      r.job_rows[j].reason = r.record_rows[origin == kNoIndex ? newest : origin].reason;
    }
  }
  summarise(r);
  r.summary.events = state.events;
  r.summary.main_passes = state.main_passes;
  r.summary.backfill_passes = state.backfill_passes;
  r.summary.fingerprint = state.fingerprint;
  return r;
}

Progress progress_of(const Scenario& scenario, const SimState& state) {
  Progress p;
  const auto& jobs = scenario.trace->jobs;
  p.now = state.now;
  p.first = jobs.empty() ? state.now : jobs.front().submit;
  p.last = jobs.empty() ? state.now : jobs.back().submit;
  p.events = state.events;
  p.jobs_done = state.jobs_done;
  p.jobs = jobs.size();
  for (const ClusterState& c : state.clusters) p.queued += c.queued_n;
  return p;
}

}  // namespace

Result Simulation::result() const {
  return make_result(scenario(), state());
}

Result run(const Scenario& scenario) {
  const WallClock::time_point start = WallClock::now();
  WallClock::time_point told = start - std::chrono::seconds(1);  // the first poll tells at once
  constexpr double kTellEvery = 0.05;
  constexpr int kPollEvery = 4096;
  Engine engine(scenario);
  const RunOptions& options = scenario.options;
  for (int n = 0; engine.step(options.horizon); ++n) {
    const std::uint64_t events = engine.state().events;
    if (options.audit_every != 0 && events % options.audit_every == 0) engine.audit();
    if (options.max_events != 0 && events >= options.max_events) {
      throw InputError({Severity::error, "C105", "", 0,
                        "the run reached max_events = " + std::to_string(options.max_events),
                        "raise max_events or set a horizon"});
    }
    if (options.progress && n % kPollEvery == 0 && seconds_since(told) >= kTellEvery) {
      told = WallClock::now();
      if (!options.progress(progress_of(scenario, engine.state()))) {
        throw Interrupted("the run was stopped at " + std::to_string(engine.state().jobs_done) +
                          " of " + std::to_string(scenario.trace->jobs.size()) + " jobs");
      }
    }
  }
  engine.audit();
  Result r = make_result(scenario, std::move(engine.mutable_state()));
  r.summary.wall_s = seconds_since(start);
  return r;
}

}  // namespace fedsim
