// Scenario and run(): compiled once, run with the GIL released, stopped cleanly by Ctrl-C.
#include <pybind11/stl.h>

#include <chrono>
#include <utility>

#include "bindings.hpp"
#include "fedsim/scenario.hpp"
#include "record.hpp"

namespace fedsim::python {
namespace {

const std::vector<std::string>& option_names() {
  static const std::vector<std::string> names{"seed",        "fidelity",         "policy",
                                              "horizon",     "controller_start", "max_events",
                                              "audit_every", "keep_events",      "keep_placement",
                                              "faults"};
  return names;
}

std::string_view word(Fidelity f) {
  return f == Fidelity::slurm ? "slurm" : "ideal";
}

std::string_view word(Policy p) {
  if (p == Policy::fcfs) return "fcfs";
  return p == Policy::easy ? "easy" : "conservative";
}

template <class E>
E to_word(const char* field, const py::handle& value, std::initializer_list<E> choices) {
  std::vector<std::string> words;
  std::string list;
  for (const E choice : choices) {
    words.emplace_back(word(choice));
    if (py::str(word(choice)).equal(value)) return choice;
    list += (list.empty() ? "one of " : ", ") + words.back();
  }
  bad_value(field, value, list + did_you_mean(py::str(value), words));
}

template <class T>
T to_number(const char* field, const py::handle& value) {
  try {
    return value.cast<T>();
  } catch (const py::cast_error&) {
    bad_value(field, value, "a whole number of at least 0");
  }
}

/// {"alpha": "-20s"} or one value per cluster in order, counted from t0.
std::vector<SimTime> controller_starts(const py::handle& value, const Scenario& scenario) {
  const std::vector<ClusterModel>& clusters = scenario.model->clusters;
  std::vector<SimTime> out(clusters.size(), kNoTime);
  if (value.is_none()) return {};
  std::vector<std::string> names;
  for (const ClusterModel& c : clusters) names.push_back(c.name);
  for (const auto& [key, start] : value.cast<py::dict>()) {
    const auto it = std::find(names.begin(), names.end(), std::string(py::str(key)));
    if (it == names.end()) {
      bad_value("controller_start", key, "a cluster" + did_you_mean(py::str(key), names));
    }
    out[static_cast<std::size_t>(it - names.begin())] =
        to_instant(start, scenario.trace->t0, "controller_start");
  }
  return out;
}

void set_options(Scenario& scenario, const py::dict& given) {
  RunOptions& o = scenario.options;
  const auto use = [&given](const char* name, auto&& set) {
    if (given.contains(name)) set(py::handle(given[name]));
  };
  use("seed", [&](py::handle v) { o.seed = to_number<std::uint64_t>("seed", v); });
  use("fidelity", [&](py::handle v) {
    o.fidelity = to_word<Fidelity>("fidelity", v, {Fidelity::slurm, Fidelity::ideal});
  });
  use("policy", [&](py::handle v) {
    o.policy = to_word<Policy>("policy", v, {Policy::fcfs, Policy::easy, Policy::conservative});
  });
  use("horizon", [&](py::handle v) {
    o.horizon = v.is_none() ? kEndOfTime : to_instant(v, scenario.trace->t0, "horizon");
  });
  use("controller_start",
      [&](py::handle v) { o.controller_start = controller_starts(v, scenario); });
  use("faults", [&](py::handle v) {
    o.faults.clear();
    for (const py::handle one : v) o.faults.push_back(parse_fault(std::string(py::str(one))));
  });
  use("max_events",
      [&](py::handle v) { o.max_events = to_number<std::uint64_t>("max_events", v); });
  use("audit_every",
      [&](py::handle v) { o.audit_every = to_number<std::uint64_t>("audit_every", v); });
  use("keep_events", [&](py::handle v) { o.keep_events = py::cast<bool>(v); });
  use("keep_placement", [&](py::handle v) { o.keep_placement = py::cast<bool>(v); });
}

/// A Trace, or a sequence of Job objects, which Trace.from_jobs turns into one.
TracePtr to_trace(const py::object& value) {
  if (py::isinstance<Trace>(value)) return value.cast<TracePtr>();
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    return py::type::of<Trace>().attr("from_jobs")(value).cast<TracePtr>();
  }
  throw py::type_error("trace: expected a Trace or a list of Job, not a " +
                       py::type::of(value).attr("__name__").cast<std::string>());
}

void compile_into(PyScenario& s, SpecPtr spec) {
  s.spec = std::move(spec);
  const py::gil_scoped_release released;
  s.scenario.model = compile(*s.spec);
}

PyScenario make_scenario(const py::object& source, const py::object& trace,
                         const py::kwargs& given) {
  check_options("Scenario", given, option_names());
  PyScenario s;
  if (py::isinstance<PyScenario>(source)) {
    s = source.cast<const PyScenario&>();
    if (!trace.is_none()) s.scenario.trace = to_trace(trace);
  } else {
    if (py::isinstance<RecordedScenario>(source)) {
      const auto& recorded = source.cast<const RecordedScenario&>();
      s.scenario.options = recorded.options;
      if (trace.is_none()) s.scenario.trace = std::make_shared<Trace>(recorded.trace);
    }
    if (!trace.is_none()) s.scenario.trace = to_trace(trace);
    SpecPtr spec = to_spec(source);
    if (s.scenario.trace == nullptr) throw py::type_error("Scenario() needs a trace");
    compile_into(s, std::move(spec));
  }
  set_options(s.scenario, given);
  return s;
}

PyScenario replace(const PyScenario& self, const py::kwargs& given) {
  std::vector<std::string> allowed = option_names();
  allowed.insert(allowed.end(), {"spec", "trace"});
  check_options("Scenario.replace", given, allowed);
  PyScenario s = self;
  if (given.contains("trace")) {
    s.scenario.trace = to_trace(given["trace"]);
    // The horizon stays as far from t0 as it was.
    SimTime& horizon = s.scenario.options.horizon;
    if (horizon != kEndOfTime) horizon += s.scenario.trace->t0 - self.scenario.trace->t0;
  }
  if (given.contains("spec")) {
    compile_into(s, to_spec(given["spec"]));
    // Starts are kept by index; a federation of another size draws them anew.
    const std::size_t clusters = s.scenario.model->clusters.size();
    if (s.scenario.options.controller_start.size() > clusters) {
      s.scenario.options.controller_start.resize(clusters);
    }
  }
  set_options(s.scenario, given);
  return s;
}

py::tuple scenario_state(const PyScenario& s) {
  Writer out("RunOptions");
  out(s.scenario.options);
  return py::make_tuple(s.spec, std::const_pointer_cast<Trace>(s.scenario.trace),
                        py::bytes(out.take()));
}

PyScenario scenario_from_state(const py::tuple& state) {
  PyScenario s;
  s.scenario.trace = state[1].cast<TracePtr>();
  compile_into(s, state[0].cast<SpecPtr>());
  const std::string bytes = state[2].cast<py::bytes>();
  Reader in(bytes, "RunOptions");
  in(s.scenario.options);
  return s;
}

/// Progress to Python at most 20 times a second; the GIL is taken only then.
class ProgressCall {
 public:
  explicit ProgressCall(const py::object& callback) : callback_(callback) {}

  bool operator()(const Progress& p) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return true;
    next_ = now + std::chrono::milliseconds(50);
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) return false;
    if (callback_.is_none()) return true;
    try {
      callback_(progress_dict(p));
      return true;
    } catch (py::error_already_set& e) {
      e.restore();  // run() returns with this exception instead of its own
      return false;
    }
  }

 private:
  static py::dict progress_dict(const Progress& p) {
    const double total = to_seconds(p.last - p.first);
    py::dict d;
    d["now_s"] = to_seconds(p.now - p.first);
    d["last_s"] = total;
    d["events"] = p.events;
    d["jobs_done"] = p.jobs_done;
    d["jobs"] = p.jobs;
    d["queued"] = p.queued;
    return d;
  }

  const py::object& callback_;
  std::chrono::steady_clock::time_point next_{};
};

PyResult run_scenario(const PyScenario& self, const py::object& callback) {
  Scenario scenario = self.scenario;
  ProgressCall call(callback);
  scenario.options.progress = [&call](const Progress& p) { return call(p); };
  PyResult out{self.spec, nullptr, {}};
  {
    const py::gil_scoped_release released;
    auto result = std::make_shared<Result>(run(scenario));
    result->scenario.options.progress = nullptr;  // it refers to `call`
    out.result = std::move(result);
  }
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  return out;
}

constexpr const char* kScenarioDoc =
    "Scenario(source, trace=None, *, seed=0, fidelity='slurm', policy='easy', horizon=None,\n"
    "         controller_start=None, faults=(), max_events=0, audit_every=0, keep_events=False,\n"
    "         keep_placement=True)\n\n"
    "One run's input: a federation, compiled here once, a trace and options. Immutable; "
    "pickles.\n\n"
    "`source` is a FederationSpec, a ClusterSpec, a RecordedScenario (then `trace` may be left "
    "out)\n"
    "or another Scenario; `trace` a Trace or a list of Job.\n"
    "`seed`: every draw follows from it. `fidelity`: 'slurm' (slurmctld's loops and latencies) or\n"
    "'ideal' (a decision at every event), the latter with `policy` 'fcfs', 'easy' or\n"
    "'conservative'. `horizon`: the run stops here; a length of time from the trace's t0 ('30d',\n"
    "timedelta, seconds) or an aware datetime. `controller_start`: {cluster: instant}, the phase "
    "of\n"
    "its loops; drawn from the seed where not given. `faults`: texts as\n"
    "'controller:alpha,mtbf=6h,mttr=10m', 'link:alpha/beta,mtbf=1h,mttr=1m', 'slurmdbd,...';\n"
    "'*' is every cluster. `max_events`: 0 is no cap; reaching it is an\n"
    "InputError. No effect on the outcome have `audit_every` (check all invariants after every "
    "n-th\n"
    "event), `keep_events` (fill Result.events) and `keep_placement` (off saves memory).\n\n"
    "Raises InputError with every error of the specification, TypeError for an unknown option.\n\n"
    "Example:\n    >>> import fedsim as fs\n"
    "    >>> fed = fs.Federation.of(a='1x8 a100', b='1x8 a100')\n"
    "    >>> base = fs.Scenario(fed, [fs.Job('J1', gpus=6, time='2h')], seed=7)\n"
    "    >>> base.replace(seed=8).seed\n    8\n";

constexpr const char* kRunDoc =
    "_run(scenario, progress=None)\n--\n\nRuns a Scenario with the GIL released; see fedsim.run().";

void bind_scenario_options(py::class_<PyScenario>& c) {
  c.def_property_readonly(
       "seed", [](const PyScenario& s) { return s.scenario.options.seed; }, "Seed of every draw.")
      .def_property_readonly(
          "fidelity",
          [](const PyScenario& s) { return std::string(word(s.scenario.options.fidelity)); },
          "'slurm' or 'ideal'.")
      .def_property_readonly(
          "policy",
          [](const PyScenario& s) { return std::string(word(s.scenario.options.policy)); },
          "'fcfs', 'easy' or 'conservative'; used by 'ideal' runs.")
      .def_property_readonly(
          "horizon",
          [](const PyScenario& s) {
            return seconds_since(s.scenario.options.horizon, s.scenario.trace->t0);
          },
          "Where the run stops, seconds from the trace's t0; None: never.")
      .def_property_readonly(
          "max_events", [](const PyScenario& s) { return s.scenario.options.max_events; },
          "Most events of a run; 0 is no cap.")
      .def_property_readonly(
          "audit_every", [](const PyScenario& s) { return s.scenario.options.audit_every; },
          "Invariants are checked after every n-th event; 0: at the end.")
      .def_property_readonly(
          "keep_events", [](const PyScenario& s) { return s.scenario.options.keep_events; },
          "Whether Result.events is filled.")
      .def_property_readonly(
          "keep_placement", [](const PyScenario& s) { return s.scenario.options.keep_placement; },
          "Whether node and GPU lists are kept for the tables.")
      .def_property_readonly(
          "controller_start",
          [](const PyScenario& s) {
            py::dict d;
            const std::vector<SimTime>& starts = s.scenario.options.controller_start;
            for (std::size_t i = 0; i < starts.size(); ++i) {
              d[py::str(s.scenario.model->clusters[i].name)] =
                  seconds_since(starts[i], s.scenario.trace->t0);
            }
            return d;
          },
          "Start of each controller, seconds from t0; None where it is drawn from the seed.");
}

}  // namespace

void bind_run(py::module_& m) {
  py::class_<PyScenario> c(m, "Scenario", kScenarioDoc);
  c.def(py::init(&make_scenario), py::arg("source"), py::arg("trace") = py::none())
      .def("replace", &replace,
           "replace(**changes)\n\nA Scenario with `spec`, `trace` or options changed. An unchanged "
           "spec is not\ncompiled again.")
      .def_property_readonly(
          "spec", [](const PyScenario& s) { return s.spec; }, "The FederationSpec.")
      .def_property_readonly(
          "trace",
          [](const PyScenario& s) { return std::const_pointer_cast<Trace>(s.scenario.trace); },
          "The Trace.")
      .def_property_readonly(
          "warnings", [](const PyScenario& s) { return s.scenario.model->warnings; },
          "What compiling found, a list of Diagnostic.")
      .def_property_readonly(
          "model_hash", [](const PyScenario& s) { return s.scenario.model->hash; },
          "Hash over all content of the compiled federation.")
      .def("__repr__",
           [](const PyScenario& s) {
             const RunOptions& o = s.scenario.options;
             return "<Scenario: " + std::to_string(s.scenario.model->clusters.size()) +
                    " clusters, " + std::to_string(s.scenario.trace->jobs.size()) + " jobs, " +
                    std::string(word(o.fidelity)) + ", seed " + std::to_string(o.seed) + ">";
           })
      .def(py::pickle(&scenario_state, &scenario_from_state));
  bind_scenario_options(c);
  m.def(
      "_duration_s",
      [](const py::object& value, const std::string& field) {
        return to_seconds(to_duration(value, field));
      },
      py::arg("value"), py::arg("field"),
      "_duration_s(value, field)\n--\n\nSeconds of a length of time as options take it.");
  m.def("_run", &run_scenario, py::arg("scenario"), py::arg("progress") = py::none(), kRunDoc);
}

}  // namespace fedsim::python
