// Reader of `.case` texts: see case_reader.hpp.
#include "cases/case_reader.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "cases/case_words.hpp"

namespace fedsim::cases {
namespace {

SlurmRelease release_of(const std::string& text) {
  const Words parts = split(text, '.');
  const auto year = parse_int(parts[0]);
  const auto month = parts.size() == 2 ? parse_int(parts[1]) : std::nullopt;
  if (!year || !month) throw Wrong{"'" + text + "' is no release (22.05)"};
  return {static_cast<int>(*year), static_cast<int>(*month)};
}

/// Operations whose first word after the time is their name in operation.hpp.
struct OperationWord {
  std::string_view word;
  OperationKind kind;
  enum class Takes { job, cluster, link, nothing } takes;
};
constexpr OperationWord kOperations[] = {
    {"scancel", OperationKind::scancel, OperationWord::Takes::job},
    {"requeue", OperationKind::requeue, OperationWord::Takes::job},
    {"requeuehold", OperationKind::requeuehold, OperationWord::Takes::job},
    {"hold", OperationKind::hold, OperationWord::Takes::job},
    {"release", OperationKind::release, OperationWord::Takes::job},
    {"update_clusters", OperationKind::update_clusters, OperationWord::Takes::job},
    {"update_cluster_features", OperationKind::update_cluster_features, OperationWord::Takes::job},
    {"fed_state", OperationKind::fed_state, OperationWord::Takes::cluster},
    {"fed_join", OperationKind::fed_join, OperationWord::Takes::cluster},
    {"fed_leave", OperationKind::fed_leave, OperationWord::Takes::cluster},
    {"controller_down", OperationKind::controller_down, OperationWord::Takes::cluster},
    {"controller_up", OperationKind::controller_up, OperationWord::Takes::cluster},
    {"link_down", OperationKind::link_down, OperationWord::Takes::link},
    {"link_up", OperationKind::link_up, OperationWord::Takes::link},
    {"database_down", OperationKind::database_down, OperationWord::Takes::nothing},
    {"database_up", OperationKind::database_up, OperationWord::Takes::nothing}};

/// Short words of a submission and the option of sbatch that each stands for.
const std::map<std::string, std::string>& short_options() {
  static const std::map<std::string, std::string> kOptions = {
      {"clusters", "--clusters="},  {"constraint", "--cluster-constraint="},
      {"gpus", "--gpus-per-node="}, {"nodes", "--nodes="},
      {"limit", "--time="},         {"begin", "--begin="},
      {"array", "--array="},        {"partition", "--partition="},
      {"name", "--job-name="},      {"after", "--dependency="}};
  return kOptions;
}

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {
    trace_.t0 = kCaseStart;
    trace_.relative_times = true;
    spec_.name = "fed";
    out_.scenario.options.horizon = kCaseStart + kSecond * 86400;
    out_.scenario.options.audit_every = 1;
    out_.scenario.options.keep_events = true;
  }

  Case read(std::string_view text) {
    bool expects = false;
    for (const std::string& line : split(text, '\n')) {
      ++line_;
      const Words words = words_of(line);
      if (words.empty()) {
        if (spec_.clusters.empty() && line.starts_with("# ")) out_.header.push_back(line.substr(2));
        continue;
      }
      try {
        if (words[0] == "---") {
          expects = true;
        } else {
          expects ? expectation(words, line) : set_up(words);
        }
      } catch (const Wrong& w) {
        error(line_, w.message);
      }
    }
    if (!expects) error(line_, "no line '---': a case without expectations shows nothing");
    finish();
    return std::move(out_);
  }

 private:
  void error(int line, const std::string& message) {
    wrong_.push_back({Severity::error, "case", file_, line, message, ""});
  }

  void finish() {
    for (const auto& [label, line] : used_) {
      if (!labels_.contains(label)) error(line, "no submission is labelled '" + label + "'");
    }
    for (const auto& [cluster, line] : used_clusters_) {
      if (!has_cluster(cluster)) error(line, "no cluster '" + cluster + "'");
    }
    if (!wrong_.empty()) throw InputError(std::move(wrong_));
    spec_.federated = spec_.clusters.size() > 1 && !unfederated_;
    trace_.finish();
    out_.scenario.model = compile(spec_);
    out_.scenario.trace = std::make_shared<const Trace>(std::move(trace_));
  }

  bool has_cluster(const std::string& name) const {
    return std::any_of(spec_.clusters.begin(), spec_.clusters.end(),
                       [&](const ClusterSpec& c) { return c.name == name; });
  }

  std::string named_cluster(const std::string& name) {
    used_clusters_.emplace(name, line_);
    return name;
  }

  StringId intern_cluster(const std::string& name) {
    return trace_.strings.intern(named_cluster(name));
  }

  std::string named_job(const std::string& label) {
    used_.emplace(label, line_);
    return label;
  }

  // Before "---" ------------------------------------------------------------------------------

  void set_up(const Words& words) {
    if (words[0] == "cluster") return cluster(words);
    if (words[0] == "latency") return latency(words);
    if (words[0] == "unfederated") {
      unfederated_ = true;
      return;
    }
    const SimTime at = instant_of(words[0]);
    if (words.size() < 2) throw Wrong{"a time without anything that happens then"};
    if (words[1] == "submit") return submit(at, words);
    if (words[1] == "pass") return pass(at, words);
    if (words[1] == "end") {
      out_.scenario.options.horizon = at;
      return;
    }
    operation(at, words);
  }

  void cluster(const Words& words) {
    if (words.size() < 2) throw Wrong{"a cluster needs a name"};
    std::map<std::string, std::string> given;
    ClusterSpec c;
    for (std::size_t i = 2; i < words.size(); ++i) {
      const Pair p = pair_of(words[i]);
      const bool option = std::isupper(static_cast<unsigned char>(p.key.front())) != 0;
      if (option) c.options[p.key] = p.value;  // a line of slurm.conf
      if (!option) given[p.key] = p.value;
    }
    const auto take = [&](const char* key, std::string otherwise) {
      const auto found = given.find(key);
      if (found == given.end()) return otherwise;
      std::string value = found->second;
      given.erase(found);
      return value;
    };
    const Words gpus = split(take("gpus", "0"), ':');  // [TYPE:]N
    const int nodes = number_of({"nodes", take("nodes", "1")});
    const int gpus_n = number_of({"gpus", gpus.back()});
    const int cpus = number_of({"cpus", take("cpus", std::to_string(std::max(gpus_n, 1) * 8))});
    ClusterSpec made = machine(words[1], nodes, gpus_n > 0 ? gpus_n : cpus,
                               gpus_n == 0       ? "-"
                               : gpus.size() > 1 ? gpus[0]
                                                 : "a100");
    made.options.merge(c.options);
    for (NodeSpec& n : made.nodes) n.cpus = n.cores_per_socket = cpus;
    made.features = split_list(take("features", ""));
    made.release = release_of(take("release", "22.05"));
    partitions(made, take("partitions", "batch"), take("max_nodes", ""), take("max_time", ""));
    out_.scenario.options.controller_start.push_back(instant_of(take("started", "-12.5s")));
    spec_.clusters.push_back(std::move(made));
    if (!given.empty()) throw Wrong{"unknown word '" + given.begin()->first + "' of a cluster"};
  }

  /// Every partition has every node; the first is the default.
  static void partitions(ClusterSpec& c, const std::string& names, const std::string& max_nodes,
                         const std::string& max_time) {
    PartitionSpec p = c.partitions.front();
    if (!max_nodes.empty()) p.max_nodes = number_of({"max_nodes", max_nodes});
    if (!max_time.empty()) p.max_time_s = seconds_of(max_time) / kSecond;
    c.partitions.clear();
    for (const std::string& name : split_list(names)) {
      p.name = name;
      p.is_default = c.partitions.empty();
      c.partitions.push_back(p);
    }
  }

  void latency(const Words& words) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      const Pair p = pair_of(words[i]);
      const Duration d = seconds_of(p.value);
      if (p.key == "message")
        spec_.latency.sibling_message = d;
      else if (p.key == "lock")
        spec_.latency.lock_round_trip = d;
      else if (p.key == "client")
        spec_.latency.client_command = d;
      else if (p.key == "launch")
        spec_.latency.launch = d;
      else if (p.key == "epilog")
        spec_.latency.epilog = d;
      else
        throw Wrong{"unknown latency '" + p.key + "'"};
    }
  }

  void submit(SimTime at, const Words& words) {
    if (words.size() < 3) throw Wrong{"a submission needs a label"};
    Words argv;
    std::string origin;
    Duration run = kSecond * 60;
    int exit_code = 0;
    for (std::size_t i = 3; i < words.size(); ++i) {
      const Pair p = pair_of(words[i]);
      const auto option = short_options().find(p.key);
      if (words[i].front() == '-')
        argv.push_back(words[i]);
      else if (words[i] == "held")
        argv.emplace_back("--hold");
      else if (p.key == "on")
        origin = named_cluster(p.value);
      else if (p.key == "run")
        run = seconds_of(p.value);
      else if (p.key == "exit")
        exit_code = number_of(p);
      else if (option != short_options().end())
        argv.push_back(option->second + p.value);
      else
        throw Wrong{"unknown word '" + words[i] + "' of a submission"};
    }
    ParsedRequest parsed = parse_sbatch(argv, trace_.strings);
    for (const Diagnostic& d : parsed.diagnostics) error(line_, d.message);
    JobSpec job = parsed.job;
    job.submit = at;
    if (job.begin != kNoTime) job.begin = at + job.begin.time_since_epoch();
    job.run = run;
    job.run_is_elapsed = true;  // it ends `run` after its start
    job.exit_code = static_cast<std::uint8_t>(exit_code);
    if (exit_code != 0) job.outcome = Outcome::failed;
    job.request = trace_.intern_request(parsed.request);
    job.label = trace_.strings.intern(words[2]);
    if (job.name == StringId{0}) job.name = job.label;
    job.origin = trace_.strings.intern(origin);
    job.user = trace_.strings.intern("user");
    if (!labels_.insert(words[2]).second) throw Wrong{"two submissions of '" + words[2] + "'"};
    trace_.add(job, parsed.array_tasks);
  }

  void pass(SimTime at, const Words& words) {
    if (words.size() != 4) throw Wrong{"write: TIME pass CLUSTER main|full|backfill"};
    DrivenPass p;
    p.at = at;
    p.cluster = intern_cluster(words[2]);
    if (words[3] == "main")
      p.kind = DrivenPass::Kind::main;
    else if (words[3] == "full")
      p.kind = DrivenPass::Kind::full;
    else if (words[3] == "backfill")
      p.kind = DrivenPass::Kind::backfill;
    else
      throw Wrong{"unknown pass '" + words[3] + "'"};
    out_.scenario.options.driven.push_back(p);
  }

  void operation(SimTime at, const Words& words) {
    const auto* found = std::find_if(std::begin(kOperations), std::end(kOperations),
                                     [&](const OperationWord& o) { return o.word == words[1]; });
    if (found == std::end(kOperations)) throw Wrong{"unknown operation '" + words[1] + "'"};
    using Takes = OperationWord::Takes;
    Operation op;
    op.at = at;
    op.kind = found->kind;
    const std::size_t names_n = found->takes == Takes::nothing ? 0U
                                : found->takes == Takes::link  ? 2U
                                                               : 1U;
    if (words.size() < 2 + names_n) throw Wrong{words[1] + " of what?"};
    if (found->takes == Takes::job) op.target = trace_.strings.intern(named_job(words[2]));
    if (found->takes == Takes::cluster || found->takes == Takes::link)
      op.cluster = intern_cluster(words[2]);
    if (found->takes == Takes::link) op.sibling = intern_cluster(words[3]);
    for (std::size_t i = 2 + names_n; i < words.size(); ++i) {
      const Pair p = pair_of(words[i]);
      if (p.key == "on" && found->takes == Takes::job)
        op.cluster = intern_cluster(p.value);
      else if (p.key == "sibling" && op.kind == OperationKind::scancel)
        op.sibling = intern_cluster(p.value);
      else if (words[i] == "remote" && op.kind == OperationKind::scancel)
        op.remote = true;
      else if (p.key == "value")
        op.value = trace_.strings.intern(p.value);
      else
        throw Wrong{"unknown word '" + words[i] + "' of " + words[1]};
    }
    trace_.operations.push_back(op);
  }

  void expectation(const Words& words, const std::string& line) {
    Expectation e = read_expectation(words, line);
    e.line = line_;
    if (!e.job.empty()) named_job(e.job);
    if (!e.cluster.empty()) named_cluster(e.cluster);
    out_.expectations.push_back(std::move(e));
  }

  std::string file_;
  int line_ = 0;
  Case out_;
  FederationSpec spec_;
  bool unfederated_ = false;
  Trace trace_;
  std::set<std::string> labels_;
  std::map<std::string, int> used_;  // labels and clusters that some line names, and which
  std::map<std::string, int> used_clusters_;
  std::vector<Diagnostic> wrong_;
};

}  // namespace

Case read_case(std::string_view text, const std::string& file) {
  return Reader(file).read(text);
}

}  // namespace fedsim::cases
