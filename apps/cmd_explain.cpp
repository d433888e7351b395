// fedsim explain: the story of one job of a study, record by record, in words.
#include <cstdio>
#include <memory>

#include "fedsim/error.hpp"
#include "inputs.hpp"

namespace fedsim::apps {
namespace {

struct ExplainFlags {
  StudyFlags study;
  std::vector<std::string> jobs;
};

/// Jobs that `text` names: a label, a job name, an id of the run, or an id of the trace.
std::vector<JobId> find_jobs(const Result& result, const std::string& text) {
  const Trace& trace = *result.scenario.trace;
  std::vector<JobId> by_label, by_id, by_trace_id;
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    const JobSpec& spec = trace.jobs[j];
    if (trace.strings.view(spec.label) == text || trace.strings.view(spec.name) == text)
      by_label.push_back(JobId{j});
    if (std::to_string(result.job_rows[j].job_id) == text) by_id.push_back(JobId{j});
    if (std::to_string(spec.trace_id) == text) by_trace_id.push_back(JobId{j});
  }
  if (!by_label.empty()) return by_label;
  return by_id.empty() ? by_trace_id : by_id;
}

void explain(const ExplainFlags& flags, const Context& context) {
  const Study study = build_study(flags.study, context);
  say_warnings(context, study.warnings, 10);
  ProgressLine line(context);
  Scenario scenario = study.scenario;
  scenario.options.keep_events = true;
  scenario.options.progress = [&line](const Progress& p) { return line(p); };
  const Result result = run(scenario);
  line.clear();
  std::vector<Diagnostic> wrong;
  std::string out;
  for (const std::string& text : flags.jobs) {
    const std::vector<JobId> jobs = find_jobs(result, text);
    if (jobs.empty()) {
      wrong.push_back({Severity::error, "C138", "", 0, "no job is called " + text,
                       "a label, a job name, or an id of jobs.csv (jobid, trace_id)"});
    }
    for (const JobId job : jobs) out += (out.empty() ? "" : "\n") + job_story(result, job);
  }
  if (!wrong.empty()) throw InputError(std::move(wrong));
  std::fwrite(out.data(), 1, out.size(), stdout);
}

}  // namespace

void add_explain(CLI::App& root, Context& context) {
  CLI::App* command = root.add_subcommand(
      "explain", "Simulate a study and tell the story of a job, record by record");
  auto flags = std::make_shared<ExplainFlags>();
  add_study_flags(*command, flags->study);
  command
      ->add_option("--job", flags->jobs,
                   "Label, name, job id or trace id of the job; may be given several times")
      ->required();
  command->footer(
      "Submission, copies at the siblings, start locks granted and denied, start, revocations and\n"
      "end, with times; then its records, its allocations with their GPUs, and its processes.");
  command->callback([flags, &context] { explain(*flags, context); });
}

}  // namespace fedsim::apps
