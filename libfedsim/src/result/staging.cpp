// Prepares a recorded scenario for comparison with one of its runs. How long a job ran is an input,
// as in any trace, so a job that ran once gets its recorded elapsed time. With `driven` also the
// controllers' passes and the submissions are at their recorded instants: then the decisions alone
// are compared.
#include "result/staging.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <vector>

#include "fedsim/error.hpp"
#include "fedsim/result.hpp"
#include "result/number.hpp"
#include "result/recorded_run.hpp"

namespace fedsim {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json read_json(const fs::path& path) {
  std::ifstream in(path);
  if (!in) throw FileError(path.string(), errno, "read");
  Json out = Json::parse(in, nullptr, false);
  if (!out.is_object()) {
    throw InputError({Severity::error, "C132", path.string(), 0, "not a JSON object", ""});
  }
  return out;
}

bool is_submit(const Json& event) {
  return event.is_object() && event.value("op", "") == "submit";
}

std::string label_of(const Json& event) {
  const auto label = event.find("label");
  return label != event.end() && label->is_string() ? label->get<std::string>() : "";
}

void set_elapsed(Json& scenario, const fs::path& run) {
  std::map<std::string, std::vector<CsvRow>> executions;
  for (const CsvRow& row : read_csv_file(run / "expected.csv")) {
    if (row.at("nodes").empty() || row.at("start").empty() || row.at("end").empty()) continue;
    executions[row.at("label")].push_back(row);
  }
  for (Json& event : scenario["events"]) {
    if (!is_submit(event)) continue;
    const auto found = executions.find(label_of(event));
    if (found == executions.end() || found->second.size() != 1) continue;
    const CsvRow& row = found->second.front();
    if (row.at("state") != "COMPLETED" && row.at("state") != "FAILED") continue;
    const double start = optional_seconds(row.at("start")).value_or(0);
    event["run"] = optional_seconds(row.at("end")).value_or(0) - start;
    event["elapsed"] = true;
  }
}

double to_milliseconds(double seconds) {
  return std::round(seconds * 1000) / 1000;
}

// What the controllers' logs say, with milliseconds.
struct LoggedRun {
  struct Pass {
    double at;
    std::string cluster;
    const char* kind;
  };
  std::vector<Pass> passes;
  std::map<std::pair<std::string, std::string>, double> submits;  // by label and cluster, the first
  std::map<std::string, double> longest;                          // by label
  std::map<std::string, std::set<std::string>> ran_on;            // by label
};

LoggedRun read_log(const fs::path& path) {
  LoggedRun out;
  std::map<std::pair<std::string, std::string>, double> starts;
  for (const CsvRow& row : read_csv_file(path)) {
    const double at = optional_seconds(row.at("t")).value_or(0);
    const std::string& kind = row.at("event");
    const std::pair key{row.at("label"), row.at("cluster")};
    if (kind == "main_cycle") {
      const bool full = row.at("detail").find("full") != std::string::npos;
      out.passes.push_back({at, row.at("cluster"), full ? "full" : "main"});
    } else if (kind == "bf_cycle") {
      out.passes.push_back({at, row.at("cluster"), "backfill"});
    } else if (kind == "submit") {
      out.submits.emplace(key, at);
    } else if (kind == "start_main" || kind == "start_backfill") {
      starts[key] = at;
    } else if (const auto start = starts.find(key); kind == "complete" && start != starts.end()) {
      const auto [longest, added] = out.longest.emplace(key.first, at - start->second);
      if (!added) longest->second = std::max(longest->second, at - start->second);
      out.ran_on[key.first].insert(key.second);
    }
  }
  std::sort(out.passes.begin(), out.passes.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.at, a.cluster, std::string_view(a.kind)) <
           std::tuple(b.at, b.cluster, std::string_view(b.kind));
  });
  return out;
}

void drive(Json& scenario, const LoggedRun& log, const fs::path& passes_file) {
  std::string passes = "t,cluster,pass\n";
  for (const LoggedRun::Pass& p : log.passes) {
    append_number(passes, to_milliseconds(p.at));
    passes += "," + p.cluster + "," + p.kind + "\n";
  }
  write_file(passes_file, passes);
  for (Json& event : scenario["events"]) {
    if (!is_submit(event)) continue;
    const std::string label = label_of(event);
    const auto submit = log.submits.find({label, event.value("at", "")});
    if (submit != log.submits.end()) event["t"] = submit->second;
    const auto length = log.longest.find(label);
    if (!event.value("elapsed", false) || length == log.longest.end()) continue;
    if (log.ran_on.at(label).size() == 1) event["run"] = to_milliseconds(length->second);
  }
}

void copy_inputs(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy(from / "clusters", to / "clusters", fs::copy_options::recursive, error);
  if (error) throw FileError((from / "clusters").string(), error.value(), "copy");
  if (!fs::exists(from / "setup.jsonl")) return;
  fs::copy_file(from / "setup.jsonl", to / "setup.jsonl", error);
  if (error) throw FileError((from / "setup.jsonl").string(), error.value(), "copy");
}

void copy_meta(const fs::path& run, const fs::path& to) {
  const Json meta = read_json(run / "meta.json");
  Json kept = Json::object();
  for (const char* key : {"t0_epoch", "slurmctld_start", "version"}) {
    if (meta.contains(key)) kept[key] = meta[key];
  }
  write_file(to, kept.dump(1));
}

fs::path make_private_folder() {
  std::string name = (fs::temp_directory_path() / "fedsim-verify-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw FileError(name, errno, "make folder");
  return name;
}

}  // namespace

StagedScenario::StagedScenario(const fs::path& scenario, const fs::path& run, bool driven) {
  Json content = read_json(scenario / "scenario.json");
  if (!content["events"].is_array()) {
    throw InputError({Severity::error, "C132", (scenario / "scenario.json").string(), 0,
                      "no list of events", ""});
  }
  set_elapsed(content, run);
  parent_ = make_private_folder();
  try {
    // The folder's name is the scenario's where scenario.json has none.
    folder_ = parent_ / fs::absolute(scenario).lexically_normal().filename();
    fs::create_directories(folder_ / "run1");
    copy_inputs(scenario, folder_);
    copy_meta(run, folder_ / "run1" / "meta.json");
    const bool logged = driven && fs::exists(run / "events.csv");
    if (logged) drive(content, read_log(run / "events.csv"), folder_ / "run1" / "passes.csv");
    write_file(folder_ / "scenario.json", content.dump(1));
  } catch (const std::exception&) {
    std::error_code ignored;
    fs::remove_all(parent_, ignored);
    throw;
  }
}

StagedScenario::~StagedScenario() {
  std::error_code ignored;
  fs::remove_all(parent_, ignored);
}

}  // namespace fedsim
