// parse_sbatch() and its inverse: sbatch's options as a job of a trace. Nothing is resolved here;
// defaults and Slurm's own adjustments are the controller's.
#include "request/options.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "request/sbatch.hpp"

namespace fedsim {
namespace {

/// Options that change what Slurm does with a job and that no engine models.
constexpr std::array kNotModelled{
    "batch",       "bb",       "bbf",       "core-spec",   "deadline", "licenses",
    "mcs-label",   "nodefile", "power",     "prefer",      "priority", "reboot",
    "reservation", "signal",   "test-only", "thread-spec", "time-min",
};

/// A wall clock for reading: what is meant relative to the submission stays so.
constexpr std::int64_t kClock = 1'000'000'000;

int to_int(std::int64_t n) {
  return static_cast<int>(std::clamp<std::int64_t>(n, 0, INT32_MAX));
}

std::vector<GresRequest> gres_list(const std::string& text, bool gpus) {
  if (text.empty()) return {};
  auto list = gpus ? parse_gpu_list(text) : parse_gres_list(text);
  if (list) return *std::move(list);
  return {{text, "", kUnset}};
}

ResourceRequest request_of(const SbatchValues& v) {
  const JobDescription& j = v.job;
  ResourceRequest r;
  if (v.nodes_set) {
    r.nodes_min = to_int(v.min_nodes);
    r.nodes_max = to_int(v.max_nodes);
  }
  if (v.ntasks_set) r.ntasks = to_int(v.ntasks);
  if (v.cpus_set) r.cpus_per_task = to_int(v.cpus_per_task);
  r.ntasks_per_node = to_int(j.ntasks_per_node);
  r.mem_per_node_mib = v.mem;
  r.mem_per_cpu_mib = v.mem_per_cpu;
  r.mem_per_gpu_mib = v.mem_per_gpu;
  r.gres_per_node = gres_list(v.gpus_per_node, true);
  for (GresRequest& g : gres_list(v.gres, false)) r.gres_per_node.push_back(std::move(g));
  r.gres_per_job = gres_list(v.gpus, true);
  r.gres_per_task = gres_list(v.gpus_per_task, true);
  r.gres_per_socket = gres_list(v.gpus_per_socket, true);
  r.ntasks_per_socket = to_int(j.ntasks_per_socket);
  r.ntasks_per_core = to_int(j.ntasks_per_core);
  r.sockets_per_node = to_int(j.sockets_per_node);
  r.cores_per_socket = to_int(j.cores_per_socket);
  r.threads_per_core = to_int(j.threads_per_core);
  r.min_cpus_per_node = to_int(j.min_cpus_per_node);
  r.tmp_mib = j.tmp_mib;
  r.switches = to_int(j.switches);
  r.switch_wait_s = j.switch_wait_s;
  r.cpus_per_gpu = to_int(v.cpus_per_gpu);
  r.ntasks_per_gpu = to_int(v.ntasks_per_gpu);
  r.exclusive = j.shared == SharedNodes::none;
  r.oversubscribe = j.shared == SharedNodes::ok;
  r.contiguous = j.contiguous;
  r.overcommit = j.overcommit;
  r.use_min_nodes = j.use_min_nodes;
  r.spread = j.spread;
  r.enforce_binding = j.enforce_binding;
  r.extra_node_info = v.extra_set;
  r.constraint = j.features;
  r.nodelist = j.nodelist;
  r.exclude = j.exclude;
  r.distribution = v.distribution;
  r.hint = v.hint;
  return r;
}

/// Every generic resource that the lists name, as if the cluster had it: whether it does is the
/// controller's to say.
std::set<std::string> named_gres(const ResourceRequest& r) {
  std::set<std::string> names{"gpu"};
  for (const GresRequest& g : r.gres_per_node)
    if (g.count != kUnset) names.insert(g.name);
  return names;
}

class Parser {
 public:
  explicit Parser(StringTable& strings) : strings_(strings) {}

  ParsedRequest run(const std::vector<std::string>& argv) {
    if (std::find(argv.begin(), argv.end(), ":") != argv.end())
      error("C084", "option : (heterogeneous job) is not modelled", kHint);
    SbatchConfig config;
    config.now_s = kClock;
    config.every_mistake = true;
    SbatchOutcome read;
    const bool good = read_sbatch_options(argv, config, v_, read);
    report(read);
    out_.request = request_of(v_);
    if (good) {
      config.gres_types = named_gres(out_.request);
      const SbatchOutcome sent = finish_sbatch(v_, config);
      if (!sent.sent) report(sent);
      if (!sent.sent && sent.lines.empty())
        error("C082", "sbatch would print a list and submit nothing", "");
    } else if (read.lines.empty()) {
      error("C082", "sbatch would print a list and submit nothing", "");
    }
    refuse_unmodelled();
    job();
    return std::move(out_);
  }

 private:
  static constexpr const char* kHint = "it influences scheduling, so it is not dropped in silence";

  void error(const char* code, std::string message, std::string hint) {
    out_.diagnostics.push_back({Severity::error, code, "", 0, std::move(message), std::move(hint)});
  }

  /// sbatch's text, with the option where it does not say which.
  std::string shown(const SbatchOutcome& from, std::size_t i) const {
    const std::string& line = from.lines[i];
    if (line.find("--") != std::string::npos) return line;
    if (i < from.about.size())
      return from.about[i].empty() ? line : "--" + from.about[i] + ": " + line;
    std::string given;
    for (const auto& [name, value] : {std::pair{"--gres=", &v_.gres},
                                      {"--gpus=", &v_.gpus},
                                      {"--gpus-per-node=", &v_.gpus_per_node},
                                      {"--gpus-per-socket=", &v_.gpus_per_socket},
                                      {"--gpus-per-task=", &v_.gpus_per_task}})
      if (!value->empty()) given += (given.empty() ? "" : " ") + std::string(name) + *value;
    return given.empty() ? line : line + " (" + given + ")";
  }

  void report(const SbatchOutcome& from) {
    for (std::size_t i = 0; i < from.lines.size(); ++i) {
      const std::string& line = from.lines[i];
      const auto has = [&](const char* part) { return line.find(part) != std::string::npos; };
      if (has("for more information") || has(": Warning: ")) continue;
      const char* code = "C082";
      if (has("unrecognized option") || has("invalid option") || has("is ambiguous")) code = "C080";
      if (has("requires an argument")) code = "C083";
      error(code, shown(from, i), "see sbatch(1)");
    }
  }

  void refuse_unmodelled() {
    for (const char* name : kNotModelled)
      if (v_.job.has(name))
        error("C081", std::string("option --") + name + " is not modelled", kHint);
    if (v_.job.shared == SharedNodes::user || v_.job.shared == SharedNodes::mcs) {
      const char* mode = v_.job.shared == SharedNodes::user ? "user" : "mcs";
      error("C081", std::string("option --exclusive=") + mode + " is not modelled", kHint);
    }
  }

  void job() {
    JobSpec& job = out_.job;
    const JobDescription& j = v_.job;
    const auto set = [&](StringId& field, const std::string& text) {
      if (!text.empty()) field = strings_.intern(text);
    };
    set(job.account, j.account);
    set(job.cluster_constraint, j.cluster_constraint);
    set(job.clusters, j.clusters);
    set(job.name, j.name);
    set(job.partition, j.partition);
    set(job.qos, j.qos);
    set(job.user, v_.user);
    set(job.dependency, j.dependency);
    job.held = j.hold;
    job.requeue = j.requeue;
    job.nice = static_cast<std::int32_t>(std::clamp<std::int64_t>(j.nice, INT32_MIN, INT32_MAX));
    if (j.time_limit_min != kUnset)
      job.limit_s = j.time_limit_min < 0 ? kUnlimited : j.time_limit_min * 60;
    if (j.has("array")) array(j.array);
    if (!j.has("begin") || v_.begin_s == 0) return;
    if (!parse_begin_offset(v_.begin))
      return error("C082", "option --begin: can't read \"" + v_.begin + "\"",
                   "accepted: now, now+COUNT[seconds|minutes|hours|...]");
    job.begin = SimTime{kSecond * (v_.begin_s - kClock)};
  }

  void array(const std::string& text) {
    const auto array = parse_array(text);
    if (!array)
      return error("C082", "option --array: can't read \"" + text + "\"",
                   "accepted: task ids as 0-7,9,10-20:5, with %N at the end");
    out_.array_tasks = array->tasks;
    out_.job.array_limit = array->limit;
  }

  StringTable& strings_;
  SbatchValues v_;
  ParsedRequest out_;
};

/// Collects the words of one command line.
class Words {
 public:
  void count(const char* option, std::int64_t n) {
    if (n > 0) out_.push_back(option + std::to_string(n));
  }
  void size(const char* option, std::int64_t mib) {
    if (mib >= 0) out_.push_back(option + std::to_string(mib) + "M");
  }
  void flag(const char* option, bool given) {
    if (given) out_.emplace_back(option);
  }
  void text(const char* option, const std::string& value) {
    if (!value.empty()) out_.push_back(option + value);
  }
  void gres(const char* option, const std::vector<GresRequest>& list, bool gpus) {
    std::string all;
    for (const GresRequest& g : list) {
      std::string entry = g.count == kUnset || !gpus ? g.name + ":" : "";
      if (!g.type.empty()) entry += g.type + ":";
      if (g.count == kUnset) entry.pop_back();
      if (g.count != kUnset) entry += std::to_string(g.count);
      all += (all.empty() ? "" : ",") + entry;
    }
    text(option, all);
  }
  std::vector<std::string> take() { return std::move(out_); }

 private:
  std::vector<std::string> out_;
};

std::string nodes_word(const ResourceRequest& r) {
  if (r.nodes_min <= 0) return "";
  if (r.nodes_max == r.nodes_min) return std::to_string(r.nodes_min);
  return std::to_string(r.nodes_min) + "-" +
         std::to_string(r.nodes_max > 0 ? r.nodes_max : INT32_MAX);
}

std::string shape_word(const ResourceRequest& r) {
  const auto part = [](int n) { return n > 0 ? std::to_string(n) : std::string("*"); };
  return part(r.sockets_per_node) + ":" + part(r.cores_per_socket) + ":" + part(r.threads_per_core);
}

}  // namespace

ParsedRequest parse_sbatch(const std::vector<std::string>& argv, StringTable& strings) {
  return Parser(strings).run(argv);
}

std::vector<std::string> sbatch_options(const ResourceRequest& r) {
  Words w;
  w.text("--nodes=", nodes_word(r));
  w.count("--ntasks=", r.ntasks);
  w.count("--cpus-per-task=", r.cpus_per_task);
  w.count("--ntasks-per-node=", r.ntasks_per_node);
  w.count("--ntasks-per-socket=", r.ntasks_per_socket);
  w.count("--ntasks-per-core=", r.ntasks_per_core);
  w.count("--ntasks-per-gpu=", r.ntasks_per_gpu);
  w.size("--mem=", r.mem_per_node_mib);
  w.size("--mem-per-cpu=", r.mem_per_cpu_mib);
  w.size("--mem-per-gpu=", r.mem_per_gpu_mib);
  w.gres("--gres=", r.gres_per_node, false);
  w.gres("--gpus=", r.gres_per_job, true);
  w.gres("--gpus-per-task=", r.gres_per_task, true);
  w.gres("--gpus-per-socket=", r.gres_per_socket, true);
  w.count("--cpus-per-gpu=", r.cpus_per_gpu);
  if (r.extra_node_info) {
    w.text("--extra-node-info=", shape_word(r));
  } else {
    w.count("--sockets-per-node=", r.sockets_per_node);
    w.count("--cores-per-socket=", r.cores_per_socket);
    w.count("--threads-per-core=", r.threads_per_core);
  }
  w.count("--mincpus=", r.min_cpus_per_node);
  w.size("--tmp=", r.tmp_mib);
  if (r.switches > 0)
    w.text("--switches=",
           std::to_string(r.switches) +
               (r.switch_wait_s >= 0 ? "@0:" + std::to_string(r.switch_wait_s) : std::string()));
  w.flag("--exclusive", r.exclusive);
  w.flag("--oversubscribe", r.oversubscribe);
  w.flag("--contiguous", r.contiguous);
  w.flag("--overcommit", r.overcommit);
  w.flag("--use-min-nodes", r.use_min_nodes);
  w.flag("--spread-job", r.spread);
  w.flag("--gres-flags=enforce-binding", r.enforce_binding);
  w.text("--constraint=", r.constraint);
  w.text("--nodelist=", r.nodelist);
  w.text("--exclude=", r.exclude);
  w.text("--distribution=", r.distribution);
  w.text("--hint=", r.hint);
  return w.take();
}

}  // namespace fedsim
