// Draws a case of the swarm test from its seed.
//
// Instants gather around a few hot ones, and operations follow submissions closely: most faults of
// a protocol need two things to happen within one message's time.
#include <algorithm>

#include "swarm.hpp"

namespace fedsim::swarm {
namespace {

enum Part : std::uint64_t {
  kClusters,
  kTimes,
  kJobs,
  kOperations,
  kOptions,
  kShapes,
  kPasses,
  kFaults,
  kBackups
};

const std::vector<std::string> kFeatures{"fast", "big", "cheap"};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : seed_(seed) { case_.seed = seed; }

  Case make() {
    federation();
    times();
    jobs();
    operations();
    options();
    case_.trace.finish();
    return std::move(case_);
  }

 private:
  StringId text(const std::string& s) { return case_.trace.strings.intern(s); }
  const std::string& name(Dice& d) {
    const auto n = static_cast<std::uint32_t>(case_.spec.clusters.size());
    return case_.spec.clusters[d.below(n)].name;
  }

  void federation() {
    Dice d(seed_, kClusters);
    const std::uint32_t size = d.below(100);
    const int n = size < 75 ? d.between(1, 4) : size < 96 ? d.between(5, 9) : d.between(10, 63);
    const std::vector<SlurmRelease> releases{{22, 5}, {24, 11}, {26, 5}};
    const SlurmRelease release = d.pick(releases);
    const bool mixed = d.percent(10);
    case_.spec.name = "swarm";
    case_.spec.federated = d.percent(n == 1 ? 30 : 95);
    for (int i = 0; i < n; ++i) {
      case_.spec.clusters.push_back(cluster("c" + std::to_string(i), d));
      case_.spec.clusters.back().release = mixed ? d.pick(releases) : release;
      back_up(case_.spec.clusters.back(), static_cast<std::uint64_t>(i));
    }
    LatencySpec& l = case_.spec.latency;
    const int slower = d.pick<int>({1, 1, 1, 1, 20, 0});
    l.sibling_message *= slower;
    l.lock_round_trip *= slower;
    l.epilog *= d.pick<int>({1, 1, 200, 0});
    l.client_command = Duration{d.pick<std::int64_t>({0, 0, 0, 149'000'000})};
  }

  void back_up(ClusterSpec& c, std::uint64_t index) const {
    Dice d(seed_ + (index << 48), kBackups);
    if (!d.percent(20)) return;
    c.options["SlurmctldHost"] = "primary,backup";
    c.options["SlurmctldTimeout"] = std::to_string(d.pick<int>({3, 30, 120}));
  }

  static ClusterSpec cluster(const std::string& name, Dice& d) {
    const int units = d.pick<int>({1, 2, 4, 8});
    const std::string gpu = d.pick<std::string>({"-", "a100", "a100", "h100"});
    ClusterSpec c = machine(name, d.between(1, 4), units, gpu);
    const int cpus = units * (gpu == "-" ? 1 : d.pick<int>({1, 4, 8}));
    const bool memory = d.percent(25);
    for (NodeSpec& n : c.nodes) {
      n.cpus = n.cores_per_socket = cpus;
      if (memory) n.memory_mib = 8192;
      if (d.percent(3)) n.state = "DRAIN";
    }
    if (memory) c.options["SelectTypeParameters"] = "CR_Core_Memory";
    if (d.percent(10)) c.options["SelectType"] = "select/linear";
    if (d.percent(10)) c.options["SchedulerType"] = "sched/builtin";
    if (d.percent(30)) c.options["PriorityType"] = d.percent(50) ? "priority/multifactor" : "";
    if (d.percent(40)) c.options["MinJobAge"] = d.pick<std::string>({"0", "2", "60"});
    if (d.percent(10)) c.options["EnforcePartLimits"] = "ALL";
    if (d.percent(30)) {
      c.options["SchedulerParameters"] = d.pick<std::string>(
          {"bf_interval=1", "bf_continue,bf_interval=5", "batch_sched_delay=0",
           "bf_max_job_start=1", "default_queue_depth=1", "bf_busy_nodes", "defer"});
    }
    if (d.percent(25)) {
      PartitionSpec p = c.partitions.front();
      p.name = "short";
      p.is_default = false;
      p.priority_tier = 2;
      p.max_time_s = 600;
      if (p.nodes.size() > 1) p.nodes.pop_back();
      c.partitions.push_back(p);
    }
    for (const std::string& f : kFeatures) {
      if (d.percent(40)) c.features.push_back(f);
    }
    return c;
  }

  void times() {
    Dice d(seed_, kTimes);
    case_.trace.t0 = from_unix_seconds(1'000'000'000);
    case_.trace.relative_times = true;
    window_s_ = d.pick<int>({20, 120, 600, 3600});
    for (int i = d.between(1, 5); i > 0; --i) hot_s_.push_back(d.fraction() * window_s_);
  }

  SimTime at(double s) const { return case_.trace.t0 + seconds_to_duration(s); }

  double instant(Dice& d) {
    const std::uint32_t kind = d.below(4);
    if (kind == 0) return d.between(0, window_s_);
    if (kind == 1) return d.fraction() * window_s_;
    return d.pick(hot_s_) + soon(d);
  }

  /// Time that passes between things that meddle with each other.
  static double soon(Dice& d) {
    return d.pick<double>({0, 0, 1e-9, 0.001, 0.05, 0.1, 0.3, 1, 3, 10}) * (1 + d.below(3));
  }

  std::string some_clusters(Dice& d) {
    if (d.percent(10)) return "all";
    std::string list;
    for (int i = d.between(1, 3); i > 0; --i) list += (list.empty() ? "" : ",") + name(d);
    return d.percent(2) ? list + ",nosuch" : list;
  }

  static std::string some_features(Dice& d) {
    if (d.percent(3)) return "nosuch";
    const std::string list = d.percent(30) ? "fast," + d.pick(kFeatures) : d.pick(kFeatures);
    return d.percent(30) ? "!" + list : list;
  }

  ResourceRequest request(Dice& d) {
    ResourceRequest r;
    const std::string type = d.pick<std::string>({"", "", "", "a100", "h100"});
    const std::uint32_t kind = d.below(8);
    if (kind <= 2) r.gres_per_node = {{"gpu", type, d.pick<int>({1, 1, 2, 4, 8})}};
    if (kind == 3) r.gres_per_job = {{"gpu", type, d.between(1, 8)}};
    if (kind == 4) r.gres_per_task = {{"gpu", type, d.between(1, 2)}};
    if (kind != 1) r.ntasks = d.pick<int>({1, 1, 2, 4, 8});
    if (d.percent(15)) r.nodes_min = r.nodes_max = d.between(1, 4);
    if (d.percent(15)) r.cpus_per_task = d.between(1, 4);
    if (d.percent(10)) r.mem_per_node_mib = d.pick<int>({0, 100, 4096});
    if (d.percent(10)) r.exclusive = true;
    return r;
  }

  void jobs() {
    Dice d(seed_, kJobs);
    Dice shapes(seed_, kShapes);
    const int n = d.percent(90) ? d.between(1, 30) : d.between(30, 150);
    for (int i = 0; i < n; ++i) {
      JobSpec j;
      const double submit = instant(d);
      j.submit = at(submit);
      j.run = seconds_to_duration(d.pick<double>({0, 0.5, 10, 60, 600, 3000}) * d.fraction());
      j.limit_s = d.pick<std::int64_t>({kUnset, kUnlimited, 60, 60, 600, 3600, 7200});
      j.run_is_elapsed = d.percent(30);
      j.request = case_.trace.intern_request(request(d));
      j.label = text("J" + std::to_string(i));
      j.origin = text(d.percent(95) ? name(d) : "");
      if (d.percent(3)) j.partition = text("nosuch");
      if (d.percent(10)) j.partition = text(d.percent(50) ? "short" : "short,batch");
      if (d.percent(30)) j.clusters = text(some_clusters(d));
      if (d.percent(12)) j.cluster_constraint = text(some_features(d));
      if (d.percent(8)) j.begin = at(submit + d.fraction() * 300);
      if (d.percent(8)) j.cancel = at(submit + (d.percent(50) ? soon(d) : d.fraction() * 900));
      j.held = d.percent(8);
      j.requeue = d.percent(90);
      j.outcome = static_cast<Outcome>(d.percent(70) ? 0 : d.below(6));
      j.exit_code = j.outcome == Outcome::failed ? 1 : 0;
      j.dependency = text(dependency(shapes, i));
      submit_shaped(shapes, d, j, submit);
    }
  }

  /// -d on one or two jobs submitted before or after, or on all of the same name.
  static std::string dependency(Dice& d, int i) {
    if (i == 0 || !d.percent(15)) return "";
    if (d.percent(15)) return "singleton";
    const std::vector<std::string> kinds{"after", "afterany", "afterok", "afternotok", "aftercorr"};
    const auto one = [&] {
      return d.pick(kinds) + ":{J" + std::to_string(d.below(static_cast<std::uint32_t>(i))) + "}";
    };
    if (d.percent(80)) return one();
    return one() + (d.percent(50) ? "," : "?") + one();
  }

  /// The job alone, as tasks of an array or as components of a heterogeneous job.
  void submit_shaped(Dice& d, Dice& requests, JobSpec j, double submit) {
    const std::uint32_t shape = d.below(100);
    const int n = shape < 16 ? d.between(2, shape < 8 ? 6 : 3) : 1;
    const auto id = static_cast<std::uint32_t>(case_.trace.jobs.size()) + 1;
    if (shape < 8) {
      j.array_job = id;
      j.array_limit = d.percent(50) ? 0 : d.below(3) + 1;
    } else if (shape < 16) {
      j.het_job = id;
    }
    for (int part = 0; part < n; ++part) {
      if (j.array_job != 0) j.array_task = part;
      if (j.het_job != 0 && part > 0) j.request = case_.trace.intern_request(request(requests));
      submits_.push_back(submit);
      case_.trace.jobs.push_back(j);
    }
  }

  Operation& add(double s, OperationKind kind, const std::string& cluster) {
    Operation op;
    op.at = at(s);
    op.kind = kind;
    op.cluster = text(cluster);
    case_.trace.operations.push_back(op);
    return case_.trace.operations.back();
  }

  void job_command(Dice& d, OperationKind kind) {
    const std::uint32_t i = d.below(static_cast<std::uint32_t>(case_.trace.jobs.size()));
    const JobSpec job = case_.trace.jobs[i];
    const double s = d.percent(50) ? submits_[i] + soon(d) : instant(d);
    Operation& op = add(s, kind, name(d));
    if (d.percent(60)) op.cluster = job.origin;
    op.target = job.label;
    op.remote = d.percent(30);
    if (kind == OperationKind::scancel && d.percent(30)) op.sibling = text(name(d));
    if (kind == OperationKind::update_clusters) {
      op.value = text(d.percent(10) ? "" : some_clusters(d));
    } else if (kind == OperationKind::update_cluster_features) {
      op.value = text(d.percent(10) ? "" : some_features(d));
    }
  }

  /// Down, up, and again: a fault may end, and may come back before anybody has recovered.
  void fault(Dice& d, OperationKind down, OperationKind up) {
    const std::string one = name(d);
    const std::string other = down == OperationKind::link_down ? name(d) : "";
    double s = instant(d);
    for (int i = d.percent(70) ? 1 : d.between(2, 6); i > 0; --i) {
      add(s, down, one).sibling = text(other);
      s += d.percent(60) ? soon(d) * 3 : d.fraction() * 400;
      if (i == 1 && d.percent(20)) break;
      const bool swapped = d.percent(50) && !other.empty();  // a link has two ends
      add(s, up, swapped ? other : one).sibling = text(swapped ? one : other);
      s += soon(d);
    }
    down_.push_back({up, one, other});
  }

  void operation(Dice& d) {
    using K = OperationKind;
    const auto kind = static_cast<K>(d.below(static_cast<std::uint32_t>(K::database_up) + 1));
    switch (kind) {
      case K::fed_state:
        add(instant(d), kind, name(d)).value =
            text(d.pick<std::string>({"ACTIVE", "ACTIVE", "INACTIVE", "DRAIN", "DRAIN+REMOVE"}));
        return;
      case K::fed_join:
      case K::fed_leave:
        add(instant(d), kind, name(d));
        return;
      case K::controller_down:
      case K::controller_up:
        return fault(d, K::controller_down, K::controller_up);
      case K::link_down:
      case K::link_up:
        return fault(d, K::link_down, K::link_up);
      case K::database_down:
      case K::database_up:
        return fault(d, K::database_down, K::database_up);
      default:
        return job_command(d, kind);
    }
  }

  void operations() {
    Dice d(seed_, kOperations);
    const std::uint32_t amount = d.below(100);
    int n = amount < 5 ? 0 : amount < 60 ? d.between(1, 6) : d.between(6, 40);
    const bool commands_only = d.percent(30);
    for (; n > 0; --n) {
      if (commands_only) {
        job_command(d, static_cast<OperationKind>(d.below(7)));
      } else {
        operation(d);
      }
    }
    if (d.percent(30)) return;
    for (const Down& fault : down_)
      add(window_s_ + 500.0, fault.up, fault.one).sibling = text(fault.other);
  }

  void options() {
    Dice d(seed_, kOptions);
    RunOptions& o = case_.options;
    o.fidelity = d.percent(70) ? Fidelity::slurm : Fidelity::ideal;
    o.policy = d.pick<Policy>({Policy::fcfs, Policy::easy, Policy::conservative});
    o.seed = seed_;
    // Far above what such a case needs: a run that gets there does not end.
    o.max_events = 100'000 + 5'000 * case_.spec.clusters.size();
    Dice passes(seed_, kPasses);
    if (o.fidelity == Fidelity::slurm && passes.percent(8)) drive(passes);
    Dice faults(seed_, kFaults);
    if (faults.percent(10)) fault_processes(faults);
  }

  /// Faults that come and go by themselves, for a while.
  void fault_processes(Dice& d) {
    RunOptions& o = case_.options;
    o.horizon = at(3.0 * window_s_ + 600);
    for (int n = d.between(1, 3); n > 0; --n) {
      FaultProcess f;
      f.down = d.pick<OperationKind>(
          {OperationKind::controller_down, OperationKind::link_down, OperationKind::database_down});
      if (f.down != OperationKind::database_down) f.cluster = d.percent(20) ? "*" : name(d);
      if (f.down == OperationKind::link_down) f.other = d.percent(20) ? "*" : name(d);
      f.mean_up = seconds_to_duration(window_s_ * (0.1 + d.fraction()));
      f.mean_down = seconds_to_duration(d.pick<double>({0.1, 1, 10, 60}));
      o.faults.push_back(f);
    }
  }

  /// Passes at drawn instants instead of the controllers' own.
  void drive(Dice& d) {
    using Kind = DrivenPass::Kind;
    std::vector<DrivenPass>& driven = case_.options.driven;
    for (int n = d.between(1, 200); n > 0; --n) {
      const Kind kind = d.pick<Kind>({Kind::main, Kind::main, Kind::full, Kind::backfill});
      driven.push_back({at(instant(d)), text(name(d)), kind});
    }
    std::stable_sort(driven.begin(), driven.end(),
                     [](const DrivenPass& a, const DrivenPass& b) { return a.at < b.at; });
  }

  struct Down {
    OperationKind up;
    std::string one, other;
  };
  std::uint64_t seed_;
  Case case_;
  int window_s_ = 0;
  std::vector<double> hot_s_;
  std::vector<double> submits_;
  std::vector<Down> down_;
};

}  // namespace

Case make_case(std::uint64_t seed) {
  return Generator(seed).make();
}

}  // namespace fedsim::swarm
