// fedsim explain: the story of one job of a study, record by record, in words; and the populations
// at an instant.
#include <cstdio>
#include <memory>

#include "fedsim/error.hpp"
#include "inputs.hpp"

namespace fedsim::apps {
namespace {

struct ExplainFlags {
  StudyFlags study;
  std::vector<std::string> jobs;
  std::vector<std::string> instants;
};

/// The five populations at one instant, kept apart.
std::string populations_text(const Result& result, const std::string& word) {
  const SimTime at = result.scenario.trace->t0 + parse_duration(word, "--at");
  const Populations p = populations_at(result, at);
  std::string records;
  std::size_t n = 0;
  for (const auto& [state, count] : p.records) {
    records += (records.empty() ? "" : ", ") + std::to_string(count) + " " + state;
    n += count;
  }
  std::string out = "at " + word + " after t0\n";
  out += "job ids      " + std::to_string(p.jobs) + " submitted and not over\n";
  out += "records      " + std::to_string(n) + (n > 0 ? " (" + records + ")" : "") + "\n";
  out += "allocations  " + std::to_string(p.allocations) + "\n";
  out += "GPUs         " + std::to_string(p.distinct_gpus) + " held, of " +
         std::to_string(p.gpus_in_fleet) + " in the fleet; adding up queue rows would show " +
         std::to_string(p.naive_gpu_sum) + "\n";
  out += "processes    " + std::to_string(p.processes) + " in " + std::to_string(p.process_groups) +
         " groups, the largest of " + std::to_string(p.largest_group) + "\n";
  return out;
}

void explain(const ExplainFlags& flags, const Context& context) {
  if (flags.jobs.empty() && flags.instants.empty()) {
    throw InputError(Diagnostic{Severity::error, "C133", "", 0, "nothing to explain",
                                "give --job JOB or --at TIME"});
  }
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
  for (const std::string& word : flags.instants)
    out += (out.empty() ? "" : "\n") + populations_text(result, word);
  std::fwrite(out.data(), 1, out.size(), stdout);
}

}  // namespace

void add_explain(CLI::App& root, Context& context) {
  CLI::App* command = root.add_subcommand(
      "explain", "Simulate a study and tell the story of a job, or what there is at an instant");
  auto flags = std::make_shared<ExplainFlags>();
  add_study_flags(*command, flags->study);
  command->add_option("--job", flags->jobs,
                      "Label, name, job id or trace id of the job; may be given several times");
  command->add_option("--at", flags->instants,
                      "How many job ids, records, allocations, GPUs and processes there are this "
                      "long after t0, as 90, 2m or 1h; may be given several times");
  command->footer(
      "Submission, copies at the siblings, start locks granted and denied, start, revocations and\n"
      "end, with times; then its records, its allocations with their GPUs, and its processes.");
  command->callback([flags, &context] { explain(*flags, context); });
}

}  // namespace fedsim::apps
