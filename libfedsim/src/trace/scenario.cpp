// Recorded scenarios (contract section 5): scenario.json, clusters/NAME/, setup.jsonl; of run1/
// only meta.json (release, start of the controllers) and passes.csv (instants of the passes).
#include "fedsim/scenario.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "fedsim/slurm_conf.hpp"
#include "trace/civil.hpp"
#include "trace/events.hpp"
#include "trace/input.hpp"
#include "trace/setup.hpp"

namespace fedsim {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

json parse_json_file(const fs::path& file) {
  const Input input = read_input(file);
  try {
    return json::parse(input.text);
  } catch (const json::parse_error& e) {
    const auto stop = std::min<std::size_t>(e.byte, input.text.size());
    const auto newlines = std::count(input.text.begin(),
                                     input.text.begin() + static_cast<std::ptrdiff_t>(stop), '\n');
    throw InputError({Severity::error, "C060", input.name, static_cast<int>(newlines) + 1,
                      "not JSON: " + std::string(e.what()), ""});
  }
}

bool in_range(double seconds) {
  return std::abs(seconds) <= static_cast<double>(kLongestSeconds);
}

class ScenarioReader {
 public:
  explicit ScenarioReader(fs::path folder) : folder_(std::move(folder)) {}

  RecordedScenario read() {
    file_ = (folder_ / "scenario.json").string();
    const json scenario = parse_json_file(file_);
    if (!scenario.is_object()) error("C060", "not a JSON object");
    throw_errors();
    out_.name = scenario.value("name", folder_.filename().string());
    out_.description = scenario.value("description", "");
    read_meta();
    setup_ = read_accounting_setup(folder_ / "setup.jsonl", found_);
    read_clusters(scenario);
    out_.trace.relative_times = true;
    if (scenario.contains("events") && scenario["events"].is_array()) {
      read_events(scenario["events"], file_, setup_, out_.trace, found_);
    } else {
      error("C063", "no events");
    }
    read_end(scenario);
    read_passes();
    // Events are the instants at which commands were typed; of driven runs, those of the
    // controller.
    if (out_.options.driven.empty()) {
      out_.spec.latency.client_command = Duration{149'000'000};
      for (JobSpec& job : out_.trace.jobs)
        job.run_in_seconds = job.run_is_elapsed && job.run % std::chrono::seconds{1} == Duration{};
    }
    judge_setup();
    check_origins();
    throw_errors();
    out_.trace.finish();
    out_.warnings = std::move(found_);
    return std::move(out_);
  }

 private:
  void error(const char* code, std::string message, std::string hint = "") {
    found_.push_back({Severity::error, code, file_, 0, std::move(message), std::move(hint)});
  }

  void throw_errors() {
    const auto is_error = [](const Diagnostic& d) { return d.severity == Severity::error; };
    if (std::any_of(found_.begin(), found_.end(), is_error)) throw InputError(found_);
  }

  // meta.json may be absent: then the recording's instant and release are unknown.
  void read_meta() {
    const fs::path file = folder_ / "run1" / "meta.json";
    if (!fs::exists(file)) {
      found_.push_back({Severity::note, "C061", file.string(), 0,
                        "no meta.json: t0 is 1970, release 22.05, loop phases from the seed", ""});
      return;
    }
    const json meta = parse_json_file(file);
    const auto t0 = meta.value("t0_epoch", std::int64_t{0});
    if (t0 < 0 || t0 >= kLastInstant) return error("C060", "meta.json: t0_epoch is no Unix time");
    out_.trace.t0 = from_unix_seconds(t0);
    const std::string version = meta.value("version", "");
    const std::size_t digit = version.find_first_of("0123456789");
    if (digit != std::string::npos) {
      const std::vector<std::string> parts = split(std::string_view(version).substr(digit), '.');
      const auto year = parse_int(parts[0]);
      const auto month = parts.size() > 1 ? parse_int(parts[1]) : std::nullopt;
      if (year && month) release_ = {static_cast<int>(*year), static_cast<int>(*month)};
    }
    if (!meta.contains("slurmctld_start") || !meta["slurmctld_start"].is_object()) return;
    for (const auto& [name, offset] : meta["slurmctld_start"].items()) {
      if (!offset.is_number() || !in_range(offset.get<double>())) continue;
      starts_[name] = out_.trace.t0 + seconds_to_duration(offset.get<double>());
    }
  }

  void read_clusters(const json& scenario) {
    std::vector<std::string> names;
    if (scenario.contains("clusters") && scenario["clusters"].is_array()) {
      for (const json& c : scenario["clusters"]) {
        names.push_back(c.is_object() ? c.value("name", "") : "");
      }
    }
    if (names.empty()) error("C063", "no clusters");
    FederationSpec& spec = out_.spec;
    spec.federated = scenario.value("federation", false);
    spec.name = setup_.federation;
    if (spec.federated && !setup_.federation_clusters.empty()) {
      order_by_federation(names);
    }
    for (const std::string& name : names) {
      ConfigResult conf = read_config_folder(folder_ / "clusters" / name);
      for (Diagnostic& d : conf.diagnostics) {
        d.file = "clusters/" + name + "/" + d.file;
        found_.push_back(std::move(d));
      }
      conf.cluster.name = name;
      conf.cluster.release = release_;
      const auto features = setup_.cluster_features.find(name);
      if (features != setup_.cluster_features.end()) conf.cluster.features = features->second;
      spec.clusters.push_back(std::move(conf.cluster));
      const auto start = starts_.find(name);
      out_.options.controller_start.push_back(start == starts_.end() ? kNoTime : start->second);
    }
  }

  // Federation ids count in the order of `sacctmgr add federation clusters=`.
  void order_by_federation(std::vector<std::string>& names) {
    const std::vector<std::string>& order = setup_.federation_clusters;
    const auto rank = [&](const std::string& name) {
      return std::find(order.begin(), order.end(), name) - order.begin();
    };
    std::stable_sort(names.begin(), names.end(),
                     [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
    for (const std::string& name : names) {
      if (std::find(order.begin(), order.end(), name) != order.end()) continue;
      error("C063", "cluster " + name + " is not a member of federation " + setup_.federation);
    }
  }

  void read_end(const json& scenario) {
    if (!scenario.contains("end") || !scenario["end"].is_object()) return;
    const json& end = scenario["end"];
    if (!end.contains("max") || !end["max"].is_number()) return;
    if (!in_range(end["max"].get<double>())) return error("C063", "end.max is out of range");
    out_.options.horizon = out_.trace.t0 + seconds_to_duration(end["max"].get<double>());
  }

  void read_passes() {
    const fs::path file = folder_ / "run1" / "passes.csv";
    if (!fs::exists(file)) return;
    int number = 0;
    for (const std::string& raw : split(read_input(file).text, '\n')) {
      ++number;
      const std::string_view line = trim(raw);
      if (line.empty() || number == 1) continue;
      const std::vector<std::string> cells = split(line, ',');
      const auto t = parse_double(cells[0]);
      DrivenPass pass;
      const bool kind = t && in_range(*t) && cells.size() == 3 && pass_kind(cells[2], pass.kind);
      if (!kind) {
        found_.push_back({Severity::error, "C066", file.string(), number,
                          "not t,cluster,pass with pass = main, full or backfill", ""});
        continue;
      }
      pass.at = out_.trace.t0 + seconds_to_duration(*t);
      pass.cluster = out_.trace.strings.intern(cells[1]);
      out_.options.driven.push_back(pass);
    }
    std::stable_sort(out_.options.driven.begin(), out_.options.driven.end(),
                     [](const DrivenPass& a, const DrivenPass& b) { return a.at < b.at; });
  }

  static bool pass_kind(const std::string& word, DrivenPass::Kind& kind) {
    if (word == "main")
      kind = DrivenPass::Kind::main;
    else if (word == "full")
      kind = DrivenPass::Kind::full;
    else if (word == "backfill")
      kind = DrivenPass::Kind::backfill;
    else
      return false;
    return true;
  }

  // Priorities of QOS and shares have no effect under priority/basic; limits always have.
  void judge_setup() {
    const bool multifactor =
        std::any_of(out_.spec.clusters.begin(), out_.spec.clusters.end(), [](const ClusterSpec& c) {
          const auto type = c.options.find("PriorityType");
          if (type == c.options.end()) return c.release >= SlurmRelease{23, 11};
          return type->second == "priority/multifactor";
        });
    std::vector<std::string> ignored = setup_.not_modelled;
    if (multifactor) {
      ignored.insert(ignored.end(), setup_.priority_settings.begin(),
                     setup_.priority_settings.end());
    }
    for (const std::string& setting : ignored) {
      found_.push_back({Severity::warning, "C067", (folder_ / "setup.jsonl").string(), 0,
                        "set-up \"" + setting + "\" is not modelled",
                        "decisions that hang on it will differ"});
    }
  }

  void check_origins() {
    const auto known = [&](StringId id) {
      const std::string_view name = out_.trace.strings.view(id);
      return std::any_of(out_.spec.clusters.begin(), out_.spec.clusters.end(),
                         [&](const ClusterSpec& c) { return c.name == name; });
    };
    for (const JobSpec& job : out_.trace.jobs) {
      if (known(job.origin)) continue;
      error("C063", "submission " + std::string(out_.trace.strings.view(job.label)) +
                        ": no cluster " + std::string(out_.trace.strings.view(job.origin)));
    }
  }

  fs::path folder_;
  std::string file_;
  RecordedScenario out_;
  AccountingSetup setup_;
  SlurmRelease release_;
  std::map<std::string, SimTime> starts_;
  std::vector<Diagnostic> found_;
};

}  // namespace

RecordedScenario read_scenario(const fs::path& folder) {
  try {
    return ScenarioReader(folder).read();
  } catch (const json::exception& e) {  // a value of another type than the format says
    throw InputError({Severity::error, "C060", folder.string(), 0,
                      "unexpected JSON: " + std::string(e.what()), ""});
  }
}

bool is_recorded_scenario(const fs::path& folder) {
  std::error_code missing;
  return fs::is_regular_file(folder / "scenario.json", missing);
}

}  // namespace fedsim
