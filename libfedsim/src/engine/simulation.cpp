// The public face of a run: see include/fedsim/simulation.hpp.
#include "fedsim/simulation.hpp"

#include "engine/engine.hpp"

namespace fedsim {

struct Simulation::Impl {
  Engine engine;
};

Simulation::Simulation(Scenario scenario) {
  std::vector<Diagnostic> wrong;
  if (scenario.model == nullptr) {
    wrong.push_back(
        {Severity::error, "C104", "", 0, "a scenario needs a model", "compile() makes one"});
  }
  if (scenario.trace == nullptr) {
    wrong.push_back(
        {Severity::error, "C104", "", 0, "a scenario needs a trace", "read_trace() or synth()"});
  }
  if (!wrong.empty()) throw InputError(std::move(wrong));
  impl_ = std::make_unique<Impl>(Impl{Engine(std::move(scenario))});
}

Simulation::Simulation(const Simulation& other) : impl_(std::make_unique<Impl>(*other.impl_)) {
  impl_->engine.observe(nullptr);
}
Simulation& Simulation::operator=(const Simulation& other) {
  if (this != &other) {
    impl_ = std::make_unique<Impl>(*other.impl_);
    impl_->engine.observe(nullptr);
  }
  return *this;
}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

bool Simulation::step() {
  Engine& engine = impl_->engine;
  const RunOptions& options = engine.scenario().options;
  if (options.max_events != 0 && engine.state().events >= options.max_events) {
    throw InputError({Severity::error, "C105", "", 0,
                      "the run reached max_events = " + std::to_string(options.max_events),
                      "raise max_events or set a horizon"});
  }
  if (!engine.step(options.horizon)) return false;
  if (options.audit_every != 0 && engine.state().events % options.audit_every == 0) engine.audit();
  return true;
}

void Simulation::run_until(SimTime until) {
  const SimTime last = std::min(until, impl_->engine.scenario().options.horizon);
  while (impl_->engine.step(last)) {
  }
}

void Simulation::run_to_end() {
  while (step()) {
  }
}

SimTime Simulation::now() const {
  return impl_->engine.state().now;
}
std::uint64_t Simulation::events() const {
  return impl_->engine.state().events;
}
std::uint64_t Simulation::fingerprint() const {
  return impl_->engine.state().fingerprint;
}
const SimState& Simulation::state() const {
  return impl_->engine.state();
}
const Scenario& Simulation::scenario() const {
  return impl_->engine.scenario();
}
void Simulation::audit() const {
  impl_->engine.audit();
}
void Simulation::observe(Observer* observer) {
  impl_->engine.observe(observer);
}

std::string_view to_string(StoryKind kind) {
  switch (kind) {
    case StoryKind::submit:
      return "SUBMIT";
    case StoryKind::sibling_submit:
      return "SIBLING_SUBMIT";
    case StoryKind::reject:
      return "REJECT";
    case StoryKind::lock:
      return "LOCK";
    case StoryKind::lock_denied:
      return "LOCK_DENIED";
    case StoryKind::start:
      return "START";
    case StoryKind::revoke:
      return "REVOKE";
    case StoryKind::complete:
      return "COMPLETE";
    case StoryKind::timeout:
      return "TIMEOUT";
    case StoryKind::cancel:
      return "CANCEL";
    case StoryKind::requeue:
      return "REQUEUE";
    case StoryKind::hold:
      return "HOLD";
    case StoryKind::release:
      return "RELEASE";
    case StoryKind::main_pass:
      return "MAIN_PASS";
    case StoryKind::backfill_pass:
      return "BACKFILL_PASS";
    case StoryKind::plan:
      return "PLAN";
    case StoryKind::update:
      return "UPDATE";
    case StoryKind::controller_down:
      return "CONTROLLER_DOWN";
    case StoryKind::controller_up:
      return "CONTROLLER_UP";
    case StoryKind::link_down:
      return "LINK_DOWN";
    case StoryKind::link_up:
      return "LINK_UP";
    case StoryKind::takeover:
      return "TAKEOVER";
    case StoryKind::fed_state:
      return "FED_STATE";
    case StoryKind::message_retry:
      return "MESSAGE_RETRY";
    case StoryKind::message_lost:
      return "MESSAGE_LOST";
    case StoryKind::double_start_averted:
      return "DOUBLE_START_AVERTED";
  }
  return "";
}

}  // namespace fedsim
