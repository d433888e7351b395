// Traces made from Python values, looked at as dicts, and pickled.
#include "trace_ops.hpp"

#include <pybind11/stl.h>

#include "fields.hpp"

namespace fedsim::python {
namespace {

std::string text_of(const Trace& trace, StringId id) {
  return std::string(trace.strings.view(id));
}

std::string_view outcome_word(Outcome outcome) {
  switch (outcome) {
    case Outcome::completed:
      return "completed";
    case Outcome::failed:
      return "failed";
    case Outcome::cancelled:
      return "cancelled";
    case Outcome::node_fail:
      return "node_fail";
    case Outcome::out_of_memory:
      return "out_of_memory";
    case Outcome::timeout:
      return "timeout";
  }
  return "completed";
}

Outcome to_outcome(const py::handle& value, const std::string& field) {
  const std::string word = py::str(value);
  for (const Outcome o : {Outcome::completed, Outcome::failed, Outcome::cancelled,
                          Outcome::node_fail, Outcome::out_of_memory, Outcome::timeout}) {
    if (word == outcome_word(o)) return o;
  }
  bad_value(field, value, "one of completed, failed, cancelled, node_fail, out_of_memory, timeout");
}

/// GPUs of a request for people: per job if so asked, else per node or task times how many.
std::int64_t gpus_asked(const ResourceRequest& r) {
  auto sum = [](const std::vector<GresRequest>& list) {
    std::int64_t n = 0;
    for (const GresRequest& g : list) n += g.name == "gpu" ? g.count : 0;
    return n;
  };
  if (const std::int64_t n = sum(r.gres_per_job); n > 0) return n;
  if (const std::int64_t n = sum(r.gres_per_node); n > 0) return n * std::max(1, r.nodes_min);
  return sum(r.gres_per_task) * std::max(1, r.ntasks);
}

/// Sets what sbatch's words do not say.
void set_extras(Trace& trace, JobSpec& job, const py::dict& request, const std::string& label) {
  job.label = trace.strings.intern(label);
  auto text = [&](const char* key, StringId& out) {
    if (request.contains(key)) out = trace.strings.intern(request[key].cast<std::string>());
  };
  text("at", job.origin);
  text("user", job.user);
  job.submit = trace.t0;
  if (request.contains("submit")) {
    job.submit = to_instant(request["submit"], trace.t0, label + ": submit");
  }
  // --begin is an offset from the submission.
  if (job.begin != kNoTime) job.begin = job.submit + job.begin.time_since_epoch();
  if (request.contains("cancel")) {
    job.cancel = to_instant(request["cancel"], trace.t0, label + ": cancel");
  }
  if (request.contains("run")) job.run = to_duration(request["run"], label + ": run");
  if (request.contains("run_is_elapsed")) {
    job.run_is_elapsed = request["run_is_elapsed"].cast<bool>();
  }
  if (request.contains("outcome")) {
    job.outcome = to_outcome(request["outcome"], label + ": outcome");
  }
}

template <class T>
void take(const py::dict& given, const char* name, T& out) {
  if (!given.contains(name)) return;
  try {
    out = given[name].cast<T>();
  } catch (const py::cast_error&) {
    bad_value(std::string("synth: ") + name, given[name], "a value of its type");
  }
}

}  // namespace

py::dict trace_job(const Trace& trace, std::int64_t index) {
  const std::int64_t n = static_cast<std::int64_t>(trace.jobs.size());
  if (index < 0) index += n;
  if (index < 0 || index >= n) throw py::index_error("trace has " + std::to_string(n) + " jobs");
  const JobSpec& job = trace.jobs[static_cast<std::size_t>(index)];
  const ResourceRequest& request = trace.requests[job.request];
  py::dict d;
  d["label"] = text_of(trace, job.label);
  d["name"] = text_of(trace, job.name);
  d["trace_id"] = job.trace_id;
  d["origin"] = text_of(trace, job.origin);
  d["user"] = text_of(trace, job.user);
  d["account"] = text_of(trace, job.account);
  d["partition"] = text_of(trace, job.partition);
  d["qos"] = text_of(trace, job.qos);
  d["clusters"] = text_of(trace, job.clusters);
  d["submit_s"] = seconds_since(job.submit, trace.t0);
  d["begin_s"] = seconds_since(job.begin, trace.t0);
  d["run_s"] = to_seconds(job.run);
  d["limit_s"] = job.limit_s >= 0 ? py::object(py::int_(job.limit_s)) : py::none();
  d["nodes"] = request.nodes_min;
  d["ntasks"] = request.ntasks;
  d["cpus_per_task"] = request.cpus_per_task;
  d["gpus"] = gpus_asked(request);
  d["outcome"] = std::string(outcome_word(job.outcome));
  return d;
}

py::dict trace_report(const Trace& trace) {
  py::dict d;
  d["rows"] = trace.report.rows;
  d["steps"] = trace.report.steps;
  d["folded"] = trace.report.folded;
  d["rejected"] = trace.report.rejected;
  d["warnings"] = trace.report.warnings;
  return d;
}

TracePtr synth_trace(const py::kwargs& given) {
  check_options("synth", given,
                {"jobs", "seed", "mean_interarrival_s", "daily_cycle", "runtime_median_s",
                 "runtime_sigma", "runtime_min_s", "runtime_max_s", "limit_over_max", "max_units",
                 "size_decay", "users", "clusters", "gpu_types", "gpus_per_node", "cpus_per_gpu"});
  SynthOptions o;
  take(given, "jobs", o.jobs);
  take(given, "seed", o.seed);
  take(given, "mean_interarrival_s", o.mean_interarrival_s);
  take(given, "daily_cycle", o.daily_cycle);
  take(given, "runtime_median_s", o.runtime_median_s);
  take(given, "runtime_sigma", o.runtime_sigma);
  take(given, "runtime_min_s", o.runtime_min_s);
  take(given, "runtime_max_s", o.runtime_max_s);
  take(given, "limit_over_max", o.limit_over_max);
  take(given, "max_units", o.max_units);
  take(given, "size_decay", o.size_decay);
  take(given, "users", o.users);
  take(given, "clusters", o.clusters);
  // Order matters to the draws, so it stays as given.
  if (given.contains("gpu_types")) {
    for (const auto& [type, weight] : py::dict(given["gpu_types"])) {
      o.gpu_types.emplace_back(py::str(type), weight.cast<double>());
    }
  }
  take(given, "gpus_per_node", o.gpus_per_node);
  take(given, "cpus_per_gpu", o.cpus_per_gpu);
  const py::gil_scoped_release released;
  return std::make_shared<Trace>(synth(o));
}

TracePtr trace_from_requests(const py::list& requests) {
  auto trace = std::make_shared<Trace>();
  // A day far from the epoch, so that nothing happens near time zero.
  trace->t0 = SynthOptions{}.start;
  trace->relative_times = true;
  std::vector<Diagnostic> wrong;
  for (const py::handle item : requests) {
    const auto request = item.cast<py::dict>();
    const std::string label = request["label"].cast<std::string>();
    const auto argv = request["argv"].cast<std::vector<std::string>>();
    ParsedRequest parsed = parse_sbatch(argv, trace->strings);
    for (Diagnostic& d : parsed.diagnostics) {
      if (d.severity != Severity::error) continue;
      d.message = "job " + label + ": " + d.message;
      wrong.push_back(std::move(d));
    }
    set_extras(*trace, parsed.job, request, label);
    parsed.job.trace_id = static_cast<std::int64_t>(trace->jobs.size()) + 1;
    parsed.job.request = trace->intern_request(parsed.request);
    trace->add(parsed.job, parsed.array_tasks);
  }
  if (!wrong.empty()) throw InputError(std::move(wrong));
  trace->finish();
  return trace;
}

std::string pickle_trace(const Trace& trace) {
  Writer out("Trace");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < trace.strings.size(); ++i) {
    texts.emplace_back(trace.strings.view(StringId{i}));
  }
  out(texts, trace.requests, trace.jobs, trace.operations, trace.t0, trace.relative_times,
      trace.report);
  return out.take();
}

TracePtr unpickle_trace(std::string_view bytes) {
  auto trace = std::make_shared<Trace>();
  Reader in(bytes, "Trace");
  std::vector<std::string> texts;
  std::vector<ResourceRequest> requests;
  in(texts, requests, trace->jobs, trace->operations, trace->t0, trace->relative_times,
     trace->report);
  // Texts were interned in this order, so they get their ids again.
  for (const std::string& text : texts) trace->strings.intern(text);
  for (const ResourceRequest& request : requests) trace->requests.push_back(request);
  for (const JobSpec& job : trace->jobs) {
    if (job.request >= requests.size()) throw std::invalid_argument("pickled trace is damaged");
  }
  return trace;
}

}  // namespace fedsim::python
