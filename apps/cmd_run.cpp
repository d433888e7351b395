// fedsim run: simulates a study, prints what came out, and writes the files of contract section 4.
#include <cstdio>
#include <memory>

#include "fedsim/scenario.hpp"
#include "inputs.hpp"

namespace fedsim::apps {
namespace {

struct RunFlags {
  StudyFlags study;
  std::string out;
  std::string times;
  std::string timeline;
  std::string format;
  bool events = false;
};

constexpr std::size_t kJobsShown = 30;

std::string cell(const Column& column, std::size_t row) {
  if (column.is_null(row)) return "-";
  if (column.schema().type == ColumnType::text) return std::string(column.text_at(row));
  return std::to_string(column.int_at(row));
}

std::string instant(const Column& column, std::size_t row, const Trace& trace) {
  if (column.is_null(row)) return "-";
  const double seconds = to_seconds(SimTime{Duration{column.int_at(row)}} - trace.t0);
  return clock_text(seconds);
}

std::string job_table(const Result& result) {
  const Trace& trace = *result.scenario.trace;
  const Table jobs = result.jobs();
  std::vector<std::vector<std::string>> rows{
      {"JOBID", "NAME", "ORIGIN", "RAN", "STATE", "GPUS", "WAIT", "START", "END", "REASON"}};
  for (std::size_t i = 0; i < jobs.rows(); ++i) {
    const Column& wait = jobs["wait"];
    const Column& label = jobs["label"];
    rows.push_back({cell(jobs["jobid"], i), cell(label.is_null(i) ? jobs["name"] : label, i),
                    cell(jobs["origin"], i), cell(jobs["cluster"], i), cell(jobs["state"], i),
                    cell(jobs["gpus"], i),
                    wait.is_null(i) ? "-" : clock_text(static_cast<double>(wait.int_at(i)) / 1e9),
                    instant(jobs["start"], i, trace), instant(jobs["end"], i, trace),
                    cell(jobs["reason"], i)});
  }
  return text_table(rows, {true, false, false, false, false, true, true, true, true, false});
}

std::string state_counts(const Result& result) {
  std::map<std::string, std::size_t> counts;
  for (const JobRow& job : result.job_rows) ++counts[std::string(to_string(job.state))];
  std::string out;
  for (const auto& [state, n] : counts) {
    out += (out.empty() ? "" : ", ") + std::to_string(n) + " " + state;
  }
  return out;
}

std::string wall_text(double seconds) {
  return seconds < 1 ? short_number(seconds * 1000, 1) + " ms" : short_number(seconds, 1) + " s";
}

std::string populations_text(const Result& result) {
  const Populations& p = result.summary.populations;
  std::size_t records = 0;
  std::string states;
  for (const auto& [state, n] : p.records) {
    records += n;
    states += (states.empty() ? "" : ", ") + std::to_string(n) + " " + state;
  }
  std::string out = "jobs         " + std::to_string(p.jobs) + " accepted, " +
                    std::to_string(p.rejected) + " rejected\n";
  out +=
      "records      " + std::to_string(records) + (records > 0 ? " (" + states + ")" : "") + "\n";
  out += "allocations  " + std::to_string(p.allocations) + "\n";
  if (p.gpus_in_fleet > 0) {
    out += "GPUs         " + std::to_string(p.distinct_gpus) + " distinct held, of " +
           std::to_string(p.gpus_in_fleet) + " in the fleet";
    if (static_cast<std::size_t>(p.naive_gpu_sum) > p.distinct_gpus) {
      out += "; adding up every queue row would show " + std::to_string(p.naive_gpu_sum);
    }
    out += "\n";
  }
  return out + "processes    " + std::to_string(p.processes) + " in " +
         std::to_string(p.process_groups) + " groups, the largest of " +
         std::to_string(p.largest_group) + "\n";
}

std::string summary_text(const Result& result, const std::string& name) {
  const Summary& s = result.summary;
  std::string out = name + ": " + std::to_string(result.job_rows.size()) +
                    " jobs submitted: " + state_counts(result) + "; simulated " +
                    clock_text(s.makespan_s) + " in " + wall_text(s.wall_s) + "\n";
  if (result.job_rows.size() <= kJobsShown && !result.job_rows.empty()) {
    out += "\n" + job_table(result);
  }
  out += "\n" + populations_text(result);
  const WaitStats& w = s.wait_s;
  out += "wait         mean " + clock_text(w.mean) + ", p50 " + clock_text(w.p50) + ", p90 " +
         clock_text(w.p90) + ", p95 " + clock_text(w.p95) + ", longest " + clock_text(w.max) + "\n";
  out += "held         ";
  if (s.populations.gpus_in_fleet > 0) out += short_number(s.gpu_hours, 2) + " GPU-hours, ";
  out += short_number(s.cpu_hours, 2) + " CPU-hours; utilisation " +
         short_number(100 * s.utilisation, 1) + " %\n";
  char fingerprint[20];
  std::snprintf(fingerprint, sizeof fingerprint, "%016llx",
                static_cast<unsigned long long>(s.fingerprint));
  return out + "fingerprint  " + fingerprint + " over " + std::to_string(s.events) + " events\n";
}

bool ends_with(const std::string& text, const std::string& tail) {
  return text.size() >= tail.size() &&
         text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

void check_timeline_name(const std::string& file) {
  if (file.empty() || ends_with(file, ".svg") || ends_with(file, ".png")) return;
  throw InputError({Severity::error, "C133", "", 0, "--timeline " + file, "name it .svg or .png"});
}

TimeStyle time_style(const RunFlags& flags, const Trace& trace) {
  if (flags.times.empty()) return trace.relative_times ? TimeStyle::relative : TimeStyle::iso;
  return flags.times == "relative" ? TimeStyle::relative : TimeStyle::iso;
}

std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_of(" \t\"'\\$;&|<>*?()[]{}") == std::string::npos)
    return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The command that makes the same result again: what was asked for, not where it is written.
std::string command_text(const RunFlags& flags, const Context& context) {
  const StudyFlags& s = flags.study;
  std::string out = "fedsim run";
  const auto add = [&out](const char* option, const std::string& value) {
    if (!value.empty()) out += std::string(" ") + option + " " + quoted(value);
  };
  if (!s.study.empty()) out += " " + quoted(s.study);
  for (const std::string& c : s.clusters) add("--cluster", c);
  add("--machine", s.machine);
  for (const std::string& t : s.traces) add("--trace", t);
  add("--from", s.from);
  add("--delimiter", s.delimiter);
  add("--columns", s.columns);
  add("--zone", s.zone);
  add("--fidelity", s.fidelity);
  add("--policy", s.policy);
  for (const std::string& v : s.sets) add("--set", v);
  add("--horizon", s.horizon);
  return out + " --seed " + std::to_string(context.seed);
}

void write_files(const RunFlags& flags, const Study& study, const Result& result,
                 const Context& context) {
  if (!flags.out.empty()) {
    WriteOptions options;
    options.times = time_style(flags, *result.scenario.trace);
    options.events = flags.events;
    options.inputs = study.inputs;
    options.command = command_text(flags, context);
    options.warnings = study.warnings;
    write_result(result, flags.out, options);
    say(context, "wrote " + flags.out);
  }
  if (!flags.timeline.empty()) {
    const bool png = ends_with(flags.timeline, ".png");
    write_file(flags.timeline, png ? timeline_png(result) : timeline_svg(result));
    say(context, "wrote " + flags.timeline);
  }
}

void run_study(const RunFlags& flags, const Context& context) {
  check_timeline_name(flags.timeline);
  Study study = build_study(flags.study, context);
  say_warnings(context, study.warnings, 10);
  ProgressLine line(context);
  Scenario scenario = study.scenario;
  scenario.options.keep_events = flags.events;
  // Node lists are for the files; GPU fleets need them to count distinct GPUs.
  scenario.options.keep_placement =
      !flags.out.empty() || !flags.timeline.empty() || scenario.model->gpus_n() > 0;
  scenario.options.progress = [&line](const Progress& p) { return line(p); };
  const Result result = run(scenario);
  line.clear();
  if (interrupted()) throw Interrupted("interrupted before anything was written");
  write_files(flags, study, result, context);
  std::string text;
  if (flags.format == "json") {
    text = summary_json(result);
  } else if (flags.format == "csv") {
    text = to_csv(result.jobs(), time_style(flags, *scenario.trace), scenario.trace->t0);
  } else {
    text = summary_text(result, study.name);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_run(CLI::App& root, Context& context) {
  CLI::App* command =
      root.add_subcommand("run", "Simulate a study and print or write what came out");
  auto flags = std::make_shared<RunFlags>();
  add_study_flags(*command, flags->study);
  command->add_option("-o,--output", flags->out,
                      "Folder for the tables, summary.json and manifest.json");
  command
      ->add_option("--times", flags->times,
                   "Times in the files: relative (seconds since t0) or iso; as the study has it")
      ->check(CLI::IsMember({"relative", "iso"}));
  command->add_flag("--events", flags->events, "Keep one row per event and write events.csv");
  command->add_option("--timeline", flags->timeline,
                      "FILE.svg or FILE.png: picture of who held what");
  add_format(*command, flags->format, {"text", "json", "csv"});
  command->callback([flags, &context] { run_study(*flags, context); });
}

}  // namespace fedsim::apps
