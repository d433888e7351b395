// Runs a case of the swarm test, audited as it goes, and checks what it left.
#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "fedsim/result.hpp"
#include "sched/admission.hpp"
#include "state/state.hpp"
#include "support/demands.hpp"
#include "swarm.hpp"

namespace fedsim::swarm {
namespace {

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void expect(bool good, const std::string& what) {
  if (!good) throw Wrong(what);
}

std::string label(const Trace& trace, JobId job) {
  return std::string(trace.strings.view(trace.jobs[job.index()].label));
}

/// Sees every start and every lost message.
class Watcher final : public Observer {
 public:
  Watcher(const Simulation& sim, bool keep) : sim_(sim), keep_(keep) {}

  void on_event(const StoryEvent& e) override {
    if (keep_) write(e);
    lost_ = lost_ || e.kind == StoryKind::message_lost;
    if (e.kind != StoryKind::start) return;
    const SimState& s = sim_.state();
    const Trace& trace = *sim_.scenario().trace;
    const RecordRow& row = s.record_rows[s.jobs[e.job.index()].running_record];
    expect(s.clusters[e.cluster.index()].fed.schedules(),
           "a controller that is down or closed started " + label(trace, e.job));
    expect(row.start >= from_unix_seconds(floor_seconds(row.eligible)),
           label(trace, e.job) + " started before its begin time");
  }

  bool lost() const { return lost_; }
  const std::string& story() const { return story_; }

 private:
  void write(const StoryEvent& e) {
    const Scenario& sc = sim_.scenario();
    story_ += std::to_string(to_seconds(e.at - sc.trace->t0)) + " ";
    story_ += std::string(to_string(e.kind)) + " " + sc.model->clusters[e.cluster.index()].name;
    if (e.job.valid()) story_ += " " + label(*sc.trace, e.job);
    if (e.other.valid()) story_ += " other " + sc.model->clusters[e.other.index()].name;
    story_ += "\n";
  }

  const Simulation& sim_;
  bool keep_;
  bool lost_ = false;
  std::string story_;
};

/// Entries of records that wait: each once per partition, in no less than their number.
void check_queues(const FederationModel& model, const SimState& s) {
  for (std::size_t c = 0; c < s.clusters.size(); ++c) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> live;
    std::vector<std::uint32_t> records;
    for (const QueueEntry& e : s.clusters[c].queue) {
      if (!s.records[e.record].queued) continue;
      expect(s.record_rows[e.record].cluster == ClusterId{c}, "a record in another's queue");
      live.emplace_back(e.record, e.partition);
      records.push_back(e.record);
    }
    std::sort(live.begin(), live.end());
    expect(std::adjacent_find(live.begin(), live.end()) == live.end(),
           "a record is queued twice on " + model.clusters[c].name);
    std::sort(records.begin(), records.end());
    records.erase(std::unique(records.begin(), records.end()), records.end());
    expect(records.size() == s.clusters[c].queued_n,
           "a queued record without an entry on " + model.clusters[c].name);
  }
}

bool is_final(RecordState state) {
  return state != RecordState::pending && state != RecordState::running;
}

void check_jobs(const Trace& trace, const SimState& s) {
  std::vector<std::uint32_t> records(trace.jobs.size(), 0);
  std::vector<std::uint8_t> open(trace.jobs.size(), 0);
  for (std::size_t r = 0; r < s.record_rows.size(); ++r) {
    const RecordRow& row = s.record_rows[r];
    ++records[row.job.index()];
    // An origin follows its job also where it may not run itself, and while it is held.
    if (s.records[r].tracking || (!is_final(row.state) && s.records[r].linked))
      open[row.job.index()] = 1;
    expect(row.end == kNoTime || row.start == kNoTime || row.end >= row.start,
           label(trace, row.job) + " ends before it starts");
    // The origin's record of a job that could not run there never waited and never ended.
    expect((row.end != kNoTime) == is_final(row.state) || row.state == RecordState::revoked,
           label(trace, row.job) + ": a record is over without an end, or the reverse");
  }
  std::size_t done = 0;
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    const std::string who = label(trace, JobId{j});
    const bool finished = s.jobs[j].finished;
    done += finished ? 1U : 0U;
    expect(records[j] > 0 && records[j] == s.job_rows[j].records_n, who + ": records miscounted");
    expect(!finished || is_final(s.job_rows[j].state), who + " is done and its row is not");
    // A requeue whose news were lost leaves a job that is neither done nor anywhere.
    expect(finished || open[j] != 0 || s.jobs[j].requeueing, who + " is nowhere and not done");
    expect(!finished || s.jobs[j].running_record == kNoIndex, who + " is done and runs");
  }
  expect(done == s.jobs_done, "jobs_done miscounts");
}

/// No job twice at a time, and no GPU for two.
void check_allocations(const Trace& trace, const SimState& s) {
  std::vector<AllocationRow> rows = s.allocation_rows;
  const auto end_of = [](const AllocationRow& a) { return a.end == kNoTime ? kEndOfTime : a.end; };
  std::stable_sort(rows.begin(), rows.end(), [](const AllocationRow& a, const AllocationRow& b) {
    return std::tie(a.job, a.start) < std::tie(b.job, b.start);
  });
  for (std::size_t i = 1; i < rows.size(); ++i) {
    expect(rows[i].job != rows[i - 1].job || end_of(rows[i - 1]) <= rows[i].start,
           label(trace, rows[i].job) + " has two allocations at a time");
  }
  struct Hold {
    SimTime start, end;
    std::uint64_t gpus;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Hold>> nodes;
  for (const AllocationRow& a : s.allocation_rows) {
    for (std::size_t p = a.place_offset; p < a.place_offset + a.nodes_n; ++p) {
      const Placement& place = s.placements[p];
      auto& list = nodes[{a.cluster.index(), place.node.index()}];
      for (const Hold& h : list) {
        expect((h.gpus & place.gpu_mask) == 0 || h.end <= a.start || end_of(a) <= h.start,
               label(trace, a.job) + " holds a GPU of another job");
      }
      list.push_back({a.start, end_of(a), place.gpu_mask});
    }
  }
}

/// A job that nobody updated runs where its -M and its cluster's federation allow.
void check_places(const Scenario& sc, const SimState& s) {
  const Trace& trace = *sc.trace;
  std::vector<std::uint8_t> updated(trace.jobs.size(), 0);
  for (const Operation& op : trace.operations) {
    if (op.kind != OperationKind::update_clusters) continue;
    for (std::size_t j = 0; j < trace.jobs.size(); ++j)  // all parts of an array have its label
      if (trace.jobs[j].label == op.target) updated[j] = 1;
  }
  for (const AllocationRow& a : s.allocation_rows) {
    const std::size_t j = a.job.index();
    expect(s.jobs[j].federated || a.cluster == s.job_rows[j].origin,
           label(trace, a.job) + " left its cluster without a federation");
    const std::string list = "," + std::string(trace.strings.view(trace.jobs[j].clusters)) + ",";
    if (updated[j] != 0 || list == ",," || list == ",all,") continue;
    expect(list.find("," + sc.model->clusters[a.cluster.index()].name + ",") != std::string::npos,
           label(trace, a.job) + " ran outside its -M list");
  }
}

/// Whether a waiting record could start on its cluster with nothing else there.
bool could_run(const Scenario& sc, const RecordRow& row, std::uint32_t partition) {
  const ClusterModel& cluster = sc.model->clusters[row.cluster.index()];
  const PartitionModel& p = cluster.partitions[partition];
  const JobSpec& job = sc.trace->jobs[row.job.index()];
  if (job.het_job != 0) return false;  // all its components must fit at once
  const Demand d = tiny::demand_on(*sc.model, row.cluster, sc.trace->requests[job.request],
                                   PartitionId{partition});
  if (!d.fits_idle) return false;
  for (const NodeModel& n : cluster.nodes) {
    if (!n.usable) return false;  // may need just that one
  }
  return partition_limit(p, d, effective_limit(p, job.limit_s)) == Reason::none;
}

/// Whether its user or an administrator ever held the job or took it away.
bool was_touched(const Trace& trace, JobId job) {
  const JobSpec& spec = trace.jobs[job.index()];
  return spec.held || spec.cancel != kNoTime ||
         std::any_of(trace.operations.begin(), trace.operations.end(), [&](const Operation& op) {
           return op.kind <= OperationKind::update_cluster_features && op.target == spec.label;
         });
}

/// Copies that could run and never will, and jobs that vanished though nobody cancelled them.
void list_left_behind(const Simulation& sim, RunReport& report) {
  const SimState& s = sim.state();
  const Scenario& sc = sim.scenario();
  const auto add = [&](JobId job, ClusterId c, const std::string& what) {
    report.left_behind.push_back(label(*sc.trace, job) + "@" + sc.model->clusters[c.index()].name +
                                 " " + what);
  };
  for (std::size_t c = 0; c < s.clusters.size(); ++c) {
    if (!s.clusters[c].fed.schedules()) continue;
    for (const QueueEntry& e : s.clusters[c].queue) {
      const RecordRow& row = s.record_rows[e.record];
      if (!s.records[e.record].queued || !could_run(sc, row, e.partition)) continue;
      const bool done = is_final(s.job_rows[row.job.index()].state);
      add(row.job, row.cluster,
          (done ? "zombie copy of a finished job, " : "waits for ever, ") +
              std::string(reason_text(row.reason)));
    }
  }
  for (std::size_t j = 0; j < s.job_rows.size(); ++j) {
    const JobRow& row = s.job_rows[j];
    if (s.jobs[j].requeueing && !s.jobs[j].finished) add(JobId{j}, row.origin, "requeue stuck");
    const std::uint32_t origin = s.jobs[j].origin_record;
    if (!s.jobs[j].finished && origin != kNoIndex && s.records[origin].tracking &&
        s.records[origin].priority != 0 && s.records[origin].active.empty())
      add(JobId{j}, row.origin, "followed by its origin, and nobody has it");
    if (row.state == RecordState::cancelled && !row.ran.valid() &&
        !was_touched(*sc.trace, JobId{j}))
      add(JobId{j}, row.origin, "vanished");
  }
}

/// Which faults the trace has: none, or some that are all over.
void judge_faults(const Trace& trace, bool lost, bool driven, RunReport& report) {
  std::map<std::tuple<OperationKind, std::uint32_t, std::uint32_t>, bool> down;
  bool members = false;
  bool any = false;
  bool controllers = false;
  for (const Operation& op : trace.operations) {
    if (op.kind < OperationKind::fed_state) continue;
    any = true;
    members = members || op.kind <= OperationKind::fed_leave;
    controllers = controllers || op.kind == OperationKind::controller_down;
    const auto start = static_cast<int>(op.kind) % 2 == 0;
    const auto pair = std::minmax(op.cluster.index(), op.sibling.index());
    const auto kind = start ? op.kind : static_cast<OperationKind>(static_cast<int>(op.kind) - 1);
    const bool database = kind == OperationKind::database_down;
    down[{kind, database ? 0 : pair.first, database ? 0 : pair.second}] = start;
  }
  const bool all_up =
      std::none_of(down.begin(), down.end(), [](const auto& d) { return d.second; });
  report.undisturbed = !any && !lost && !driven;
  report.recovered = !driven && any && !members && !controllers && all_up && !lost;
}

void run_checked(const Case& c, const CheckOptions& o, RunReport& report) {
  const Scenario sc{compile(c.spec), std::make_shared<const Trace>(c.trace), c.options};
  Simulation sim(sc);
  Watcher watcher(sim, o.story);
  sim.observe(&watcher);
  const std::size_t size = c.trace.jobs.size() + 4 * c.spec.clusters.size();
  const std::uint64_t every = o.audit_every != 0 ? o.audit_every : 1 + size * size / 10'000;
  const std::uint64_t branch_at = 1 + draw(c.seed, Stream::sampling, 99, 0) % (8 * size);
  std::optional<Simulation> branch;
  std::uint64_t steps = 0;
  const auto step = [&] {
    try {
      return sim.step();
    } catch (...) {
      report.story = watcher.story();
      throw;
    }
  };
  while (step()) {
    report.events = sim.events();
    if (++steps % every == 0) {
      sim.audit();
      check_queues(*sc.model, sim.state());
    }
    if (steps == branch_at) branch = sim;
    // Events that turn out to be stale are not counted.
    expect(steps < 4 * c.options.max_events, "steps without end");
  }
  report.story = watcher.story();
  sim.audit();
  check_queues(*sc.model, sim.state());
  check_jobs(*sc.trace, sim.state());
  check_allocations(*sc.trace, sim.state());
  check_places(sc, sim.state());
  const bool driven = !c.options.driven.empty() || !c.options.faults.empty();
  judge_faults(*sc.trace, watcher.lost(), driven, report);
  list_left_behind(sim, report);
  if (branch) {
    branch->run_to_end();
    expect(branch->fingerprint() == sim.fingerprint(), "a branch ends otherwise");
  }
  Simulation again(sc);
  again.run_to_end();
  expect(again.fingerprint() == sim.fingerprint() && again.events() == sim.events(),
         "the same run twice ends otherwise");
  const bool kept = report.undisturbed || report.recovered;
  expect(!o.strict || !kept || report.left_behind.empty(),
         report.left_behind.empty() ? "" : "left behind: " + report.left_behind.front());
}

}  // namespace

RunReport run_case(const Case& c, const CheckOptions& options) {
  RunReport report;
  try {
    run_checked(c, options, report);
  } catch (const std::exception& e) {
    report.failure = e.what();
  }
  return report;
}

}  // namespace fedsim::swarm
