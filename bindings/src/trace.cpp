// Traces: readers, the generator, jobs made in Python, and recorded scenario folders.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings.hpp"
#include "fedsim/scenario.hpp"
#include "fields.hpp"
#include "trace_ops.hpp"

namespace fedsim::python {
namespace {

/// "A,B" from a list of names, or the text itself.
std::string joined(const py::object& columns) {
  if (columns.is_none()) return "";
  if (py::isinstance<py::str>(columns)) return columns.cast<std::string>();
  return py::str(",").attr("join")(columns).cast<std::string>();
}

ReadOptions read_options(const std::string& callee, const py::kwargs& given, std::string format,
                         const std::vector<std::string>& allowed) {
  check_options(callee, given, allowed);
  auto text = [&given](const char* name) {
    return given.contains(name) ? joined(given[name]) : std::string();
  };
  ReadOptions out;
  out.format = format.empty() ? text("format") : std::move(format);
  out.delimiter = text("delimiter");
  out.columns = text("columns");
  out.zone = text("utc_offset");
  out.cluster = text("cluster");
  return out;
}

using Reader_ = Trace (*)(const std::filesystem::path&, const ReadOptions&);

TracePtr read_with(Reader_ reader, const std::filesystem::path& path, const ReadOptions& options) {
  const py::gil_scoped_release released;
  return std::make_shared<Trace>(reader(path, options));
}

void bind_readers(py::module_& m) {
  m.def(
      "read_sacct",
      [](const std::filesystem::path& path, const py::kwargs& given) {
        const std::vector<std::string> allowed{"utc_offset", "delimiter", "columns", "cluster"};
        return read_with(&read_sacct, path, read_options("read_sacct", given, "sacct", allowed));
      },
      py::arg("path"),
      "read_sacct(path, *, utc_offset='', delimiter='', columns='', cluster='')\n\n"
      "Read what ``sacct -P -D`` printed (.gz and .xz are unpacked).\n\n"
      "`utc_offset` ('+01:00', 'UTC' or an IANA name) is the zone of times without one; "
      "`delimiter`\n"
      "and `columns` (text or a list) are for dumps without a header; `cluster` is the origin of\n"
      "every job when the dump names none. Raises InputError with every bad row, or OSError.\n\n"
      "Example:\n    trace = fedsim.read_sacct('dump.psv', utc_offset='+00:00')\n");
  m.def(
      "read_swf",
      [](const std::filesystem::path& path, const py::kwargs& given) {
        return read_with(&read_swf, path, read_options("read_swf", given, "swf", {"cluster"}));
      },
      py::arg("path"),
      "read_swf(path, *, cluster='')\n\n"
      "Read a trace in the Standard Workload Format; a processor is one unit of a machine().\n\n"
      "Raises InputError or OSError.\n\nExample:\n    trace = fedsim.read_swf('load.swf.gz')\n");
  m.def(
      "read_trace",
      [](const std::filesystem::path& path, const py::kwargs& given) {
        const std::vector<std::string> allowed{"format", "utc_offset", "delimiter", "columns",
                                               "cluster"};
        return read_with(&read_trace, path, read_options("read_trace", given, "", allowed));
      },
      py::arg("path"),
      "read_trace(path, *, format='', utc_offset='', delimiter='', columns='', cluster='')\n\n"
      "Read a trace of any supported format ('sacct', 'swf', ...); '' guesses from the content.\n\n"
      "Raises InputError, also when the guess is ambiguous, or OSError.\n\n"
      "Example:\n    trace = fedsim.read_trace('jobs.csv', format='philly')\n");
}

constexpr const char* kSynthDoc =
    "synth(*, jobs=1000, seed=0, mean_interarrival_s=60, daily_cycle=False,\n"
    "      runtime_median_s=1200, runtime_sigma=1.5, runtime_min_s=30, runtime_max_s=86400,\n"
    "      limit_over_max=5, max_units=64, size_decay=0.75, users=16, clusters=(),\n"
    "      gpu_types={}, gpus_per_node=8, cpus_per_gpu=4)\n\n"
    "A synthetic trace. Same values and seed, same trace.\n\n"
    "Arrivals are Poisson (`mean_interarrival_s`, with `daily_cycle` following the hour), run "
    "times\n"
    "lognormal, sizes powers of two up to `max_units` with P(2^k) ~ `size_decay`^k. `clusters` "
    "are\n"
    "the origins, drawn evenly; `gpu_types` maps type to weight (empty: units are CPUs).\n"
    "Raises InputError, or TypeError naming an unknown option.\n\n"
    "Example:\n    >>> import fedsim as fs\n"
    "    >>> len(fs.synth(jobs=10, seed=1))\n    10\n";

void bind_trace_class(py::module_& m) {
  py::class_<Trace, TracePtr>(
      m, "Trace",
      "Jobs in order of submission and timed operations on them; immutable.\n\n"
      "Made by read_sacct(), read_swf(), read_trace(), read_scenario(), synth() or "
      "Trace.from_jobs().\n"
      "``len()`` is the number of jobs, ``trace[i]`` one of them as a dict. Pickles compactly.\n\n"
      "Example:\n    >>> import fedsim as fs\n"
      "    >>> trace = fs.Trace.from_jobs([fs.Job('J1', gpus=6, time='2h')])\n"
      "    >>> trace[0]['label'], trace[0]['run_s']\n    ('J1', 7200.0)\n")
      .def("__len__", [](const Trace& t) { return t.jobs.size(); })
      .def("__getitem__", &trace_job)
      .def_property_readonly(
          "operations_n", [](const Trace& t) { return t.operations.size(); },
          "Number of timed operations (scancel, requeue, ...).")
      .def_property_readonly(
          "t0", [](const Trace& t) { return to_datetime(t.t0); },
          "Instant (UTC datetime) that relative times count from.")
      .def_property_readonly(
          "relative_times", [](const Trace& t) { return t.relative_times; },
          "Whether files are written with times relative to t0 by default.")
      .def_property_readonly("report", &trace_report,
                             "What reading met: dict of rows, steps, folded, rejected, warnings.")
      .def("__repr__",
           [](const Trace& t) {
             return "<Trace of " + std::to_string(t.jobs.size()) + " jobs, " +
                    std::to_string(t.operations.size()) + " operations>";
           })
      .def_static("_from_requests", &trace_from_requests, py::arg("requests"))
      .def_static(
          "from_jobs",
          [](const py::object& jobs) {
            return py::module_::import("fedsim._jobs").attr("trace_from_jobs")(jobs);
          },
          py::arg("jobs"),
          "from_jobs(jobs)\n\nA Trace of Job objects. Raises InputError with the findings of all.")
      .def(py::pickle([](const Trace& t) { return py::bytes(pickle_trace(t)); },
                      [](const py::bytes& bytes) { return unpickle_trace(std::string(bytes)); }));
  m.def("synth", &synth_trace, kSynthDoc);
  m.def(
      "merge",
      [](const std::vector<TracePtr>& traces) {
        std::vector<Trace> copies;
        for (const TracePtr& t : traces) copies.push_back(*t);
        return std::make_shared<Trace>(merge(copies));
      },
      py::arg("traces"),
      "merge(traces)\n--\n\nJobs of several traces on one time line, in order of submission.\n\n"
      "Example:\n    >>> import fedsim as fs\n"
      "    >>> len(fs.merge([fs.synth(jobs=3), fs.synth(jobs=4, seed=1)]))\n    7\n");
}

void bind_recorded(py::module_& m) {
  using R = RecordedScenario;
  py::class_<R, std::shared_ptr<R>>(
      m, "RecordedScenario",
      "A recorded scenario folder as read_scenario() reads it, before it is compiled.\n\n"
      "Give it to Scenario() or run(): its trace, recorded controller starts and passes, and "
      "horizon\n"
      "come along.\n")
      .def_readonly("name", &R::name, "Name in scenario.json.")
      .def_readonly("description", &R::description, "One line of what is tried.")
      .def_property_readonly(
          "spec", [](const R& r) { return r.spec; }, "The FederationSpec.")
      .def_property_readonly(
          "trace", [](const R& r) { return std::make_shared<Trace>(r.trace); },
          "The Trace, a copy.")
      .def_property_readonly(
          "warnings", [](const R& r) { return r.warnings; },
          "Findings that did not stop the reading, a list of Diagnostic.")
      .def("__repr__", [](const R& r) {
        return "<RecordedScenario '" + r.name + "': " + std::to_string(r.spec.clusters.size()) +
               " clusters, " + std::to_string(r.trace.jobs.size()) + " jobs>";
      });
  m.def(
      "read_scenario",
      [](const std::filesystem::path& folder) {
        const py::gil_scoped_release released;
        return std::make_shared<R>(read_scenario(folder));
      },
      py::arg("folder"),
      "read_scenario(folder)\n--\n\n"
      "Read a recorded scenario: a folder with scenario.json, clusters/NAME/ and setup.jsonl.\n\n"
      "What happened (runN/) is never read. Returns a RecordedScenario. Raises InputError with "
      "every\n"
      "operation and option that is not modelled, or OSError.\n\n"
      "Example:\n    result = fedsim.run(fedsim.read_scenario('traces/first-federation'))\n");
}

}  // namespace

void bind_trace(py::module_& m) {
  bind_trace_class(m);
  bind_readers(m);
  bind_recorded(m);
}

}  // namespace fedsim::python
