// Timed events of a recorded scenario: op "submit" (sbatch options and a run time), op "cmd" (the
// argv of a command), and the faults stop_ctld, start_ctld, link_down, link_up, stop_dbd and
// start_dbd. Pure looks are skipped; anything else stops the run with its name.
#include "trace/events.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.hpp"
#include "trace/civil.hpp"
#include "trace/commands.hpp"

namespace fedsim {
namespace {

using Words = std::vector<std::string>;

class EventReader {
 public:
  EventReader(std::string file, const AccountingSetup& setup, Trace& trace,
              std::vector<Diagnostic>& diagnostics)
      : file_(std::move(file)), setup_(setup), trace_(trace), diagnostics_(diagnostics) {}

  void read(const nlohmann::json& events) {
    // Labels first: a command may name a job that is listed later with an earlier time.
    for (const auto& event : events) {
      if (event.is_object() && event.value("op", "") == "submit") {
        labels_.insert(event.value("label", ""));
      }
    }
    int number = 0;
    for (const auto& event : events) {
      where_ = "event " + std::to_string(++number);
      if (!event.is_object() || !is_seconds(event, "t")) {
        error("C063", where_ + ": no time t (seconds from t0)");
        continue;
      }
      at_ = trace_.t0 + seconds_to_duration(event["t"].get<double>());
      const std::string op = event.value("op", "");
      if (op == "submit") {
        submit(event);
      } else if (op == "cmd") {
        command(event);
      } else if (!fault(op, event)) {
        error("C064", where_ + ": operation \"" + op + "\" is not modelled");
      }
    }
  }

 private:
  void error(const char* code, std::string message, std::string hint = "") {
    diagnostics_.push_back(
        {Severity::error, code, file_, 0, std::move(message), std::move(hint)});
  }

  static bool is_seconds(const nlohmann::json& event, const char* key) {
    return event.contains(key) && event[key].is_number() &&
           std::abs(event[key].get<double>()) <= static_cast<double>(kLongestSeconds);
  }

  static Words words_of(const nlohmann::json& event, const char* key) {
    Words words;
    if (!event.contains(key) || !event[key].is_array()) return words;
    for (const auto& word : event[key]) {
      words.push_back(word.is_string() ? word.get<std::string>() : word.dump());
    }
    return words;
  }

  /// A submission; components of a heterogeneous job stand between ":" words.
  void submit(const nlohmann::json& event) {
    const std::string label = event.value("label", "");
    if (!is_seconds(event, "run") || event["run"].get<double>() < 0) {
      return error("C063", "submission " + label + ": no run time (run, seconds)");
    }
    const Words argv = words_of(event, "args");
    const bool heterogeneous = std::find(argv.begin(), argv.end(), ":") != argv.end();
    const auto group =
        heterogeneous ? static_cast<std::uint32_t>(trace_.jobs.size()) + 1 : std::uint32_t{0};
    StringId clusters{0};
    for (auto from = argv.begin();;) {
      const auto to = std::find(from, argv.end(), ":");
      ParsedRequest parsed = parse_sbatch({from, to}, trace_.strings);
      parsed.job.het_job = group;
      // -M counts for the whole job, wherever it stands.
      if (parsed.job.clusters != StringId{0}) clusters = parsed.job.clusters;
      if (heterogeneous) parsed.job.clusters = clusters;
      add(event, label, std::move(parsed));
      if (to == argv.end()) break;
      from = to + 1;
    }
    if (event.contains("script") && !event.value("elapsed", false)) {
      diagnostics_.push_back({Severity::warning, "C065", file_, 0,
                              "submission " + label + ": its script is not simulated, only the " +
                                  "run time given",
                              ""});
    }
    ++trace_.report.rows;
  }

  void add(const nlohmann::json& event, const std::string& label, ParsedRequest parsed) {
    for (Diagnostic& d : parsed.diagnostics) {
      d.file = file_;
      d.message = "submission " + label + ": " + d.message;
      diagnostics_.push_back(std::move(d));
    }
    JobSpec job = parsed.job;
    job.submit = at_;
    if (job.begin != kNoTime) job.begin = at_ + job.begin.time_since_epoch();
    job.run = seconds_to_duration(event["run"].get<double>());
    job.run_is_elapsed = event.value("elapsed", false);
    job.request = trace_.intern_request(parsed.request);
    job.label = trace_.strings.intern(label);
    if (job.name == StringId{0}) job.name = job.label;
    job.origin = trace_.strings.intern(event.value("at", ""));
    if (job.user == StringId{0}) job.user = trace_.strings.intern(event.value("user", "root"));
    if (job.account == StringId{0}) job.account = account_of(job.user);
    job.trace_id = static_cast<std::int64_t>(trace_.jobs.size()) + 1;
    trace_.add(job, parsed.array_tasks);
  }

  StringId account_of(StringId user) {
    const std::string name(trace_.strings.view(user));
    const auto found = setup_.default_account.find(name);
    if (found != setup_.default_account.end()) return trace_.strings.intern(found->second);
    return name == "root" ? user : StringId{0};
  }

  void command(const nlohmann::json& event) {
    const Words argv = words_of(event, "argv");
    if (argv.empty()) return error("C063", where_ + ": no argv");
    if (only_looks(argv)) return;
    Operation base;
    base.at = at_;
    base.cluster = trace_.strings.intern(event.value("at", ""));
    const std::vector<Operation> read = read_command(argv, base, trace_.strings);
    if (read.empty()) {
      return error("C064", where_ + ": operation \"" + join(argv, " ") + "\" is not modelled",
                   "remove the event, or compare without this scenario");
    }
    for (const Operation& op : read) {
      const std::string label(trace_.strings.view(op.target));
      if (!label.empty() && labels_.count(label) == 0) {
        error("C063", where_ + ": no submission is labelled " + label);
        continue;
      }
      trace_.operations.push_back(op);
    }
  }

  /// A controller, a link between two, or slurmdbd that stops or comes back.
  bool fault(const std::string& op, const nlohmann::json& event) {
    static const std::map<std::string_view, OperationKind> kFaults = {
        {"stop_ctld", OperationKind::controller_down},
        {"kill_ctld", OperationKind::controller_down},
        {"start_ctld", OperationKind::controller_up},
        {"link_down", OperationKind::link_down},
        {"link_up", OperationKind::link_up},
        {"stop_dbd", OperationKind::database_down},
        {"start_dbd", OperationKind::database_up}};
    const auto kind = kFaults.find(op);
    if (kind == kFaults.end()) return false;
    Operation out;
    out.at = at_;
    out.kind = kind->second;
    const Words link = words_of(event, "clusters");
    const bool on_link = op.starts_with("link");
    if (on_link && link.size() != 2) {
      error("C063", where_ + ": " + op + " needs \"clusters\": [one, other]");
      return true;
    }
    out.cluster = trace_.strings.intern(on_link ? link[0] : event.value("cluster", ""));
    if (on_link) out.sibling = trace_.strings.intern(link[1]);
    trace_.operations.push_back(out);
    return true;
  }

  std::string file_;
  const AccountingSetup& setup_;
  Trace& trace_;
  std::vector<Diagnostic>& diagnostics_;
  std::set<std::string> labels_;
  std::string where_;
  SimTime at_{};
};

}  // namespace

void read_events(const nlohmann::json& events, const std::string& file,
                 const AccountingSetup& setup, Trace& trace, std::vector<Diagnostic>& diagnostics) {
  EventReader(file, setup, trace, diagnostics).read(events);
}

}  // namespace fedsim
