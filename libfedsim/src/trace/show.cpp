// `fedsim trace show`: normalised accounting jobs as JSON (contract section 7), and the choice of
// a reader from the content.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "trace/inventory.hpp"
#include "trace/readers.hpp"
#include "trace/sacct.hpp"

namespace fedsim {
namespace sacct {
namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

// 60 and not 60.0, where a number is whole.
ordered_json number(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  if (static_cast<double>(whole) == value) return whole;
  return value;
}

ordered_json number(const std::optional<double>& value) {
  return value ? number(*value) : ordered_json();
}

void put_time(ordered_json& job, const char* key, const std::optional<Instant>& time) {
  job[key] = time ? ordered_json(format_civil(time->local)) : ordered_json();
  job[std::string(key) + "_epoch"] = time ? ordered_json(time->epoch) : ordered_json();
}

void put_ids(ordered_json& job, const Record& r) {
  job["id"] = r.id;
  job["cluster"] = r.cluster.empty() ? ordered_json() : ordered_json(r.cluster);
  job["array_job"] = r.array_job > 0 ? ordered_json(r.array_job) : ordered_json();
  job["array_task"] = r.array_task >= 0 ? ordered_json(r.array_task) : ordered_json();
  if (r.is_bracket) {
    job["tasks"] = r.tasks.size();
    job["first"] = r.tasks.front();
    job["last"] = r.tasks.back();
    job["task_list"] = r.tasks;
    job["throttle"] = or_null(r.throttle);
  }
  job["het_job"] = r.het_job > 0 ? ordered_json(r.het_job) : ordered_json();
  job["het_offset"] = r.het_offset >= 0 ? ordered_json(r.het_offset) : ordered_json();
  job["fed_cluster"] = r.fed_cluster();
  job["fed_local"] = r.id & kMaxLocalJobId;
}

void put_times(ordered_json& job, const Record& r) {
  put_time(job, "submit", r.submit);
  put_time(job, "eligible", r.eligible);
  put_time(job, "start", r.ran ? r.start : std::nullopt);
  put_time(job, "end", r.end);
  job["elapsed_s"] = number(r.elapsed_s);
  job["suspended_s"] = number(r.suspended_s);
  // Waiting counts from when the job could have started, not from when it was submitted.
  const std::optional<Instant>& from = r.eligible ? r.eligible : r.submit;
  const bool waited = r.ran && r.start && from;
  job["wait_s"] = waited ? ordered_json(std::max<std::int64_t>(0, r.start->epoch - from->epoch))
                         : ordered_json();
  job["hold_s"] = r.eligible && r.submit
                      ? ordered_json(std::max<std::int64_t>(0, r.eligible->epoch - r.submit->epoch))
                      : ordered_json();
  job["timelimit_s"] = r.limit == LimitKind::seconds ? number(r.limit_s) : ordered_json();
  job["timelimit"] = r.limit == LimitKind::unlimited   ? ordered_json("unlimited")
                     : r.limit == LimitKind::partition ? ordered_json("partition")
                                                       : ordered_json();
}

ordered_json nodes_n(const Record& r) {
  if (!r.nodes.empty()) return r.nodes.size();
  if (r.alloc.node) return *r.alloc.node;
  return r.ran ? or_null(r.nnodes) : ordered_json(0);
}

void put_sizes(ordered_json& job, const Record& r) {
  static constexpr const char* kPer[] = {"job", "node", "cpu"};
  job["cpus"] = or_null(r.cpus);
  job["req_cpus"] = or_null(r.req_cpus);
  job["cpu_used_s"] = number(r.cpu_used_s);
  job["cpu_alloc_s"] = number(r.cpu_alloc_s);
  job["mem_mb"] = r.mem ? number(r.mem->mib) : ordered_json();
  job["mem_per"] = r.mem ? ordered_json(kPer[static_cast<int>(r.mem->per)]) : ordered_json();
  job["mem_total_mb"] = number(r.mem_total_mib());
  if (r.mem && r.mem->whole) job["whole_node_memory"] = true;
  job["gpus"] = r.alloc.gpus;
  job["gpu_types"] = ordered_json::object();
  for (const auto& [type, count] : r.alloc.gpu_types) job["gpu_types"][type] = count;
  job["req_gpus"] = r.has_req ? ordered_json(r.req.gpus) : ordered_json();
  job["nodes"] = r.nodes;
  job["nodes_n"] = nodes_n(r);
  job["req_nodes"] = or_null(r.req_nodes);
  job["billing"] = or_null(r.alloc.billing);
  job["energy_j"] = or_null(r.alloc.energy);
  job["looks_exclusive"] = r.looks_exclusive();
}

ordered_json to_json(const Job& j) {
  const Record& r = j.last;
  ordered_json job;
  put_ids(job, r);
  job["state"] = r.state;
  job["final_state"] = r.state;
  job["flags"] = r.flags;
  job["cancelled_by"] = or_null(r.cancelled_by);
  job["exit_code"] = r.exit_code;
  put_times(job, r);
  put_sizes(job, r);
  job["ran"] = r.ran;
  job["finished"] = r.finished();
  job["runs"] = j.run_seconds.size();
  job["run_seconds"] = ordered_json::array();
  for (const double s : j.run_seconds) job["run_seconds"].push_back(number(s));
  put_time(job, "first_submit", j.first_submit);
  job["origin"] = r.fed_cluster() > 0 ? ordered_json(r.fed_cluster()) : ordered_json();
  job["ran_on"] = r.ran && !r.cluster.empty() ? ordered_json(r.cluster) : ordered_json();
  job["siblings"] = j.siblings;
  job["partition"] = r.partition;
  job["partitions"] = split_list(r.partition);
  job["qos"] = r.qos;
  job["account"] = r.account;
  job["user"] = r.user;
  job["name"] = r.name;
  if (!r.submit_line.empty()) job["submit_line"] = r.submit_line;
  return job;
}

struct Totals {
  std::size_t ran = 0;
  std::size_t tasks = 0;
  std::set<std::pair<std::string, std::int64_t>> het_groups;
  std::map<std::string, std::size_t> states;
};

std::string dump_json(const ordered_json& value) {
  // Names in a dump may be cut inside a character; the rest is kept byte for byte.
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string summary_of(const Dump& dump, const Totals& totals, const Trace& trace,
                       const ReadOptions& options) {
  ordered_json s;
  s["format"] = "sacct";
  s["rows"] = dump.rows;
  s["jobs"] = dump.jobs.size();
  s["steps"] = dump.steps;
  s["folded"] = dump.folded;
  s["broken"] = dump.broken;
  s["messages"] = dump.messages;
  s["rejected"] = trace.report.rejected;
  s["zone"] = options.zone.empty() ? "UTC (assumed where times have no offset)" : options.zone;
  s["total_tasks"] = totals.tasks;
  s["jobs_that_ran"] = totals.ran;
  s["het_groups"] = totals.het_groups.size();
  s["states"] = ordered_json::object();
  for (const auto& [state, count] : totals.states) s["states"][state] = count;
  s["replayed"] = trace.jobs.size();
  s["replay_notes"] = ordered_json::array();
  for (const Diagnostic& d : trace.report.warnings) {
    if (d.code == "C059") s["replay_notes"].push_back(d.message);
  }
  s["warnings"] = ordered_json::array();
  for (const Diagnostic& d : dump.warnings) {
    s["warnings"].push_back({{"line", d.line}, {"message", d.message}});
  }
  return dump_json({{"summary", s}});
}

}  // namespace

std::string show_dump(const Dump& dump, const std::string& file, const ReadOptions& options,
                      const NormalisedJob& sink) {
  Totals totals;
  for (const Job& job : dump.jobs) {
    const Record& r = job.last;
    totals.ran += r.ran;
    // Bracket rows are tasks not yet split off; a plain job is no task.
    totals.tasks += r.is_bracket ? r.tasks.size() : (r.array_task >= 0 ? 1 : 0);
    if (r.het_job > 0) totals.het_groups.emplace(r.cluster, r.het_job);
    ++totals.states[r.state];
    if (sink) sink(dump_json(to_json(job)));
  }
  return summary_of(dump, totals, to_trace(dump, file, options), options);
}

}  // namespace sacct

namespace {

// The first line that is neither blank nor a message of sacct.
std::string_view first_line(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = trim(rest.substr(0, end));
    if (!line.empty() && !line.starts_with("sacct: ") && !line.starts_with("slurm_")) return line;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return {};
}

bool looks_like_swf(std::string_view line) {
  if (line.starts_with(';')) return true;
  return !line.empty() && line.find_first_not_of("0123456789+-. \t") == std::string_view::npos &&
         line.find_first_of(" \t") != std::string_view::npos;
}

}  // namespace

TraceFormat guess_format(const Input& input, const ReadOptions& options) {
  if (options.format == "swf") return TraceFormat::swf;
  if (options.format == "sacct") return TraceFormat::sacct;
  if (options.format == "sacct-json") return TraceFormat::sacct_json;
  if (!options.format.empty()) {
    throw InputError({Severity::error, "C051", input.name, 0,
                      "trace format \"" + options.format + "\" is not read",
                      "formats: sacct, sacct-json, swf"});
  }
  const std::string_view line = first_line(input.text);
  if (line.empty()) {
    throw InputError({Severity::error, "C051", input.name, 0, "no rows in this trace", ""});
  }
  if (line.starts_with('{')) return TraceFormat::sacct_json;
  const bool named = !options.columns.empty() || !options.delimiter.empty();
  if (named || sacct::looks_like_header(line)) return TraceFormat::sacct;
  return looks_like_swf(line) ? TraceFormat::swf : TraceFormat::sacct;
}

std::string show_trace(const std::filesystem::path& path, const ReadOptions& options,
                       const NormalisedJob& sink) {
  const Input input = read_input(path);
  if (options.format.empty() && is_inventory(first_line(input.text))) return show_inventory(input);
  switch (guess_format(input, options)) {
    case TraceFormat::swf: return show_swf(input, options, sink);
    case TraceFormat::sacct: return show_sacct(input, options, sink);
    case TraceFormat::sacct_json: return show_sacct_json(input, options, sink);
  }
  return {};
}

}  // namespace fedsim
