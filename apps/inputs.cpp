// Builds the scenario of `fedsim run` and its relatives from flags. All findings of a kind are
// collected before they are thrown, so that one run shows all of them.
#include "inputs.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

#include "fedsim/scenario.hpp"
#include "fedsim/slurm_conf.hpp"
#include "settings.hpp"

namespace fedsim::apps {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void bad(const char* code, std::string message, std::string hint) {
  throw InputError({Severity::error, code, "", 0, std::move(message), std::move(hint)});
}

struct NamedPath {
  std::string name;
  std::string path;
};

std::vector<NamedPath> parse_clusters(const std::vector<std::string>& words) {
  std::vector<NamedPath> out;
  std::set<std::string> names;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == word.size()) {
      bad("C133", "--cluster " + word,
          "write NAME=CONFDIR, CONFDIR being a folder with slurm.conf");
    }
    out.push_back({word.substr(0, equals), word.substr(equals + 1)});
    if (!names.insert(out.back().name).second) {
      bad("C133", "--cluster " + out.back().name + " is given twice", "names must differ");
    }
  }
  return out;
}

// The only GPU type that the trace asks for, "" when it names none.
std::string gpu_type_of(const Trace& trace) {
  std::set<std::string> types;
  for (const ResourceRequest& r : trace.requests) {
    for (const auto* list : {&r.gres_per_node, &r.gres_per_job, &r.gres_per_task}) {
      for (const GresRequest& g : *list) {
        if (g.name == "gpu" && !g.type.empty()) types.insert(g.type);
      }
    }
  }
  if (types.size() > 1) {
    std::string names;
    for (const std::string& t : types) names += (names.empty() ? "" : ", ") + t;
    bad("C133", "the trace asks for several GPU types (" + names + "); a machine has one",
        "describe the machine with --cluster NAME=CONFDIR");
  }
  return types.empty() ? "" : *types.begin();
}

bool asks_for_gpus(const Trace& trace) {
  return std::any_of(trace.requests.begin(), trace.requests.end(), [](const ResourceRequest& r) {
    const auto gpu = [](const GresRequest& g) { return g.name == "gpu"; };
    return std::any_of(r.gres_per_node.begin(), r.gres_per_node.end(), gpu) ||
           std::any_of(r.gres_per_job.begin(), r.gres_per_job.end(), gpu) ||
           std::any_of(r.gres_per_task.begin(), r.gres_per_task.end(), gpu);
  });
}

// NODESxUNITS, or NODESxUNITS:TYPE for units that are GPUs of a type.
ClusterSpec parse_machine(const std::string& text, const Trace& trace) {
  int nodes = 0;
  int units = 0;
  const std::string shape = text.substr(0, text.find(':'));
  const char* end = shape.data() + shape.size();
  const auto first = std::from_chars(shape.data(), end, nodes);
  bool ok = first.ec == std::errc{} && first.ptr != end && *first.ptr == 'x';
  if (ok) {
    const auto second = std::from_chars(first.ptr + 1, end, units);
    ok = second.ec == std::errc{} && second.ptr == end;
  }
  if (!ok || nodes < 1 || units < 1) {
    bad("C133", "--machine " + text,
        "write NODESxUNITS, as 4x8 or 1024x1; 4x8:a100 for typed GPUs");
  }
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos) return machine("machine", nodes, units, text.substr(colon + 1));
  return machine("machine", nodes, units, asks_for_gpus(trace) ? gpu_type_of(trace) : "-");
}

Trace read_traces(const StudyFlags& flags, const std::vector<NamedPath>& clusters,
                  std::map<std::string, std::string>& inputs) {
  std::vector<Trace> traces;
  for (std::size_t i = 0; i < flags.traces.size(); ++i) {
    ReadOptions options{flags.from, flags.delimiter, flags.columns, flags.zone, ""};
    std::string path = flags.traces[i];
    const std::size_t equals = path.find('=');
    for (const NamedPath& c : clusters) {
      if (equals != std::string::npos && path.compare(0, equals, c.name) == 0)
        options.cluster = c.name;
    }
    if (!options.cluster.empty()) path.erase(0, equals + 1);
    traces.push_back(read_trace(path, options));
    const std::string number = flags.traces.size() > 1 ? std::to_string(i + 1) : "";
    if (path != "-") inputs["trace" + number] = path;
  }
  return traces.size() == 1 ? std::move(traces.front()) : merge(traces);
}

void add_existing(std::map<std::string, std::string>& inputs, const std::string& name,
                  const fs::path& path) {
  if (fs::is_regular_file(path)) inputs[name] = path.string();
}

void add_configuration(std::map<std::string, std::string>& inputs, const std::string& cluster,
                       const fs::path& folder) {
  for (const char* file : {"slurm.conf", "gres.conf", "topology.conf"}) {
    add_existing(inputs, cluster + "/" + file, folder / file);
  }
}

struct Parts {
  std::string name;
  FederationSpec spec;
  Trace trace;
  RunOptions options;
  std::map<std::string, std::string> inputs;
  std::vector<Diagnostic> warnings;
};

Parts read_recorded(const StudyFlags& flags) {
  const fs::path folder = flags.study;
  if (!flags.clusters.empty() || !flags.machine.empty() || !flags.traces.empty()) {
    bad("C133", flags.study + " brings its own clusters and jobs",
        "leave out --cluster, --machine and --trace, or leave out the folder");
  }
  if (!fs::exists(folder)) throw FileError(flags.study, ENOENT, "read");
  if (!is_recorded_scenario(folder)) {
    bad("C133", flags.study + " is not a recorded scenario: it has no scenario.json",
        "give such a folder, or --cluster NAME=CONFDIR or --machine NODESxUNITS with --trace FILE; "
        "study files (.toml) are not accepted by this version");
  }
  RecordedScenario recorded = read_scenario(folder);
  Parts out{recorded.name,
            std::move(recorded.spec),
            std::move(recorded.trace),
            std::move(recorded.options),
            {},
            std::move(recorded.warnings)};
  add_existing(out.inputs, "scenario.json", folder / "scenario.json");
  add_existing(out.inputs, "setup.jsonl", folder / "setup.jsonl");
  add_existing(out.inputs, "run1/meta.json", folder / "run1" / "meta.json");
  add_existing(out.inputs, "run1/passes.csv", folder / "run1" / "passes.csv");
  for (const ClusterSpec& c : out.spec.clusters) {
    add_configuration(out.inputs, "clusters/" + c.name, folder / "clusters" / c.name);
  }
  return out;
}

Parts read_flags(const StudyFlags& flags) {
  if (flags.traces.empty())
    bad("C133", "no jobs", "give --trace FILE, or a recorded scenario folder");
  if (flags.clusters.empty() == flags.machine.empty()) {
    bad("C133", flags.machine.empty() ? "no cluster" : "--cluster and --machine together",
        "give --cluster NAME=CONFDIR (several make a federation) or --machine NODESxUNITS");
  }
  Parts out;
  const std::vector<NamedPath> clusters = parse_clusters(flags.clusters);
  // A machine's shape is checked before a long trace is read.
  if (!flags.machine.empty()) (void)parse_machine(flags.machine, Trace{});
  if (!clusters.empty()) {
    std::vector<std::pair<std::string, fs::path>> folders;
    for (const NamedPath& c : clusters) {
      folders.emplace_back(c.name, c.path);
      add_configuration(out.inputs, c.name, c.path);
    }
    out.spec = read_slurm_conf(folders);
  }
  out.trace = read_traces(flags, clusters, out.inputs);
  if (!flags.machine.empty()) out.spec.clusters = {parse_machine(flags.machine, out.trace)};
  out.warnings = out.trace.report.warnings;
  for (const ClusterSpec& c : out.spec.clusters) out.name += (out.name.empty() ? "" : "+") + c.name;
  return out;
}

Policy parse_policy(const std::string& word) {
  if (word == "fcfs") return Policy::fcfs;
  if (word == "conservative") return Policy::conservative;
  return Policy::easy;
}

}  // namespace

void add_study_flags(CLI::App& command, StudyFlags& flags) {
  command.add_option("STUDY", flags.study, "Folder of a recorded scenario (with scenario.json)");
  command
      .add_option("--cluster", flags.clusters,
                  "NAME=CONFDIR: a cluster and its slurm.conf; several "
                  "make a federation")
      ->allow_extra_args(false);
  command.add_option("--machine", flags.machine,
                     "NODESxUNITS: equal nodes without a slurm.conf, as 1024x1 or 4x8:a100");
  command
      .add_option("--trace", flags.traces,
                  "FILE, CLUSTER=FILE or -: jobs to submit; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--from", flags.from,
                     "Format of the trace: sacct, sacct-json, swf ... (guessed)");
  command.add_option("--delimiter", flags.delimiter, "sacct: character between columns");
  command.add_option("--columns", flags.columns, "sacct without header: the column names");
  command.add_option("--zone", flags.zone, "Zone of times that name none, as +01:00 or UTC");
  command
      .add_option("--fidelity", flags.fidelity,
                  "slurm: the controllers' loops and latencies; ideal: a decision at every event")
      ->check(CLI::IsMember({"slurm", "ideal"}))
      ->capture_default_str();
  command.add_option("--policy", flags.policy, "Rule of ideal runs: fcfs, easy or conservative")
      ->check(CLI::IsMember({"fcfs", "easy", "conservative"}));
  command
      .add_option("--set", flags.sets,
                  "KEY=VALUE: a slurm.conf or SchedulerParameters key for all "
                  "clusters, CLUSTER.KEY=VALUE for one, latency.KEY=DURATION, release=24.11")
      ->allow_extra_args(false);
  command
      .add_option("--fault", flags.faults,
                  "controller:NAME,mtbf=6h,mttr=10m, link:NAME/OTHER,... or slurmdbd,...: it fails "
                  "and comes back by itself; * is every cluster; may be given several times")
      ->allow_extra_args(false);
  command.add_option("--horizon", flags.horizon, "Stop this long after t0, as 2h or 1-00:00:00");
}

ClusterSpec read_cluster(const std::string& word) {
  const NamedPath named = parse_clusters({word}).front();
  return read_slurm_conf({{named.name, named.path}}).clusters.front();
}

Study build_study(const StudyFlags& flags, const Context& context) {
  if (!flags.policy.empty() && flags.fidelity != "ideal") {
    bad("C133", "--policy is a rule of ideal runs", "add --fidelity ideal");
  }
  Parts parts = flags.study.empty() ? read_flags(flags) : read_recorded(flags);
  apply_settings(parts.spec, flags.sets);
  Study out;
  out.name = std::move(parts.name);
  out.inputs = std::move(parts.inputs);
  out.warnings = std::move(parts.warnings);
  RunOptions& options = out.scenario.options;
  options = std::move(parts.options);
  options.seed = context.seed;
  options.fidelity = flags.fidelity == "ideal" ? Fidelity::ideal : Fidelity::slurm;
  options.policy = parse_policy(flags.policy);
  for (const std::string& fault : flags.faults) options.faults.push_back(parse_fault(fault));
  if (!flags.horizon.empty()) {
    options.horizon = parts.trace.t0 + parse_duration(flags.horizon, "--horizon");
  }
  out.scenario.model = compile(parts.spec);
  out.scenario.trace = std::make_shared<const Trace>(std::move(parts.trace));
  const auto& more = out.scenario.model->warnings;
  out.warnings.insert(out.warnings.end(), more.begin(), more.end());
  return out;
}

bool ProgressLine::operator()(const Progress& p) {
  if (interrupted()) return false;
  if (!shown_) return true;
  const double done =
      p.jobs > 0 ? 100.0 * static_cast<double>(p.jobs_done) / static_cast<double>(p.jobs) : 100.0;
  std::fprintf(stderr, "\r%5.1f %%  %zu of %zu jobs done, %zu queued, simulated %s \x1b[K", done,
               p.jobs_done, p.jobs, p.queued, clock_text(to_seconds(p.now - p.first)).c_str());
  std::fflush(stderr);
  drawn_ = true;
  return true;
}

void ProgressLine::clear() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

void say_warnings(const Context& context, const std::vector<Diagnostic>& warnings,
                  std::size_t most) {
  std::size_t n = 0;
  for (const Diagnostic& d : warnings) {
    if (d.severity != Severity::note && n++ < most) say(context, to_string(d));
  }
  if (n > most) {
    say(context, "... and " + std::to_string(n - most) + " more warnings; manifest.json has all");
  }
}

std::string text_table(const std::vector<std::vector<std::string>>& rows,
                       const std::vector<bool>& right) {
  std::vector<std::size_t> width(right.size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(width[i] - row[i].size(), ' ');
      line += (i > 0 ? "  " : "") + (right[i] ? blanks + row[i] : row[i] + blanks);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string short_number(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  std::string out = text.data();
  if (out.find('.') == std::string::npos) return out;
  out.resize(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out == "-0" ? "0" : out;
}

std::string clock_text(double seconds) {
  const auto s = static_cast<long long>(std::llround(seconds));
  std::array<char, 64> text{};
  if (s >= 86400) {
    std::snprintf(text.data(), text.size(), "%lld-%02lld:%02lld:%02lld", s / 86400, s / 3600 % 24,
                  s / 60 % 60, s % 60);
  } else if (s >= 3600) {
    std::snprintf(text.data(), text.size(), "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  } else {
    std::snprintf(text.data(), text.size(), "%lld:%02lld", s / 60, s % 60);
  }
  return text.data();
}

}  // namespace fedsim::apps
