// fedsim verify: recorded scenarios, simulated and compared record by record with what real Slurm
// did.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "fedsim/scenario.hpp"
#include "inputs.hpp"

namespace fedsim::apps {
namespace {

namespace fs = std::filesystem;

struct VerifyFlags {
  std::vector<std::string> scenarios;
  bool driven = false;
  bool verbose = false;
  double tolerance_s = 3;
  double min_rate = 0;
  std::string format;
};

/// All runs of one scenario together.
struct ScenarioScore {
  std::string name;
  std::size_t runs = 0;
  VerifyRow sum;
  double self = 1;  ///< how far the recorded runs agree with each other
  double score = 0;
};

double share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::vector<fs::path> recorded_runs(const fs::path& scenario) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(scenario)) {
    const bool named = entry.path().filename().string().starts_with("run");
    if (named && fs::exists(entry.path() / "expected.csv") &&
        fs::exists(entry.path() / "commands.jsonl")) {
      out.push_back(entry.path());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// A folder of scenarios stands for the scenarios in it.
std::vector<fs::path> find_scenarios(const std::vector<std::string>& names) {
  std::vector<fs::path> out;
  std::vector<Diagnostic> wrong;
  for (const std::string& name : names) {
    if (!fs::exists(name)) throw FileError(name, ENOENT, "read");
    if (is_recorded_scenario(name)) {
      out.emplace_back(name);
      continue;
    }
    std::vector<fs::path> inside;
    if (fs::is_directory(name)) {
      for (const auto& entry : fs::directory_iterator(name)) {
        if (entry.is_directory() && is_recorded_scenario(entry.path()))
          inside.push_back(entry.path());
      }
    }
    std::sort(inside.begin(), inside.end());
    if (inside.empty()) {
      wrong.push_back({Severity::error, "C136", name, 0, "no recorded scenario: no scenario.json",
                       "give a folder with scenario.json, clusters/ and run1/"});
    }
    out.insert(out.end(), inside.begin(), inside.end());
  }
  if (!wrong.empty()) throw InputError(std::move(wrong));
  return out;
}

void add(VerifyRow& sum, const VerifyRow& row) {
  sum.records += row.records;
  sum.all += row.all;
  sum.state += row.state;
  sum.nodes += row.nodes;
  sum.gpus += row.gpus;
  sum.start += row.start;
  sum.extra += row.extra;
  for (const std::string& d : row.differences) sum.differences.push_back(row.run + " " + d);
}

// Real Slurm's agreement with itself: races between clusters make it less than 1.
double self_agreement(const std::vector<fs::path>& runs, Duration tolerance) {
  std::size_t all = 0;
  std::size_t records = 0;
  for (const fs::path& a : runs) {
    for (const fs::path& b : runs) {
      if (a == b) continue;
      const VerifyRow row = compare_recordings(a, b, tolerance);
      all += row.all;
      records += row.records;
    }
  }
  return records == 0 ? 1 : share(all, records);
}

ScenarioScore verify_scenario(const fs::path& scenario, const VerifyFlags& flags,
                              const Context& context) {
  ScenarioScore out;
  out.name = fs::absolute(scenario).lexically_normal().filename().string();
  const std::vector<fs::path> runs = recorded_runs(scenario);
  if (runs.empty()) {
    throw InputError({Severity::error, "C136", scenario.string(), 0,
                      "no recorded run to compare with",
                      "run1/ must hold expected.csv and commands.jsonl"});
  }
  VerifyOptions options;
  options.tolerance = seconds_to_duration(flags.tolerance_s);
  options.driven = flags.driven;
  options.seed = context.seed;
  options.progress = [](const Progress&) { return !interrupted(); };
  out.runs = runs.size();
  for (const fs::path& run : runs) {
    if (interrupted()) throw Interrupted("interrupted");
    const VerifyRow row = verify_run(scenario, run, options);
    if (!row.failure.empty() && out.sum.failure.empty()) {
      say(context, out.name + " is not simulated: " + row.failure);
      out.sum.failure = row.failure;
    }
    add(out.sum, row);
  }
  // Driven runs leave nothing to chance: there the share itself is the score.
  if (!flags.driven) out.self = self_agreement(runs, options.tolerance);
  out.score = std::min(1.0, share(out.sum.all, out.sum.records) / std::max(out.self, 0.2));
  return out;
}

std::string percent(double part) {
  return short_number(100 * part, 1) + "%";
}

std::string score_table(const std::vector<ScenarioScore>& scores) {
  std::vector<std::vector<std::string>> rows{{"SCENARIO", "RUNS", "RECORDS", "SCORE", "ALL", "SELF",
                                              "STATE", "NODES", "GPUS", "START", "EXTRA"}};
  for (const ScenarioScore& s : scores) {
    const std::size_t n = s.sum.records;
    rows.push_back({s.name, std::to_string(s.runs), std::to_string(n), percent(s.score),
                    percent(share(s.sum.all, n)), percent(s.self), percent(share(s.sum.state, n)),
                    percent(share(s.sum.nodes, n)), percent(share(s.sum.gpus, n)),
                    percent(share(s.sum.start, n)), std::to_string(s.sum.extra)});
  }
  std::vector<bool> right(rows.front().size(), true);
  right[0] = false;
  return text_table(rows, right);
}

std::string score_json(const std::vector<ScenarioScore>& scores, double mean) {
  nlohmann::ordered_json out;
  out["scenarios"] = nlohmann::ordered_json::array();
  for (const ScenarioScore& s : scores) {
    const std::size_t n = s.sum.records;
    out["scenarios"].push_back({{"scenario", s.name},
                                {"runs", s.runs},
                                {"records", n},
                                {"score", s.score},
                                {"all", share(s.sum.all, n)},
                                {"self", s.self},
                                {"state", share(s.sum.state, n)},
                                {"nodes", share(s.sum.nodes, n)},
                                {"gpus", share(s.sum.gpus, n)},
                                {"start", share(s.sum.start, n)},
                                {"extra", s.sum.extra},
                                {"differences", s.sum.differences}});
  }
  out["mean_score"] = mean;
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void verify(const VerifyFlags& flags, Context& context) {
  std::vector<ScenarioScore> scores;
  double sum = 0;
  for (const fs::path& scenario : find_scenarios(flags.scenarios)) {
    scores.push_back(verify_scenario(scenario, flags, context));
    sum += scores.back().score;
  }
  const double mean = scores.empty() ? 0 : sum / static_cast<double>(scores.size());
  std::string out;
  if (flags.format == "json") {
    out = score_json(scores, mean);
  } else {
    out = score_table(scores);
    if (flags.verbose) {
      for (const ScenarioScore& s : scores) {
        for (const std::string& d : s.sum.differences) out += s.name + " " + d + "\n";
      }
    }
    out +=
        "mean score " + percent(mean) + " over " + std::to_string(scores.size()) + " scenarios\n";
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  if (mean < flags.min_rate) {
    say(context, "the mean score is below --min " + short_number(flags.min_rate, 4));
    context.exit_code = kMismatch;
  }
}

}  // namespace

void add_verify(CLI::App& root, Context& context) {
  CLI::App* command = root.add_subcommand(
      "verify", "Simulate recorded scenarios and compare with what real Slurm did");
  auto flags = std::make_shared<VerifyFlags>();
  command->add_option("SCENARIO", flags->scenarios, "Folders of recorded scenarios, or of several")
      ->required();
  command->add_flag("--driven", flags->driven,
                    "Passes and submissions at their recorded instants: compares decisions alone");
  command->add_option("--tolerance", flags->tolerance_s, "Seconds by which a start may differ")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--min", flags->min_rate, "Exit with 5 when the mean score is below this rate")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_flag("-v,--verbose", flags->verbose, "List every record that does not match");
  add_format(*command, flags->format, {"text", "json"});
  command->footer(
      "all: share of recorded records that match in state, nodes, GPU indices and start.\n"
      "self: the same share between one recording and another: real Slurm against itself.\n"
      "score: all / self, at most 1; at 1 the simulator can't be told from another recording.");
  command->callback([flags, &context] { verify(*flags, context); });
}

}  // namespace fedsim::apps
