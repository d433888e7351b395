// `fedsim trace`: looks at traces (show, info), makes synthetic ones (synth), names sacct fields.
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "fedsim/error.hpp"
#include "fedsim/trace.hpp"

namespace fedsim::apps {
namespace {

using nlohmann::json;

// JobName stands last: a name may hold the delimiter.
constexpr const char* kSacctFields =
    "JobIDRaw,JobID,Cluster,Partition,QOS,Account,User,State,ExitCode,Submit,Eligible,Start,End,"
    "ElapsedRaw,Suspended,Timelimit,NNodes,NCPUS,ReqCPUS,ReqNodes,ReqMem,ReqTRES,AllocTRES,"
    "NodeList,Priority,Constraints,JobName";

struct TraceOptions {
  std::string file;
  std::string format;
  ReadOptions read;
};

void add_read_options(CLI::App& command, TraceOptions& options) {
  command.add_option("FILE", options.file, "Trace; .gz and .xz are unpacked, - is stdin")
      ->required();
  command.add_option("--from", options.read.format, "sacct, sacct-json, swf (else guessed)");
  command.add_option("--delimiter", options.read.delimiter,
                     "What sacct put between fields (else found from the header)");
  command.add_option("--columns", options.read.columns,
                     "Column names of a dump without header, comma separated; xdmod: its 26");
  command.add_option("--zone", options.read.zone,
                     "Zone of times without offset: +01:00, UTC or Europe/Oslo (else UTC)");
  command.add_option("--cluster", options.read.cluster, "Cluster of the jobs where none is named");
}

void print_line(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
}

void show(const Context& context, const TraceOptions& options) {
  const std::string summary = show_trace(options.file, options.read, print_line);
  print_line(summary);
  const json parsed = json::parse(summary);
  const std::size_t n = parsed["summary"]["warnings"].size();
  if (n > 0) say(context, std::to_string(n) + " warnings: see the summary line");
}

void print_count(const char* what, std::uint64_t n) {
  std::printf("  %-28s %12" PRIu64 "\n", what, n);
}

std::uint64_t count_of(const json& summary, const char* key) {
  return summary.value(key, std::uint64_t{0});
}

void print_info(const TraceOptions& options, const json& s) {
  const std::uint64_t rows = count_of(s, "rows");
  if (s.value("format", "") == "inventory") {
    std::printf("%s (node inventory, no jobs)\n", options.file.c_str());
    return print_count("nodes", rows);
  }
  const std::uint64_t parts = count_of(s, "steps") + count_of(s, "folded") +
                              count_of(s, "broken") + count_of(s, "jobs");
  FEDSIM_CHECK(rows == parts, "rows " + std::to_string(rows) + ", accounted for " +
                                  std::to_string(parts));
  std::printf("%s (%s)\n", options.file.c_str(), s.value("format", "").c_str());
  print_count("rows", rows);
  print_count("= steps (never jobs)", count_of(s, "steps"));
  print_count("+ folded (siblings, requeues)", count_of(s, "folded"));
  print_count("+ not readable", count_of(s, "broken"));
  print_count("+ jobs", count_of(s, "jobs"));
  if (s.contains("jobs_that_ran")) print_count("  of these ran", count_of(s, "jobs_that_ran"));
  if (s.contains("states")) {
    for (const auto& [state, n] : s["states"].items()) {
      print_count(("  " + state).c_str(), n.get<std::uint64_t>());
    }
  }
  if (s.contains("replayed")) print_count("replayed by fedsim run", count_of(s, "replayed"));
  if (s.contains("replay_notes")) {
    for (const json& note : s["replay_notes"]) {
      std::printf("    %s\n", note.get<std::string>().c_str());
    }
  }
  constexpr std::size_t kShown = 10;
  const json& warnings = s["warnings"];
  for (std::size_t i = 0; i < warnings.size() && i < kShown; ++i) {
    std::printf("  line %d: %s\n", warnings[i]["line"].get<int>(),
                warnings[i]["message"].get<std::string>().c_str());
  }
  if (warnings.size() > kShown) {
    std::printf("  ... %zu more warnings: --format json\n", warnings.size() - kShown);
  }
}

void info(const TraceOptions& options) {
  const std::string summary = show_trace(options.file, options.read, nullptr);
  if (options.format == "json") return print_line(summary);
  print_info(options, json::parse(summary)["summary"]);
}

// Units of a synthetic job: GPUs where it asks for some, else CPUs.
std::int64_t units_of(const ResourceRequest& r) {
  if (r.gres_per_node.empty()) return r.ntasks;
  return r.gres_per_node.front().count * r.nodes_min;
}

std::int64_t user_number(const Trace& trace, const JobSpec& job) {
  return std::stoll(std::string(trace.strings.view(job.user).substr(1)));
}

void write_swf(const Trace& trace, std::FILE* out) {
  std::fprintf(out, "; Version: 2.2\n; UnixStartTime: %" PRId64 "\n; MaxJobs: %zu\n",
               floor_seconds(trace.t0), trace.jobs.size());
  std::fprintf(out, "; Note: synthetic, made by fedsim trace synth; nobody waits (field 3 is 0)\n");
  for (const JobSpec& job : trace.jobs) {
    const std::int64_t units = units_of(trace.requests[job.request]);
    std::fprintf(out,
                 "%" PRId64 " %" PRId64 " 0 %" PRId64 " %" PRId64 " -1 -1 %" PRId64 " %" PRId64
                 " -1 1 %" PRId64 " -1 -1 -1 -1 -1 -1\n",
                 job.trace_id, floor_seconds(job.submit) - floor_seconds(trace.t0),
                 job.run.count() / kSecond.count(), units, units, job.limit_s,
                 user_number(trace, job));
  }
}

void write_psv(const Trace& trace, std::FILE* out) {
  std::fprintf(out, "JobIDRaw|Cluster|User|State|Submit|Start|End|ElapsedRaw|Timelimit|NNodes|"
                    "NCPUS|ReqTRES|AllocTRES\n");
  for (const JobSpec& job : trace.jobs) {
    const ResourceRequest& r = trace.requests[job.request];
    const int nodes = std::max(r.nodes_min, 1);
    const int cpus = r.ntasks * std::max(r.cpus_per_task, 1);
    std::string tres = "cpu=" + std::to_string(cpus);
    for (const GresRequest& g : r.gres_per_node) {
      const std::string count = std::to_string(g.count * nodes);
      tres += ",gres/gpu=" + count;
      if (!g.type.empty()) tres += ",gres/gpu:" + g.type + "=" + count;
    }
    tres += ",node=" + std::to_string(nodes);
    const std::int64_t submit = floor_seconds(job.submit);
    const std::int64_t run = job.run.count() / kSecond.count();
    const std::int64_t minutes = job.limit_s / 60;
    std::fprintf(out,
                 "%" PRId64 "|%s|%s|COMPLETED|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64
                 "|%" PRId64 "-%02d:%02d:00|%d|%d|%s|%s\n",
                 job.trace_id, std::string(trace.strings.view(job.origin)).c_str(),
                 std::string(trace.strings.view(job.user)).c_str(), submit, submit, submit + run,
                 run, minutes / 1440, static_cast<int>(minutes / 60 % 24),
                 static_cast<int>(minutes % 60), nodes, cpus, tres.c_str(), tres.c_str());
  }
}

struct SynthCommand {
  SynthOptions options;
  std::string out = "-";
  std::vector<std::string> gpu_types;
  std::int64_t start_epoch = floor_seconds(SynthOptions{}.start);
};

InputError bad_option(const std::string& message, const std::string& hint) {
  return InputError({Severity::error, "C071", "", 0, message, hint});
}

void add_gpu_types(SynthCommand& command) {
  for (const std::string& word : command.gpu_types) {
    const std::size_t equals = word.find('=');
    double weight = 1;
    if (equals != std::string::npos) {
      char* end = nullptr;
      weight = std::strtod(word.c_str() + equals + 1, &end);
      if (*end != '\0' || end == word.c_str() + equals + 1) {
        throw bad_option("--gpu-type " + word + ": no number behind =", "TYPE or TYPE=WEIGHT");
      }
    }
    command.options.gpu_types.emplace_back(word.substr(0, equals), weight);
  }
}

void make_synthetic(const Context& context, SynthCommand command) {
  command.options.seed = context.seed;
  command.options.start = from_unix_seconds(command.start_epoch);
  add_gpu_types(command);
  const bool psv = command.out.ends_with(".psv");
  if (!psv && !command.out.ends_with(".swf") && command.out != "-") {
    throw bad_option("-o " + command.out + ": the ending says no format", "use .swf or .psv");
  }
  if (!psv && command.options.clusters.size() > 1) {
    throw bad_option("SWF has no cluster column", "write .psv, or one SWF per cluster");
  }
  const Trace trace = synth(command.options);
  const bool to_stdout = command.out == "-";
  std::FILE* out = to_stdout ? stdout : std::fopen(command.out.c_str(), "w");
  if (out == nullptr) throw FileError(command.out, errno, "write");
  psv ? write_psv(trace, out) : write_swf(trace, out);
  const bool failed = std::ferror(out) != 0;
  if ((!to_stdout && std::fclose(out) != 0) || failed) throw FileError(command.out, errno, "write");
  if (!to_stdout) {
    say(context, "wrote " + std::to_string(trace.jobs.size()) + " jobs to " + command.out);
  }
}

void add_synth(CLI::App& trace, Context& context) {
  CLI::App* command = trace.add_subcommand("synth", "Writes a synthetic trace (seed: --seed)");
  const auto c = std::make_shared<SynthCommand>();
  SynthOptions& o = c->options;
  const auto option = [&](const std::string& name, auto& value, const std::string& help) {
    command->add_option(name, value, help)->capture_default_str();
  };
  option("-o,--output", c->out, "FILE.swf, FILE.psv (as sacct -P) or - (SWF)");
  option("-n,--jobs", o.jobs, "Number of jobs");
  option("--mean-interarrival-s", o.mean_interarrival_s, "Mean time between submissions, seconds");
  command->add_flag("--daily-cycle", o.daily_cycle, "Arrival rate follows the hour of the day");
  option("--runtime-median-s", o.runtime_median_s, "Median run time (lognormal), seconds");
  option("--runtime-sigma", o.runtime_sigma, "Sigma of the logarithm of the run time");
  option("--runtime-min-s", o.runtime_min_s, "Shortest run time, seconds");
  option("--runtime-max-s", o.runtime_max_s, "Longest run time, seconds");
  option("--limit-over-max", o.limit_over_max, "Limit = run time x U(1, this), up to a minute");
  option("--max-units", o.max_units, "Largest job, units (GPUs, or CPUs without --gpu-type)");
  option("--size-decay", o.size_decay, "P(2^k units) ~ this^k");
  option("--users", o.users, "Number of users");
  command->add_option("--clusters", o.clusters, "Origins, drawn evenly, comma separated")
      ->delimiter(',');
  command->add_option("--gpu-type", c->gpu_types, "TYPE or TYPE=WEIGHT, comma separated")
      ->delimiter(',');
  option("--gpus-per-node", o.gpus_per_node, "Larger jobs ask for several nodes of this many");
  option("--cpus-per-gpu", o.cpus_per_gpu, "CPUs that go with each GPU");
  option("--start", c->start_epoch, "First instant, seconds since 1970-01-01 UTC");
  command->callback([&context, c] { make_synthetic(context, *c); });
}

}  // namespace

void add_trace(CLI::App& root, Context& context) {
  CLI::App* trace = root.add_subcommand("trace", "Looks at traces and makes synthetic ones");
  trace->require_subcommand(1);

  CLI::App* show_command = trace->add_subcommand("show", "Normalised jobs, one JSON object a line");
  const auto show_options = std::make_shared<TraceOptions>();
  add_read_options(*show_command, *show_options);
  add_format(*show_command, show_options->format, {"jsonl"});
  show_command->callback([&context, show_options] { show(context, *show_options); });

  CLI::App* info_command = trace->add_subcommand("info", "What is in a trace: every row counted");
  const auto info_options = std::make_shared<TraceOptions>();
  add_read_options(*info_command, *info_options);
  add_format(*info_command, info_options->format, {"text", "json"});
  info_command->callback([info_options] { info(*info_options); });

  CLI::App* fields = trace->add_subcommand(
      "sacct-fields", "Fields for sacct --format, so that a dump has all that fedsim reads");
  fields->callback([] { print_line(kSacctFields); });

  add_synth(*trace, context);
}

}  // namespace fedsim::apps
