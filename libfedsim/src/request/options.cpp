// parse_sbatch(): the options of sbatch(1) in all their spellings, as getopt_long reads them.
//
// Every option is one of three kinds: recorded in JobSpec or ResourceRequest; without influence on
// scheduling (read and dropped); or influential but not modelled, which is an error that names it.
// Nothing is resolved here: defaults and Slurm's own adjustments are the scheduler's.
#include "request/options.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace fedsim {
namespace {

enum class Argument { none, required, optional };

// What is done with an option; the first group is recorded.
enum class Action {
  account, array, begin, cluster_constraint, clusters, constraint, contiguous, cpus_per_gpu,
  cpus_per_task, dependency, exclude, exclusive, gpus, gpus_per_node, gpus_per_socket,
  gpus_per_task, gres, hold, job_name, mem, mem_per_cpu, mem_per_gpu, nice, no_requeue, nodelist,
  nodes, ntasks, ntasks_per_gpu, ntasks_per_node, overcommit, partition, qos, requeue,
  sockets_per_node, time, uid, use_min_nodes,
  no_influence, not_modelled
};

struct Option {
  std::string_view name;
  char letter;
  Argument argument;
  Action action;
};

constexpr Argument kNone = Argument::none;
constexpr Argument kValue = Argument::required;
constexpr Argument kMaybe = Argument::optional;

constexpr Option kRecorded[] = {
    {"account", 'A', kValue, Action::account},
    {"array", 'a', kValue, Action::array},
    {"begin", 'b', kValue, Action::begin},
    {"cluster-constraint", 0, kValue, Action::cluster_constraint},
    {"cluster", 0, kValue, Action::clusters},
    {"clusters", 'M', kValue, Action::clusters},
    {"constraint", 'C', kValue, Action::constraint},
    {"contiguous", 0, kNone, Action::contiguous},
    {"cpus-per-gpu", 0, kValue, Action::cpus_per_gpu},
    {"cpus-per-task", 'c', kValue, Action::cpus_per_task},
    {"dependency", 'd', kValue, Action::dependency},
    {"exclude", 'x', kValue, Action::exclude},
    {"exclusive", 0, kMaybe, Action::exclusive},
    {"gpus", 'G', kValue, Action::gpus},
    {"gpus-per-node", 0, kValue, Action::gpus_per_node},
    {"gpus-per-socket", 0, kValue, Action::gpus_per_socket},
    {"gpus-per-task", 0, kValue, Action::gpus_per_task},
    {"gres", 0, kValue, Action::gres},
    {"hold", 'H', kNone, Action::hold},
    {"job-name", 'J', kValue, Action::job_name},
    {"mem", 0, kValue, Action::mem},
    {"mem-per-cpu", 0, kValue, Action::mem_per_cpu},
    {"mem-per-gpu", 0, kValue, Action::mem_per_gpu},
    {"nice", 0, kMaybe, Action::nice},
    {"no-requeue", 0, kNone, Action::no_requeue},
    {"nodelist", 'w', kValue, Action::nodelist},
    {"nodes", 'N', kValue, Action::nodes},
    {"ntasks", 'n', kValue, Action::ntasks},
    {"ntasks-per-gpu", 0, kValue, Action::ntasks_per_gpu},
    {"ntasks-per-node", 0, kValue, Action::ntasks_per_node},
    {"tasks-per-node", 0, kValue, Action::ntasks_per_node},
    {"overcommit", 'O', kNone, Action::overcommit},
    {"partition", 'p', kValue, Action::partition},
    {"qos", 'q', kValue, Action::qos},
    {"requeue", 0, kNone, Action::requeue},
    {"sockets-per-node", 0, kValue, Action::sockets_per_node},
    {"time", 't', kValue, Action::time},
    {"uid", 0, kValue, Action::uid},
    {"use-min-nodes", 0, kNone, Action::use_min_nodes},
};

constexpr Action kDrop = Action::no_influence;
constexpr Option kNoInfluence[] = {
    {"acctg-freq", 0, kValue, kDrop},     {"chdir", 'D', kValue, kDrop},
    {"comment", 0, kValue, kDrop},        {"container", 0, kValue, kDrop},
    {"container-id", 0, kValue, kDrop},   {"cpu-freq", 0, kValue, kDrop},
    {"delay-boot", 0, kValue, kDrop},     {"error", 'e', kValue, kDrop},
    {"export", 0, kValue, kDrop},         {"export-file", 0, kValue, kDrop},
    {"extra", 0, kValue, kDrop},          {"get-user-env", 0, kMaybe, kDrop},
    {"gid", 0, kValue, kDrop},            {"gpu-bind", 0, kValue, kDrop},
    {"gpu-freq", 0, kValue, kDrop},       {"ignore-pbs", 0, kNone, kDrop},
    {"input", 'i', kValue, kDrop},        {"kill-on-invalid-dep", 0, kValue, kDrop},
    {"mail-type", 0, kValue, kDrop},      {"mail-user", 0, kValue, kDrop},
    {"mem-bind", 0, kValue, kDrop},       {"network", 0, kValue, kDrop},
    {"no-kill", 'k', kMaybe, kDrop},      {"open-mode", 0, kValue, kDrop},
    {"output", 'o', kValue, kDrop},       {"parsable", 0, kNone, kDrop},
    {"profile", 0, kValue, kDrop},        {"propagate", 0, kMaybe, kDrop},
    {"quiet", 'Q', kNone, kDrop},         {"verbose", 'v', kNone, kDrop},
    {"wait", 'W', kNone, kDrop},          {"wckey", 0, kValue, kDrop},
    {"wrap", 0, kValue, kDrop},           {"tres-bind", 0, kValue, kDrop},
};

constexpr Action kRefuse = Action::not_modelled;
constexpr Option kNotModelled[] = {
    {"batch", 0, kValue, kRefuse},
    {"bb", 0, kValue, kRefuse},                {"bbf", 0, kValue, kRefuse},
    {"core-spec", 'S', kValue, kRefuse},       {"cores-per-socket", 0, kValue, kRefuse},
    {"deadline", 0, kValue, kRefuse},
    {"distribution", 'm', kValue, kRefuse},    {"extra-node-info", 'B', kValue, kRefuse},
    {"gres-flags", 0, kValue, kRefuse},        {"hint", 0, kValue, kRefuse},
    {"licenses", 'L', kValue, kRefuse},        {"mcs-label", 0, kValue, kRefuse},
    {"mincpus", 0, kValue, kRefuse},           {"nodefile", 'F', kValue, kRefuse},
    {"ntasks-per-core", 0, kValue, kRefuse},   {"ntasks-per-socket", 0, kValue, kRefuse},
    {"oversubscribe", 's', kNone, kRefuse},    {"power", 0, kValue, kRefuse},
    {"prefer", 0, kValue, kRefuse},            {"priority", 0, kValue, kRefuse},
    {"reboot", 0, kNone, kRefuse},             {"reservation", 0, kValue, kRefuse},
    {"resv-ports", 0, kMaybe, kRefuse},        {"segment", 0, kValue, kRefuse},
    {"signal", 0, kValue, kRefuse},            {"spread-job", 0, kNone, kRefuse},
    {"switches", 0, kValue, kRefuse},          {"test-only", 0, kNone, kRefuse},
    {"thread-spec", 0, kValue, kRefuse},       {"threads-per-core", 0, kValue, kRefuse},
    {"time-min", 0, kValue, kRefuse},          {"tmp", 0, kValue, kRefuse},
    {"tres-per-task", 0, kValue, kRefuse},
};

template <class F>
void for_each_option(F&& f) {
  for (const Option& o : kRecorded) f(o);
  for (const Option& o : kNoInfluence) f(o);
  for (const Option& o : kNotModelled) f(o);
}

class Parser {
 public:
  Parser(const std::vector<std::string>& argv, StringTable& strings)
      : argv_(argv), strings_(strings) {}

  ParsedRequest parse() {
    while (at_ < argv_.size()) {
      const std::string& word = argv_[at_++];
      if (word == ":") {
        error("C084", "option : (heterogeneous job) is not modelled", kHint);
      } else if (word.starts_with("--") && word.size() > 2) {
        long_option(std::string_view(word).substr(2));
      } else if (word.size() > 1 && word[0] == '-' && word != "--") {
        letters(std::string_view(word).substr(1));
      } else {
        // The script; what follows are its arguments, unless another component comes.
        if (std::find(argv_.begin() + static_cast<std::ptrdiff_t>(at_), argv_.end(), ":") !=
            argv_.end()) {
          error("C084", "option : (heterogeneous job) is not modelled", kHint);
        }
        break;
      }
    }
    return std::move(out_);
  }

 private:
  static constexpr const char* kHint = "it influences scheduling, so it is not dropped in silence";

  void error(const char* code, std::string message, std::string hint) {
    out_.diagnostics.push_back(
        {Severity::error, code, "", 0, std::move(message), std::move(hint)});
  }

  // Exact name, or a prefix that only one option has, as getopt_long does.
  const Option* find_long(std::string_view name) const {
    const Option* exact = nullptr;
    const Option* prefix = nullptr;
    std::size_t prefixes = 0;
    for_each_option([&](const Option& o) {
      if (o.name == name) exact = &o;
      if (o.name.starts_with(name)) {
        prefix = &o;
        ++prefixes;
      }
    });
    if (exact != nullptr) return exact;
    return prefixes == 1 ? prefix : nullptr;
  }

  void long_option(std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const Option* option = find_long(name);
    if (option == nullptr) {
      return error("C080", "unknown sbatch option --" + std::string(name), "see sbatch(1)");
    }
    const std::string shown = "--" + std::string(option->name);
    if (equals != std::string_view::npos) {
      if (option->argument == kNone) {
        return error("C082", shown + " takes no value", "");
      }
      return apply(*option, shown, text.substr(equals + 1));
    }
    if (option->argument != kValue) return apply(*option, shown, "");
    next_word(*option, shown);
  }

  void letters(std::string_view text) {
    while (!text.empty()) {
      const char letter = text.front();
      text.remove_prefix(1);
      const Option* option = nullptr;
      for_each_option([&](const Option& o) {
        if (o.letter == letter) option = &o;
      });
      const std::string shown = std::string("-") + letter;
      if (option == nullptr) return error("C080", "unknown sbatch option " + shown, "");
      if (option->argument == kValue) {
        if (text.empty()) return next_word(*option, shown);
        return apply(*option, shown, text);
      }
      if (option->argument == kMaybe) return apply(*option, shown, text);
      apply(*option, shown, "");
    }
  }

  void next_word(const Option& option, const std::string& shown) {
    if (at_ == argv_.size()) return error("C083", "option " + shown + " needs a value", "");
    apply(option, shown, argv_[at_++]);
  }

  void bad_value(const std::string& shown, std::string_view value, const char* forms) {
    error("C082", "option " + shown + ": can't read \"" + std::string(value) + "\"",
          std::string("accepted: ") + forms);
  }

  void count(const std::string& shown, std::string_view value, int& field) {
    const auto n = parse_digits_only(value);
    if (!n || *n < 1 || *n > INT32_MAX) return bad_value(shown, value, "a number of at least 1");
    field = static_cast<int>(*n);
  }

  void memory(const std::string& shown, std::string_view value, std::int64_t& field) {
    const auto n = parse_memory_mib(value);
    if (!n) return bad_value(shown, value, "a whole number with K, M (default), G or T");
    field = *n;
  }

  using GresList = std::vector<GresRequest>;
  void append(const std::string& shown, std::string_view value, std::optional<GresList> parsed,
              GresList& field, const char* forms) {
    if (!parsed) return bad_value(shown, value, forms);
    for (GresRequest& g : *parsed) field.push_back(std::move(g));
  }

  void apply(const Option& option, const std::string& shown, std::string_view value) {
    if (option.action == Action::no_influence) return;
    if (option.action == Action::not_modelled) {
      const bool both = option.letter != 0 && shown.size() == 2;
      return error("C081",
                   "option " + shown + (both ? " (--" + std::string(option.name) + ")" : "") +
                       " is not modelled",
                   kHint);
    }
    if (!apply_size(option.action, shown, value) && !apply_gres(option.action, shown, value)) {
      apply_other(option.action, shown, value);
    }
  }

  // Tasks, CPUs, memory, nodes. True when `action` is one of them.
  bool apply_size(Action action, const std::string& shown, std::string_view value) {
    ResourceRequest& r = out_.request;
    switch (action) {
      case Action::cpus_per_gpu: count(shown, value, r.cpus_per_gpu); return true;
      case Action::cpus_per_task: count(shown, value, r.cpus_per_task); return true;
      case Action::ntasks: count(shown, value, r.ntasks); return true;
      case Action::ntasks_per_gpu: count(shown, value, r.ntasks_per_gpu); return true;
      case Action::ntasks_per_node: count(shown, value, r.ntasks_per_node); return true;
      case Action::sockets_per_node: count(shown, value, r.sockets_per_node); return true;
      case Action::mem: memory(shown, value, r.mem_per_node_mib); return true;
      case Action::mem_per_cpu: memory(shown, value, r.mem_per_cpu_mib); return true;
      case Action::mem_per_gpu: memory(shown, value, r.mem_per_gpu_mib); return true;
      case Action::contiguous: r.contiguous = true; return true;
      case Action::overcommit: r.overcommit = true; return true;
      case Action::use_min_nodes: r.use_min_nodes = true; return true;
      case Action::constraint: r.constraint = value; return true;
      case Action::nodelist: r.nodelist = value; return true;
      case Action::exclude: r.exclude = value; return true;
      case Action::exclusive:
        if (!value.empty()) {
          error("C081", "option --exclusive=" + std::string(value) + " is not modelled", kHint);
        }
        r.exclusive = true;
        return true;
      case Action::nodes: {
        const auto range = parse_node_range(value);
        if (!range) {
          bad_value(shown, value, "N or MIN-MAX");
          return true;
        }
        r.nodes_min = range->min;
        r.nodes_max = range->max;
        return true;
      }
      default: return false;
    }
  }

  bool apply_gres(Action action, const std::string& shown, std::string_view value) {
    static constexpr const char* kGpus = "[TYPE:]COUNT, comma separated";
    ResourceRequest& r = out_.request;
    switch (action) {
      case Action::gres:
        append(shown, value, parse_gres_list(value), r.gres_per_node,
               "NAME[:TYPE][:COUNT], comma separated");
        return true;
      case Action::gpus:
        append(shown, value, parse_gpu_list(value), r.gres_per_job, kGpus);
        return true;
      case Action::gpus_per_node:
        append(shown, value, parse_gpu_list(value), r.gres_per_node, kGpus);
        return true;
      case Action::gpus_per_task:
        append(shown, value, parse_gpu_list(value), r.gres_per_task, kGpus);
        return true;
      case Action::gpus_per_socket:
        append(shown, value, parse_gpu_list(value), r.gres_per_socket, kGpus);
        return true;
      default: return false;
    }
  }

  void apply_other(Action action, const std::string& shown, std::string_view value) {
    JobSpec& job = out_.job;
    switch (action) {
      case Action::account: job.account = strings_.intern(value); break;
      case Action::cluster_constraint: job.cluster_constraint = strings_.intern(value); break;
      case Action::clusters: job.clusters = strings_.intern(value); break;
      case Action::job_name: job.name = strings_.intern(value); break;
      case Action::partition: job.partition = strings_.intern(value); break;
      case Action::qos: job.qos = strings_.intern(value); break;
      case Action::uid: job.user = strings_.intern(value); break;
      case Action::dependency: job.dependency = strings_.intern(value); break;
      case Action::hold: job.held = true; break;
      case Action::requeue: job.requeue = true; break;
      case Action::no_requeue: job.requeue = false; break;
      case Action::array: {
        const auto array = parse_array(value);
        if (!array) return bad_value(shown, value, "task ids as 0-7,9,10-20:5, with %N at the end");
        out_.array_tasks = array->tasks;
        job.array_limit = array->limit;
        break;
      }
      case Action::time: {
        const auto limit = parse_time_limit(value);
        if (!limit) return bad_value(shown, value, "M, M:S, H:M:S, D-H, D-H:M, D-H:M:S, UNLIMITED");
        job.limit_s = *limit;
        break;
      }
      case Action::begin: {
        const auto offset = parse_begin_offset(value);
        if (!offset) return bad_value(shown, value, "now, now+COUNT[seconds|minutes|hours|...]");
        job.begin = SimTime{*offset};
        break;
      }
      case Action::nice: {
        const bool negative = value.starts_with('-');
        const auto n = parse_digits_only(negative ? value.substr(1) : value);
        if (!value.empty() && (!n || *n > 2147483645)) {
          return bad_value(shown, value, "a number up to 2147483645");
        }
        const auto size = static_cast<std::int32_t>(value.empty() ? 100 : *n);
        job.nice = negative ? -size : size;
        break;
      }
      default: break;
    }
  }

  const std::vector<std::string>& argv_;
  StringTable& strings_;
  std::size_t at_ = 0;
  ParsedRequest out_;
};

}  // namespace

ParsedRequest parse_sbatch(const std::vector<std::string>& argv, StringTable& strings) {
  return Parser(argv, strings).parse();
}

}  // namespace fedsim
