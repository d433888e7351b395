// Simulation: a run that is stepped, copied (a copy is a branch) and looked at on the way.
#include <algorithm>
#include <atomic>
#include <chrono>

#include "bindings.hpp"

namespace fedsim::python {
namespace {

/// A Simulation and a guard: with the GIL released another thread could use it at the same time.
struct PySimulation {
  SpecPtr spec;
  Simulation simulation;
  std::atomic<bool> busy{false};

  PySimulation(SpecPtr s, Simulation sim) : spec(std::move(s)), simulation(std::move(sim)) {}
};

class Use {
 public:
  explicit Use(PySimulation& s) : busy_(s.busy) {
    if (busy_.exchange(true)) {
      throw std::runtime_error("this Simulation is in use by another thread; copy() it first");
    }
  }
  ~Use() { busy_ = false; }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  std::atomic<bool>& busy_;
};

std::unique_ptr<PySimulation> make_simulation(const PyScenario& s) {
  const py::gil_scoped_release released;
  return std::make_unique<PySimulation>(s.spec, Simulation(s.scenario));
}

std::unique_ptr<PySimulation> copy(PySimulation& s) {
  const Use use(s);
  const py::gil_scoped_release released;
  return std::make_unique<PySimulation>(s.spec, Simulation(s.simulation));
}

/// Called between events, without the GIL. Ctrl-C leaves the simulation whole: it can go on later.
void poll() {
  const py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw Interrupted("stopped");
}

void run_until(PySimulation& s, const py::object& until) {
  using Clock = std::chrono::steady_clock;
  const SimTime last = to_instant(until, s.simulation.scenario().trace->t0, "run_until");
  const Use use(s);
  const py::gil_scoped_release released;
  // In slices of simulated time that take about as long as a user waits for Ctrl-C.
  Duration slice = kSecond;
  for (SimTime at = s.simulation.now(); at < last;) {
    at = last - at > slice ? at + slice : last;
    const Clock::time_point began = Clock::now();
    s.simulation.run_until(at);
    const Clock::duration took = Clock::now() - began;
    if (took < std::chrono::milliseconds(10)) slice = std::min(slice * 2, kSecond * 86400 * 3650);
    if (took > std::chrono::milliseconds(50)) slice = std::max(slice / 2, Duration{1'000'000});
    if (took > std::chrono::milliseconds(1)) poll();
  }
  s.simulation.run_until(last);
}

void run_to_end(PySimulation& s) {
  using Clock = std::chrono::steady_clock;
  constexpr int kLookEvery = 64;  // a clock is read far more cheaply than an event is processed
  const Use use(s);
  const py::gil_scoped_release released;
  Clock::time_point next = Clock::now();
  for (int n = 1; s.simulation.step(); ++n) {
    if (n % kLookEvery != 0 || Clock::now() < next) continue;
    poll();
    next = Clock::now() + std::chrono::milliseconds(50);
  }
}

PyResult result(PySimulation& s) {
  const Use use(s);
  const py::gil_scoped_release released;
  auto made = std::make_shared<Result>(s.simulation.result());
  return PyResult{s.spec, std::move(made), {}};
}

constexpr const char* kSimulationDoc =
    "Simulation(scenario)\n\n"
    "A run in progress. ``copy()`` is a branch: both continue independently.\n\n"
    "Example:\n    >>> import fedsim as fs\n"
    "    >>> fed = fs.Federation.of(a='1x8 a100', b='1x8 a100')\n"
    "    >>> sim = fs.Simulation(fs.Scenario(fed, [fs.Job('J1', gpus=6, time='2h')]))\n"
    "    >>> sim.run_until('1h')\n"
    "    >>> branch = sim.copy()\n"
    "    >>> branch.run_to_end()\n"
    "    >>> sim.now <= 3600, sim.events < branch.events\n    (True, True)\n";

}  // namespace

void bind_simulation(py::module_& m) {
  using S = PySimulation;
  py::class_<S>(m, "Simulation", kSimulationDoc)
      .def(py::init(&make_simulation), py::arg("scenario"))
      .def(
          "step",
          [](S& s) {
            const Use use(s);
            return s.simulation.step();
          },
          "step()\n\nProcess one event; False when none is left or the horizon is reached.")
      .def("run_until", &run_until, py::arg("until"),
           "run_until(until)\n\nProcess every event up to and including `until`: a length of time "
           "from the trace's\nt0 ('2h', timedelta, seconds) or an aware datetime.")
      .def("run_to_end", &run_to_end, "run_to_end()\n\nProcess everything that is left.")
      .def("copy", &copy, "copy()\n\nA branch: it and the original continue independently.")
      .def("__copy__", &copy)
      .def("__deepcopy__", [](S& s, const py::object&) { return copy(s); })
      .def_property_readonly(
          "now",
          [](const S& s) {
            return seconds_since(s.simulation.now(), s.simulation.scenario().trace->t0);
          },
          "Time of the last event, seconds from the trace's t0.")
      .def_property_readonly(
          "now_ns", [](const S& s) { return s.simulation.now().time_since_epoch().count(); },
          "Time of the last event, exact: nanoseconds since 1970-01-01 UTC.")
      .def_property_readonly(
          "events", [](const S& s) { return s.simulation.events(); }, "Events processed so far.")
      .def_property_readonly(
          "fingerprint", [](const S& s) { return s.simulation.fingerprint(); },
          "64-bit fingerprint over all events so far.")
      .def(
          "audit", [](const S& s) { s.simulation.audit(); },
          "audit()\n\nCheck every invariant; raises InternalError.")
      .def("result", &result, "result()\n\nThe Result as of now.")
      .def("__repr__", [](const S& s) {
        return "<Simulation after " + std::to_string(s.simulation.events()) +
               " events, fingerprint " + hex(s.simulation.fingerprint()) + ">";
      });
}

}  // namespace fedsim::python
