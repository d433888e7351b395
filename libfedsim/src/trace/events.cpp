// Timed events of a recorded scenario: op "submit" (sbatch options and a run time) and op "cmd"
// (the argv of scancel and scontrol). Pure looks are skipped; anything else stops
// the run with its name.
#include "trace/events.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "trace/civil.hpp"

namespace fedsim {
namespace {

using Words = std::vector<std::string>;

bool only_looks(const Words& argv) {
  static const std::set<std::string_view> kLooks = {"squeue", "sinfo", "sacct",   "sprio", "sshare",
                                                    "sdiag",  "sstat", "sreport", "true",  "sleep"};
  if (kLooks.count(argv[0]) > 0) return true;
  const auto verb = std::find_if(argv.begin() + 1, argv.end(),
                                 [](const std::string& w) { return !w.starts_with("-"); });
  if (verb == argv.end()) return false;
  const bool shows = *verb == "show" || *verb == "ping" || *verb == "list" || *verb == "write";
  return shows && (argv[0] == "scontrol" || argv[0] == "sacctmgr");
}

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
      } else {
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

  void submit(const nlohmann::json& event) {
    const std::string label = event.value("label", "");
    ParsedRequest parsed = parse_sbatch(words_of(event, "args"), trace_.strings);
    for (Diagnostic& d : parsed.diagnostics) {
      d.file = file_;
      d.message = "submission " + label + ": " + d.message;
      diagnostics_.push_back(std::move(d));
    }
    if (!is_seconds(event, "run") || event["run"].get<double>() < 0) {
      return error("C063", "submission " + label + ": no run time (run, seconds)");
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
    if (event.contains("script") && !job.run_is_elapsed) {
      diagnostics_.push_back({Severity::warning, "C065", file_, 0,
                              "submission " + label + ": its script is not simulated, only the " +
                                  "run time given",
                              ""});
    }
    trace_.jobs.push_back(job);
    ++trace_.report.rows;
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
    Operation op;
    op.at = at_;
    op.cluster = trace_.strings.intern(event.value("at", ""));
    Words targets;
    const bool known = argv[0] == "scancel" ? scancel(argv, op, targets)
                                            : scontrol(argv, op, targets);
    if (!known || targets.empty()) {
      return error("C064", where_ + ": operation \"" + join(argv, " ") + "\" is not modelled",
                   "remove the event, or compare without this scenario");
    }
    for (const std::string& target : targets) {
      const std::string label = target.substr(1, target.size() - 2);
      if (labels_.count(label) == 0) {
        error("C063", where_ + ": no submission is labelled " + label);
        continue;
      }
      op.target = trace_.strings.intern(label);
      trace_.operations.push_back(op);
    }
  }

  static bool is_label(const std::string& word) {
    return word.size() > 2 && word.front() == '{' && word.back() == '}';
  }

  bool scancel(const Words& argv, Operation& op, Words& targets) {
    op.kind = OperationKind::scancel;
    for (std::size_t i = 1; i < argv.size(); ++i) {
      const std::string& word = argv[i];
      std::string cluster;
      if (is_label(word)) {
        targets.push_back(word);
        continue;
      }
      if ((word == "-M" || word == "--clusters" || word == "--sibling") && i + 1 < argv.size()) {
        cluster = argv[++i];
      } else if (word.starts_with("--sibling=") || word.starts_with("--clusters=")) {
        cluster = word.substr(word.find('=') + 1);
      } else if (word.starts_with("-M") && word.size() > 2) {
        cluster = word.substr(2);
      }
      if (cluster.empty() || cluster.find(',') != std::string::npos) return false;
      op.sibling = trace_.strings.intern(cluster);
    }
    return true;
  }

  bool scontrol(const Words& argv, Operation& op, Words& targets) {
    static const std::pair<std::string_view, OperationKind> kVerbs[] = {
        {"requeue", OperationKind::requeue},
        {"requeuehold", OperationKind::requeuehold},
        {"hold", OperationKind::hold},
        {"release", OperationKind::release}};
    if (argv[0] != "scontrol" || argv.size() < 3) return false;
    const auto* verb = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                    [&](const auto& v) { return v.first == argv[1]; });
    if (verb == std::end(kVerbs)) return false;
    op.kind = verb->second;
    targets.assign(argv.begin() + 2, argv.end());
    return std::all_of(targets.begin(), targets.end(), is_label);
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
