// Result: tables, summary, populations, files and pictures of one run.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings.hpp"
#include "fields.hpp"

namespace fedsim::python {
namespace {

using Builder = Table (Result::*)() const;

PyTable table(PyResult& self, const char* name, Builder builder) {
  if (const auto it = self.tables.find(name); it != self.tables.end()) return {it->second};
  std::shared_ptr<const Table> made;
  {
    const py::gil_scoped_release released;
    made = std::make_shared<Table>((*self.result.*builder)());
  }
  // Another thread may have been faster; then its table stays.
  return {self.tables.emplace(name, std::move(made)).first->second};
}

py::dict populations(const PyResult& self, const py::object& at) {
  const SimTime t0 = self.result->scenario.trace->t0;
  const Populations p = at.is_none()
                            ? self.result->summary.populations
                            : populations_at(*self.result, t0 + to_duration(at, "at"));
  py::dict d;
  d["jobs"] = p.jobs;
  d["rejected"] = p.rejected;
  std::size_t records = 0;
  for (const auto& [state, n] : p.records) records += n;
  d["records"] = records;
  d["records_by_state"] = p.records;
  d["allocations"] = p.allocations;
  d["distinct_gpus"] = p.distinct_gpus;
  d["gpus_in_fleet"] = p.gpus_in_fleet;
  d["processes"] = p.processes;
  d["process_groups"] = p.process_groups;
  d["largest_group"] = p.largest_group;
  d["naive_gpu_sum"] = p.naive_gpu_sum;
  return d;
}

std::string explain(const PyResult& self, const py::object& job) {
  const Result& r = *self.result;
  if (!r.scenario.options.keep_events)
    throw py::value_error("the run kept no events: run with keep_events=True");
  const std::string text = py::str(job);
  const std::vector<JobId> jobs = find_jobs(r, text);
  if (jobs.empty()) throw py::key_error("no job is called " + text);
  std::string out;
  for (const JobId one : jobs) out += (out.empty() ? "" : "\n") + job_story(r, one);
  return out;
}

TimeStyle time_style(const PyResult& self, const py::object& times) {
  if (times.is_none()) {
    return self.result->scenario.trace->relative_times ? TimeStyle::relative : TimeStyle::iso;
  }
  const std::string word = py::str(times);
  if (word == "relative") return TimeStyle::relative;
  if (word == "iso") return TimeStyle::iso;
  bad_value("times", times, "'relative' or 'iso'");
}

void write(const PyResult& self, const std::filesystem::path& folder, const py::object& times,
           bool events) {
  WriteOptions options;
  options.times = time_style(self, times);
  options.events = events;
  options.command = "Result.write()";
  const py::gil_scoped_release released;
  write_result(*self.result, folder, options);
}

py::object manifest(const PyResult& self) {
  WriteOptions options;
  options.times = time_style(self, py::none());
  return parse_json(manifest_json(*self.result, options));
}

std::string headline(const PyResult& self) {
  const Summary& s = self.result->summary;
  const Populations& p = s.populations;
  std::size_t records = 0;
  for (const auto& [state, n] : p.records) records += n;
  const std::int64_t outside =
      static_cast<std::int64_t>(p.gpus_in_fleet) - static_cast<std::int64_t>(p.distinct_gpus);
  std::string out = std::to_string(p.jobs + p.rejected) + " jobs submitted, " +
                    std::to_string(p.rejected) + " rejected; " + std::to_string(records) +
                    " records, " + std::to_string(p.allocations) + " allocations; " +
                    std::to_string(p.distinct_gpus) + " of " + std::to_string(p.gpus_in_fleet) +
                    " GPUs used, " + std::to_string(outside) + " outside these allocations; ";
  out += std::to_string(p.processes) + " processes in " + std::to_string(p.process_groups) +
         " groups; makespan " + std::to_string(static_cast<std::int64_t>(s.makespan_s)) +
         " s; fingerprint " + hex(s.fingerprint);
  return out;
}

std::string html(const PyResult& self, const py::object& jobs_html) {
  constexpr std::size_t kDrawn = 500;  // more lanes and boxes than this help nobody in a notebook
  std::string out = "<p>" + headline(self) + "</p>" + jobs_html.cast<std::string>();
  if (self.result->allocation_rows.size() <= kDrawn) out += timeline_svg(*self.result);
  return out;
}

py::tuple state(const PyResult& self) {
  const Result& r = *self.result;
  Writer out("Result");
  out(r.job_rows, r.record_rows, r.allocation_rows, r.placements, r.events, r.summary);
  return py::make_tuple(PyScenario{self.spec, r.scenario}, py::bytes(out.take()));
}

PyResult from_state(const py::tuple& state) {
  const auto& scenario = state[0].cast<const PyScenario&>();
  auto made = std::make_shared<Result>();
  made->scenario = scenario.scenario;
  const std::string bytes = state[1].cast<py::bytes>();
  Reader in(bytes, "Result");
  in(made->job_rows, made->record_rows, made->allocation_rows, made->placements, made->events,
     made->summary);
  return PyResult{scenario.spec, std::move(made), {}};
}

constexpr const char* kResultDoc =
    "What a run gives: tables, summary, populations, fingerprint, files. Pickles.\n\n"
    "A job, a record, an allocation, a GPU and a process are five different things; each table\n"
    "counts one of them and nothing joins them by itself.\n\n"
    "Example:\n    >>> import fedsim as fs\n"
    "    >>> fed = fs.Federation.of(a='1x8 a100', b='1x8 a100')\n"
    "    >>> two = [fs.Job('J1', gpus=6, time='2h'), fs.Job('J2', gpus=6, time='2h')]\n"
    "    >>> result = fs.run(fed, two)\n"
    "    >>> result.populations()['records'], result.populations()['allocations']\n"
    "    (4, 2)\n";

void bind_tables(py::class_<PyResult>& c) {
  c.def_property_readonly(
       "jobs", [](PyResult& r) { return table(r, "jobs", &Result::jobs); },
       "One row per submission, a Table.")
      .def_property_readonly(
          "records", [](PyResult& r) { return table(r, "records", &Result::records); },
          "One row per origin or sibling record and per execution, a Table.")
      .def_property_readonly(
          "allocations", [](PyResult& r) { return table(r, "allocations", &Result::allocations); },
          "One row per allocation, a Table.")
      .def_property_readonly(
          "gpus", [](PyResult& r) { return table(r, "gpus", &Result::gpus); },
          "One row per GPU held by an allocation, a Table.")
      .def_property_readonly(
          "processes", [](PyResult& r) { return table(r, "processes", &Result::processes); },
          "One row per application process group, a Table.")
      .def_property_readonly(
          "events", [](PyResult& r) { return table(r, "events", &Result::event_table); },
          "The story, a Table; empty unless the run had keep_events=True.");
}

}  // namespace

void bind_result(py::module_& m) {
  py::class_<PyResult> c(m, "Result", kResultDoc);
  bind_tables(c);
  c.def_property_readonly(
       "scenario",
       [](const PyResult& r) {
         return PyScenario{r.spec, r.result->scenario};
       },
       "The Scenario that was run.")
      .def_property_readonly(
          "summary", [](const PyResult& r) { return parse_json(summary_json(*r.result)); },
          "A dict with the content of summary.json.")
      .def_property_readonly(
          "fingerprint", [](const PyResult& r) { return r.result->summary.fingerprint; },
          "64-bit int over every event; equal for the same version, input, seed.")
      .def_property_readonly("manifest", &manifest,
                             "A dict with the content of manifest.json: version, seed, input and\n"
                             "model hashes, options, what is not modelled.")
      .def(
          "populations", &populations, py::arg("at") = py::none(),
          "populations(at=None)\n\nA dict of how many jobs, records, allocations, distinct GPUs "
          "and processes there were\n(five different things), and naive_gpu_sum, what adding up "
          "record rows would show. With `at` (seconds\nfrom t0, or a timedelta) those then: "
          "job ids not over, records by their state\nthen, allocations that hold GPUs.")
      .def("explain", &explain, py::arg("job"),
           "explain(job)\n\nThe story of a job in words, record by record: submission, copies, "
           "start locks, start,\nrevocations, end, with times; then its records, allocations, "
           "GPUs and processes. `job`: label,\nname, job id or trace id. Needs a run with "
           "keep_events=True. Raises KeyError for a job that\nis not there, ValueError without "
           "events.")
      .def("write", &write, py::arg("folder"), py::kw_only(), py::arg("times") = py::none(),
           py::arg("events") = false,
           "write(folder, *, times=None, events=False)\n\nWrite jobs.csv, records.csv, "
           "allocations.csv, gpus.csv, processes.csv, summary.json\nand manifest.json into "
           "`folder`, "
           "made when missing. `times`: 'relative' (seconds from t0)\nor 'iso'; default as the "
           "trace "
           "has it. `events`: events.csv too. Raises OSError.")
      .def(
          "timeline_svg", [](const PyResult& r) { return timeline_svg(*r.result); },
          "timeline_svg()\n\nSVG text: one lane per GPU, a colour per job.")
      .def(
          "timeline_png",
          [](const PyResult& r, int width) { return py::bytes(timeline_png(*r.result, width)); },
          py::arg("width") = 1600, "timeline_png(width=1600)\n\nThe same picture as PNG bytes.")
      .def("__repr__", [](const PyResult& r) { return "<Result: " + headline(r) + ">"; })
      .def(
          "_repr_html_",
          [](py::object self) {
            const py::object jobs = self.attr("jobs").attr("_repr_html_")();
            return html(self.cast<const PyResult&>(), jobs);
          },
          "Headline, jobs table and timeline, for notebooks.")
      .def(py::pickle(&state, &from_state));
}

}  // namespace fedsim::python
