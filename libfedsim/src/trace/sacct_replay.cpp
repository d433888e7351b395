// Accounting jobs as a trace to replay: when they came, how long they ran, what they asked for.
//
// Left out and counted: jobs still pending at the dump (their run time is unknown), submissions
// that Slurm refused, and copies of federated jobs that ran on a cluster outside the dump.
#include <algorithm>
#include <cmath>

#include "trace/sacct.hpp"

namespace fedsim::sacct {
namespace {

int to_int(std::int64_t n) {
  return static_cast<int>(std::clamp<std::int64_t>(n, 0, INT32_MAX));
}

void add_gpus(const Tres& tres, std::int64_t nodes, ResourceRequest& request) {
  bool even = true;
  for (const auto& [type, count] : tres.gpu_types) even = even && count % nodes == 0;
  for (const auto& [type, count] : tres.gpu_types) {
    if (even) request.gres_per_node.push_back({"gpu", type, count / nodes});
    else request.gres_per_job.push_back({"gpu", type, count});
  }
}

void add_memory(const Record& r, std::int64_t nodes, ResourceRequest& request) {
  if (!r.mem) return;
  const auto mib = static_cast<std::int64_t>(std::ceil(r.mem->mib));
  if (r.mem->whole) {
    request.mem_per_node_mib = 0;
  } else if (mib == 0) {
    return;  // "0" without a scope: memory was not asked for
  } else if (r.mem->per == MemoryPer::cpu) {
    request.mem_per_cpu_mib = mib;
  } else if (r.mem->per == MemoryPer::node) {
    request.mem_per_node_mib = mib;
  } else {
    request.mem_per_node_mib = (mib + nodes - 1) / nodes;
  }
}

// What the job asked for, as far as accounting says. A job that ran on more nodes than it asked for
// at least is replayed with the nodes that it got.
ResourceRequest request_of(const Record& r) {
  ResourceRequest request;
  std::int64_t nodes = std::max<std::int64_t>(r.req_nodes.value_or(0), r.req.node.value_or(0));
  if (r.ran) {
    const auto placed = static_cast<std::int64_t>(r.nodes.size());
    nodes = std::max({nodes, r.alloc.node.value_or(0), placed});
  }
  if (nodes == 0) nodes = r.nnodes.value_or(0);
  nodes = std::max<std::int64_t>(nodes, 1);
  std::int64_t cpus = r.has_req && r.req.cpu ? *r.req.cpu : r.req_cpus.value_or(0);
  if (cpus == 0) cpus = r.cpus.value_or(0);
  cpus = std::max(cpus, nodes);
  request.nodes_min = request.nodes_max = to_int(nodes);
  if (cpus % nodes == 0) {
    request.ntasks = to_int(nodes);
    request.cpus_per_task = to_int(cpus / nodes);
  } else {
    request.ntasks = to_int(cpus);
  }
  add_gpus(r.has_req ? r.req : r.alloc, nodes, request);
  add_memory(r, nodes, request);
  request.exclusive = r.looks_exclusive();
  return request;
}

Outcome outcome_of(const Record& r) {
  if (r.state == "FAILED" || r.state == "BOOT_FAIL") return Outcome::failed;
  if (r.state == "CANCELLED") return Outcome::cancelled;
  if (r.state == "NODE_FAIL") return Outcome::node_fail;
  if (r.state == "OUT_OF_MEMORY") return Outcome::out_of_memory;
  if (r.state == "TIMEOUT") return Outcome::timeout;
  return Outcome::completed;
}

struct Tally {
  std::size_t count = 0;
  int line = 0;
  void add(int at) {
    if (count++ == 0) line = at;
  }
};

class TraceBuilder {
 public:
  TraceBuilder(const std::string& file, const ReadOptions& options) : file_(file) {
    origin_ = trace_.strings.intern(options.cluster);
  }

  Trace build(const Dump& dump) {
    trace_.report.rows = dump.rows;
    trace_.report.steps = dump.steps;
    trace_.report.folded = dump.folded;
    trace_.report.warnings = dump.warnings;
    trace_.jobs.reserve(dump.jobs.size());
    for (const Job& job : dump.jobs) add(job);
    warn(refused_, "submissions that Slurm refused: left out", Severity::note);
    warn(pending_, "jobs still pending at the dump: left out, their run time is unknown");
    warn(running_, "jobs still running at the dump: replayed with their length so far");
    warn(elsewhere_, "revoked copies of federated jobs that ran outside this dump: left out");
    warn(never_ran_, "jobs that never ran and have no time of cancellation: left out");
    warn(no_submit_, "jobs without a readable Submit time: left out");
    warn(preempted_, "jobs ended when preempted: replayed with their length until then");
    warn(requeued_, "jobs ran more than once: only the last run is replayed", Severity::note);
    trace_.report.rejected = refused_.count;
    trace_.finish();
    trace_.t0 = trace_.jobs.empty() ? SimTime{} : trace_.jobs.front().submit;
    return std::move(trace_);
  }

 private:
  void add(const Job& job) {
    const Record& r = job.last;
    if (job.revoked_only) return elsewhere_.add(r.line);
    if (!r.submit) return no_submit_.add(r.line);
    if (!r.ran && r.state == "FAILED") return refused_.add(r.line);
    if (!r.ran && !r.finished()) return pending_.add(r.line);
    if (!r.ran && !r.end) return never_ran_.add(r.line);
    if (r.ran && !r.finished()) running_.add(r.line);
    if (r.ran && r.state == "PREEMPTED") preempted_.add(r.line);
    if (job.run_seconds.size() > 1) requeued_.add(r.line);
    JobSpec spec = spec_of(r);
    if (!r.is_bracket) {
      trace_.jobs.push_back(spec);
      return;
    }
    spec.array_job = static_cast<std::uint32_t>(trace_.jobs.size()) + 1;
    for (const std::int64_t task : r.tasks) {  // tasks cancelled before they were split off
      spec.array_task = static_cast<std::int32_t>(task);
      trace_.jobs.push_back(spec);
    }
  }

  JobSpec spec_of(const Record& r) {
    JobSpec spec;
    spec.submit = from_unix_seconds(r.submit->epoch);
    if (r.eligible && r.eligible->epoch > r.submit->epoch) {
      spec.begin = from_unix_seconds(r.eligible->epoch);
    }
    spec.run_is_elapsed = true;
    if (r.ran) {
      spec.run = seconds_to_duration(r.elapsed_s.value_or(0));
      spec.outcome = outcome_of(r);
    } else {
      spec.cancel = std::max(spec.submit, from_unix_seconds(r.end->epoch));
      spec.outcome = Outcome::cancelled;
    }
    if (r.limit == LimitKind::unlimited) spec.limit_s = kUnlimited;
    if (r.limit == LimitKind::seconds) spec.limit_s = std::llround(r.limit_s);
    spec.exit_code = static_cast<std::uint8_t>(r.exit_code & 0xff);
    spec.trace_id = r.id;
    spec.request = trace_.intern_request(request_of(r));
    spec.name = trace_.strings.intern(r.name);
    spec.origin = r.cluster.empty() ? origin_ : trace_.strings.intern(r.cluster);
    spec.user = trace_.strings.intern(r.user);
    spec.account = trace_.strings.intern(r.account);
    spec.partition = trace_.strings.intern(r.partition);
    spec.qos = trace_.strings.intern(r.qos);
    if (r.array_task >= 0) spec.array_task = static_cast<std::int32_t>(r.array_task);
    return spec;
  }

  void warn(const Tally& tally, const std::string& what, Severity severity = Severity::warning) {
    if (tally.count == 0) return;
    trace_.report.warnings.push_back({severity, "C059", file_, tally.line,
                                      std::to_string(tally.count) + " " + what, ""});
  }

  std::string file_;
  Trace trace_;
  StringId origin_{0};
  Tally refused_, pending_, running_, elsewhere_, never_ran_, no_submit_, preempted_, requeued_;
};

}  // namespace

Trace to_trace(const Dump& dump, const std::string& file, const ReadOptions& options) {
  return TraceBuilder(file, options).build(dump);
}

}  // namespace fedsim::sacct
