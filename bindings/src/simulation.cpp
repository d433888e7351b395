// Simulation: a run that is stepped, copied (a copy is a branch) and looked at on the way.
#include <atomic>

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
  Scenario scenario = s.scenario;
  scenario.options.progress = &poll_signals;
  const py::gil_scoped_release released;
  return std::make_unique<PySimulation>(s.spec, Simulation(std::move(scenario)));
}

std::unique_ptr<PySimulation> copy(PySimulation& s) {
  const Use use(s);
  const py::gil_scoped_release released;
  return std::make_unique<PySimulation>(s.spec, Simulation(s.simulation));
}

void run_until(PySimulation& s, const py::object& until) {
  const SimTime t = to_instant(until, s.simulation.scenario().trace->t0, "run_until");
  const Use use(s);
  const py::gil_scoped_release released;
  s.simulation.run_until(t);
}

void run_to_end(PySimulation& s) {
  const Use use(s);
  const py::gil_scoped_release released;
  s.simulation.run_to_end();
}

PyResult result(PySimulation& s) {
  const Use use(s);
  const py::gil_scoped_release released;
  auto made = std::make_shared<Result>(s.simulation.result());
  made->scenario.options.progress = nullptr;
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
    "    >>> sim.now, sim.events < branch.events\n    (3600.0, True)\n";

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
          "Simulated time, seconds from the trace's t0.")
      .def_property_readonly(
          "now_ns", [](const S& s) { return s.simulation.now().time_since_epoch().count(); },
          "Simulated time, exact: nanoseconds since 1970-01-01 UTC.")
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
