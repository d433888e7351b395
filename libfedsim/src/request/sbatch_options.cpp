// The options of sbatch(1) as getopt_long reads them, their values and the texts for those that
// can't be read (22.05, as recorded: exit 255 for times, sizes, key words and node ranges, 1 for
// numbers).
#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"
#include "request/sbatch.hpp"
#include "request/words.hpp"

namespace fedsim {
namespace {

constexpr int kUnreadable = 255;

enum class Argument : std::uint8_t { none, required, optional };

class OptionReader {
 public:
  OptionReader(const std::vector<std::string>& argv, const SbatchConfig& config,
               SbatchValues& values, SbatchOutcome& out)
      : argv_(argv), config_(config), v_(values), out_(out) {}

  /// Unknown options end the command before any value is looked at.
  bool run() {
    collect();
    out_.about.resize(out_.lines.size());
    for (const Use& use : uses_) {
      if (gone()) return false;
      option_ = use.option;
      v_.job.given.insert(option_->name);
      (this->*option_->set)(use.value);
      out_.about.resize(out_.lines.size(), option_->name);
    }
    return !left_;
  }

 private:
  using Setter = void (OptionReader::*)(const std::string&);
  struct Option {
    const char* name;
    char letter;
    Argument argument;
    Setter set;
    const char* canonical = nullptr;  ///< of an alias
  };
  struct Use {
    const Option* option;
    std::string value;
  };

  static const std::vector<Option> kOptions;

  bool gone() const { return left_ && !config_.every_mistake; }
  void error(const std::string& text) { out_.lines.push_back("sbatch: error: " + text); }
  void leave(int code) {
    out_.exit_code = code;
    left_ = true;
  }
  void unreadable(const char* option) {
    error(std::string("Invalid --") + option + " specification");
    leave(kUnreadable);
  }
  void usage(const std::string& text) {
    out_.lines.push_back("sbatch: " + text);
    out_.lines.push_back("Try \"sbatch --help\" for more information");
    leave(kUnreadable);
  }

  // getopt_long ------------------------------------------------------------

  void collect() {
    for (std::size_t at = 0; at < argv_.size() && !gone(); ++at) {
      const std::string& word = argv_[at];
      if (word == "--" || word.size() < 2 || word[0] != '-') return;  // the script
      if (word[1] == '-')
        long_option(word.substr(2), at);
      else
        letters(word, at);
    }
  }

  void take(const Option& o, std::string value) { uses_.push_back({&o, std::move(value)}); }

  void long_option(const std::string& text, std::size_t& at) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const Option* exact = nullptr;
    std::vector<const Option*> starts;
    for (const Option& o : kOptions) {
      if (name == o.name) exact = &o;
      if (std::string_view(o.name).starts_with(name)) starts.push_back(&o);
    }
    if (exact == nullptr && starts.empty()) {
      return usage("unrecognized option '--" + text + "'");
    }
    if (exact == nullptr && starts.size() > 1) {
      std::string list;
      for (const Option* o : starts) list += std::string(" '--") + o->name + "'";
      return usage("option '--" + text + "' is ambiguous; possibilities:" + list);
    }
    const Option& o = exact != nullptr ? *exact : *starts[0];
    if (equals != std::string::npos) {
      if (o.argument == Argument::none) {
        return usage(std::string("option '--") + o.name + "' doesn't allow an argument");
      }
      return take(o, text.substr(equals + 1));
    }
    if (o.argument != Argument::required) return take(o, "");
    if (at + 1 >= argv_.size()) {
      return usage(std::string("option '--") + o.name + "' requires an argument");
    }
    take(o, argv_[++at]);
  }

  void letters(const std::string& word, std::size_t& at) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const auto o = std::find_if(kOptions.begin(), kOptions.end(),
                                  [&](const Option& x) { return x.letter == word[i]; });
      if (o == kOptions.end()) return usage(std::string("invalid option -- '") + word[i] + "'");
      if (o->argument == Argument::none) {
        take(*o, "");
        continue;
      }
      if (i + 1 < word.size() || o->argument == Argument::optional) {
        return take(*o, word.substr(i + 1));
      }
      if (at + 1 >= argv_.size()) {
        return usage(std::string("option requires an argument -- '") + word[i] + "'");
      }
      return take(*o, argv_[++at]);
    }
  }

  // Values -----------------------------------------------------------------

  std::string shown() const {
    return std::string("--") + (option_->canonical != nullptr ? option_->canonical : option_->name);
  }

  /// A count; exits with 1 when it can't be read, is negative or, unless `zero`, 0.
  std::optional<std::int64_t> number(const std::string& text, bool zero) {
    const auto value = read_decimal(text);
    if (!value || *value < 0 || (*value == 0 && !zero)) {
      error("Invalid numeric value \"" + text + "\" for " + shown() + ".");
      leave(1);
      return std::nullopt;
    }
    return value;
  }

  template <auto Field>
  void text(const std::string& value) {
    v_.job.*Field = value;
  }
  template <auto Field>
  void own_text(const std::string& value) {
    v_.*Field = value;
  }
  template <auto Field>
  void count(const std::string& value) {
    if (const auto n = number(value, false)) v_.job.*Field = *n;
  }
  template <auto Field>
  void own_count(const std::string& value) {
    if (const auto n = number(value, false)) v_.*Field = *n;
  }
  template <auto Field>
  void flag(const std::string&) {
    v_.job.*Field = true;
  }
  template <auto Field>
  void size(const std::string& value) {
    const auto mib = read_size_mib(value);
    if (!mib) return unreadable(option_->name);
    v_.*Field = *mib;
  }
  void drop(const std::string&) {}

  void set_tmp(const std::string& value) {
    const auto mib = read_size_mib(value);
    if (!mib) return unreadable("tmp");
    v_.job.tmp_mib = *mib;
  }
  void set_ntasks(const std::string& value) {
    if (const auto n = number(value, false)) v_.ntasks = *n;
    v_.ntasks_set = true;
  }
  void set_cpus(const std::string& value) {
    if (const auto n = number(value, false)) v_.cpus_per_task = *n;
    v_.cpus_set = true;
  }
  void set_nodes(const std::string& value);
  void set_exclusive(const std::string& value);
  void set_gres(const std::string& value) {
    v_.gres.clear();
    if (iequals(value, "help") || iequals(value, "list")) return leave(0);
    if (iequals(value, "none")) return;
    // Every entry without the word gets "gres:" before it.
    for (std::string entry : split(value, ',')) {
      if (!entry.starts_with("gres:")) entry = "gres:" + entry;
      v_.gres += (v_.gres.empty() ? "" : ",") + entry;
    }
  }
  void set_gres_flags(const std::string& value) {
    if (!iequals(value, "disable-binding") && !iequals(value, "enforce-binding")) {
      return unreadable("gres-flags");
    }
    v_.job.enforce_binding = iequals(value, "enforce-binding");
  }
  void set_gpu_bind(const std::string& value);
  void set_nice(const std::string& value) {
    // strtoll(): what is no number is 0.
    v_.job.nice = option_ != nullptr && value.empty() ? 100 : read_leading_decimal(value);
    constexpr std::int64_t kMost = 2147483645;
    if (v_.job.nice > kMost || v_.job.nice < -kMost) {
      error("Invalid --nice value, out of range (+/- 2147483645)");
      leave(kUnreadable);
    }
  }
  void set_time(const std::string& value) {
    const auto minutes = read_minutes(value);
    if (!minutes) return unreadable("time");
    v_.job.time_limit_min = *minutes == 0 ? kUnlimited : *minutes;
  }
  void set_time_min(const std::string& value) {
    const auto minutes = read_minutes(value);
    if (!minutes) return unreadable("time-min");
    v_.job.time_min_min = *minutes == 0 ? kUnlimited : *minutes;
  }
  std::int64_t instant(const std::string& value) {
    const InstantWord read = read_instant(value, config_.now_s);
    if (read.seconds == 0) {
      out_.lines.push_back("Invalid time specification (pos=" + std::to_string(read.position) +
                           "): " + value);
      unreadable(option_->name);
    }
    return read.seconds;
  }
  void set_begin(const std::string& value) {
    v_.begin = value;
    v_.begin_s = instant(value);
  }
  void set_deadline(const std::string& value) { v_.deadline_s = instant(value); }
  void set_core_spec(const std::string& value) {
    if (const auto n = number(value, true)) v_.core_spec = *n;
    v_.core_spec_is_threads = false;
  }
  void set_thread_spec(const std::string& value) {
    if (const auto n = number(value, false)) v_.core_spec = *n;
    v_.core_spec_is_threads = true;
  }
  void set_switches(const std::string& value) {
    const std::size_t at = value.find('@');
    if (at != std::string::npos) {
      v_.job.switch_wait_s = parse_slurm_time(value.substr(at + 1)).value_or(kUnset);
    }
    if (const auto n = number(value.substr(0, at), false)) v_.job.switches = *n;
  }
  void set_shape(const std::string& value);
  void set_distribution(const std::string& value);
  void set_oversubscribe(const std::string&) { v_.job.shared = SharedNodes::ok; }
  void set_no_requeue(const std::string&) { v_.job.requeue = false; }
  void set_requeue(const std::string&) { v_.job.requeue = true; }

  const std::vector<std::string>& argv_;
  const SbatchConfig& config_;
  SbatchValues& v_;
  SbatchOutcome& out_;
  const Option* option_ = nullptr;
  bool left_ = false;  ///< the command has exited
  std::vector<Use> uses_;
};

void OptionReader::set_nodes(const std::string& value) {
  v_.nodes_set = true;
  const std::size_t dash = value.find('-');
  const auto bad = [&](const std::string& part) {
    error("\"" + part + "\" is not a valid node count");
    leave(kUnreadable);
  };
  const std::string low = value.substr(0, dash);
  const auto least = read_node_count(low);
  if (!least.whole) return bad(low);
  if (dash == std::string::npos) {
    if (!least.any || least.value < 0) return bad(value);
    v_.min_nodes = v_.max_nodes = least.value;
  } else {
    const std::string high = value.substr(dash + 1);
    const auto most = read_node_count(high);
    if (!most.whole) return bad(high);
    v_.min_nodes = least.any ? least.value : 1;
    v_.max_nodes = most.any ? most.value : -1;
  }
  if (v_.max_nodes != 0 && v_.max_nodes < v_.min_nodes) {
    error("Maximum node count " + std::to_string(v_.max_nodes) +
          " is less than minimum node count " + std::to_string(v_.min_nodes));
    leave(kUnreadable);
  }
}

void OptionReader::set_exclusive(const std::string& value) {
  if (value.empty() || iequals(value, "exclusive"))
    v_.job.shared = SharedNodes::none;
  else if (iequals(value, "oversubscribe"))
    v_.job.shared = SharedNodes::ok;
  else if (iequals(value, "user"))
    v_.job.shared = SharedNodes::user;
  else if (iequals(value, "mcs"))
    v_.job.shared = SharedNodes::mcs;
  else
    unreadable("exclusive");
}

void OptionReader::set_gpu_bind(const std::string& value) {
  std::string word = to_lower(value);
  if (word.starts_with("verbose,")) word.erase(0, 8);
  const auto list = [&](std::size_t from, bool hex) {
    const std::vector<std::string> items = split(word.substr(from), ',');
    return std::all_of(items.begin(), items.end(), [&](const std::string& item) {
      return hex ? item.find_first_not_of("0123456789abcdefx") == std::string::npos && !item.empty()
                 : read_decimal(item).value_or(-1) >= 0;
    });
  };
  bool good = word.starts_with("c") || word.starts_with("n");
  if (word.starts_with("map_gpu:")) good = list(8, false);
  if (word.starts_with("mask_gpu:")) good = list(9, true);
  if (word.starts_with("per_task:")) good = read_decimal(word.substr(9)).value_or(0) > 0;
  if (word.starts_with("single:")) good = read_decimal(word.substr(7)).value_or(0) > 0;
  if (good) return;
  error("Invalid --gpu-bind argument: gpu:" + value);
  leave(kUnreadable);
}

/// -B sockets[:cores[:threads]], each a count, a range or "*".
void OptionReader::set_shape(const std::string& value) {
  constexpr std::array<const char*, 3> kPlace{"first", "second", "third"};
  const std::vector<std::string> parts = split(value, ':');
  const std::array<std::int64_t*, 3> field{&v_.job.sockets_per_node, &v_.job.cores_per_socket,
                                           &v_.job.threads_per_core};
  for (std::size_t i = 0; i < field.size(); ++i) {
    const std::string part = i < parts.size() ? parts[i] : "";
    if (part.empty() || part[0] == '*') {
      *field[i] = kUnset;
      continue;
    }
    const auto n = read_decimal(part.substr(0, part.find('-')));
    if (!n || *n < 0) {
      error("Invalid numeric value \"" + part + "\" for " + kPlace[i] + " arg of -B.");
      return leave(1);
    }
    *field[i] = *n;
  }
  v_.extra_set = true;
}

void OptionReader::set_distribution(const std::string& value) {
  v_.distribution = value;
  v_.arbitrary = v_.plane = v_.job.plane = v_.job.block_cores = false;
  if (istarts_with(value, "plane")) {
    const std::size_t equals = value.find('=');
    const auto size =
        equals == std::string::npos ? std::nullopt : read_decimal(value.substr(equals + 1));
    if (!size || *size <= 0) {
      error("Invalid plane size or size not specified");
      return unreadable("distribution");
    }
    v_.plane = v_.job.plane = true;
    v_.job.plane_size = *size;
    return;
  }
  const std::string base = to_lower(value.substr(0, value.find(',')));
  v_.arbitrary = base == "arbitrary" || base == "hostfile";
  if (value.empty() || value[0] == ',') return unreadable("distribution");
  const std::vector<std::string> levels = split(base, ':');
  bool good = levels.size() <= 3;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    good = good && (levels[i] == "*" || levels[i] == "block" || levels[i] == "cyclic" ||
                    (levels[i] == "fcyclic" && i > 0));
  }
  v_.job.block_cores = levels.size() > 1 && levels[1] == "block";
  const bool flags = base == "pack" || base == "nopack" || v_.arbitrary;
  if (!good && !flags) unreadable("distribution");
}

constexpr Argument kNone = Argument::none;
constexpr Argument kOne = Argument::required;
constexpr Argument kMaybe = Argument::optional;

const std::vector<OptionReader::Option> OptionReader::kOptions{
    {"account", 'A', kOne, &OptionReader::text<&JobDescription::account>},
    {"acctg-freq", 0, kOne, &OptionReader::drop},
    {"array", 'a', kOne, &OptionReader::text<&JobDescription::array>},
    {"batch", 0, kOne, &OptionReader::drop},
    {"bb", 0, kOne, &OptionReader::drop},
    {"bbf", 0, kOne, &OptionReader::drop},
    {"begin", 'b', kOne, &OptionReader::set_begin},
    {"chdir", 'D', kOne, &OptionReader::drop},
    {"cluster", 0, kOne, &OptionReader::text<&JobDescription::clusters>, "clusters"},
    {"cluster-constraint", 0, kOne, &OptionReader::text<&JobDescription::cluster_constraint>},
    {"clusters", 'M', kOne, &OptionReader::text<&JobDescription::clusters>},
    {"comment", 0, kOne, &OptionReader::drop},
    {"constraint", 'C', kOne, &OptionReader::text<&JobDescription::features>},
    {"container", 0, kOne, &OptionReader::drop},
    {"context", 0, kOne, &OptionReader::drop},
    {"contiguous", 0, kNone, &OptionReader::flag<&JobDescription::contiguous>},
    {"core-spec", 'S', kOne, &OptionReader::set_core_spec},
    {"cores-per-socket", 0, kOne, &OptionReader::count<&JobDescription::cores_per_socket>},
    {"cpu-freq", 0, kOne, &OptionReader::drop},
    {"cpus-per-gpu", 0, kOne, &OptionReader::own_count<&SbatchValues::cpus_per_gpu>},
    {"cpus-per-task", 'c', kOne, &OptionReader::set_cpus},
    {"deadline", 0, kOne, &OptionReader::set_deadline},
    {"delay-boot", 0, kOne, &OptionReader::drop},
    {"dependency", 'd', kOne, &OptionReader::text<&JobDescription::dependency>},
    {"distribution", 'm', kOne, &OptionReader::set_distribution},
    {"error", 'e', kOne, &OptionReader::drop},
    {"exclude", 'x', kOne, &OptionReader::text<&JobDescription::exclude>},
    {"exclusive", 0, kMaybe, &OptionReader::set_exclusive},
    {"export", 0, kOne, &OptionReader::drop},
    {"export-file", 0, kOne, &OptionReader::drop},
    {"extra-node-info", 'B', kOne, &OptionReader::set_shape},
    {"get-user-env", 0, kMaybe, &OptionReader::drop},
    {"gid", 0, kOne, &OptionReader::drop},
    {"gpu-bind", 0, kOne, &OptionReader::set_gpu_bind},
    {"gpu-freq", 0, kOne, &OptionReader::drop},
    {"gpus", 'G', kOne, &OptionReader::own_text<&SbatchValues::gpus>},
    {"gpus-per-node", 0, kOne, &OptionReader::own_text<&SbatchValues::gpus_per_node>},
    {"gpus-per-socket", 0, kOne, &OptionReader::own_text<&SbatchValues::gpus_per_socket>},
    {"gpus-per-task", 0, kOne, &OptionReader::own_text<&SbatchValues::gpus_per_task>},
    {"gres", 0, kOne, &OptionReader::set_gres},
    {"gres-flags", 0, kOne, &OptionReader::set_gres_flags},
    {"hint", 0, kOne, &OptionReader::own_text<&SbatchValues::hint>},
    {"hold", 'H', kNone, &OptionReader::flag<&JobDescription::hold>},
    {"ignore-pbs", 0, kNone, &OptionReader::drop},
    {"input", 'i', kOne, &OptionReader::drop},
    {"job-name", 'J', kOne, &OptionReader::text<&JobDescription::name>},
    {"kill-on-invalid-dep", 0, kOne, &OptionReader::drop},
    {"licenses", 'L', kOne, &OptionReader::text<&JobDescription::licenses>},
    {"mail-type", 0, kOne, &OptionReader::drop},
    {"mail-user", 0, kOne, &OptionReader::drop},
    {"mcs-label", 0, kOne, &OptionReader::drop},
    {"mem", 0, kOne, &OptionReader::size<&SbatchValues::mem>},
    {"mem-bind", 0, kOne, &OptionReader::drop},
    {"mem-per-cpu", 0, kOne, &OptionReader::size<&SbatchValues::mem_per_cpu>},
    {"mem-per-gpu", 0, kOne, &OptionReader::size<&SbatchValues::mem_per_gpu>},
    {"mincpus", 0, kOne, &OptionReader::count<&JobDescription::min_cpus_per_node>},
    {"network", 0, kOne, &OptionReader::drop},
    {"nice", 0, kMaybe, &OptionReader::set_nice},
    {"no-kill", 'k', kMaybe, &OptionReader::drop},
    {"no-requeue", 0, kNone, &OptionReader::set_no_requeue},
    {"nodefile", 'F', kOne, &OptionReader::drop},
    {"nodelist", 'w', kOne, &OptionReader::text<&JobDescription::nodelist>},
    {"nodes", 'N', kOne, &OptionReader::set_nodes},
    {"ntasks", 'n', kOne, &OptionReader::set_ntasks},
    {"ntasks-per-core", 0, kOne, &OptionReader::count<&JobDescription::ntasks_per_core>},
    {"ntasks-per-gpu", 0, kOne, &OptionReader::own_count<&SbatchValues::ntasks_per_gpu>},
    {"ntasks-per-node", 0, kOne, &OptionReader::count<&JobDescription::ntasks_per_node>},
    {"ntasks-per-socket", 0, kOne, &OptionReader::count<&JobDescription::ntasks_per_socket>},
    {"open-mode", 0, kOne, &OptionReader::drop},
    {"output", 'o', kOne, &OptionReader::drop},
    {"overcommit", 'O', kNone, &OptionReader::flag<&JobDescription::overcommit>},
    {"oversubscribe", 's', kNone, &OptionReader::set_oversubscribe},
    {"parsable", 0, kNone, &OptionReader::drop},
    {"partition", 'p', kOne, &OptionReader::text<&JobDescription::partition>},
    {"power", 0, kOne, &OptionReader::drop},
    {"prefer", 0, kOne, &OptionReader::drop},
    {"priority", 0, kOne, &OptionReader::drop},
    {"profile", 0, kOne, &OptionReader::drop},
    {"propagate", 0, kMaybe, &OptionReader::drop},
    {"qos", 'q', kOne, &OptionReader::text<&JobDescription::qos>},
    {"quiet", 'Q', kNone, &OptionReader::drop},
    {"reboot", 0, kNone, &OptionReader::drop},
    {"requeue", 0, kNone, &OptionReader::set_requeue},
    {"reservation", 0, kOne, &OptionReader::text<&JobDescription::reservation>},
    {"signal", 0, kOne, &OptionReader::drop},
    {"sockets-per-node", 0, kOne, &OptionReader::count<&JobDescription::sockets_per_node>},
    {"spread-job", 0, kNone, &OptionReader::flag<&JobDescription::spread>},
    {"switches", 0, kOne, &OptionReader::set_switches},
    {"tasks-per-node", 0, kOne, &OptionReader::count<&JobDescription::ntasks_per_node>,
     "ntasks-per-node"},
    {"test-only", 0, kNone, &OptionReader::drop},
    {"thread-spec", 0, kOne, &OptionReader::set_thread_spec},
    {"threads-per-core", 0, kOne, &OptionReader::count<&JobDescription::threads_per_core>},
    {"time", 't', kOne, &OptionReader::set_time},
    {"time-min", 0, kOne, &OptionReader::set_time_min},
    {"tmp", 0, kOne, &OptionReader::set_tmp},
    {"uid", 0, kOne, &OptionReader::own_text<&SbatchValues::user>},
    {"use-min-nodes", 0, kNone, &OptionReader::flag<&JobDescription::use_min_nodes>},
    {"verbose", 'v', kNone, &OptionReader::drop},
    {"wait", 'W', kNone, &OptionReader::drop},
    {"wait-all-nodes", 0, kOne, &OptionReader::drop},
    {"wckey", 0, kOne, &OptionReader::drop},
    {"wrap", 0, kOne, &OptionReader::drop},
};

}  // namespace

bool read_sbatch_options(const std::vector<std::string>& argv, const SbatchConfig& config,
                         SbatchValues& values, SbatchOutcome& out) {
  return OptionReader(argv, config, values, out).run();
}

}  // namespace fedsim
