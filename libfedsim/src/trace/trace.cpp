// Trace: interning of requests, order of jobs and operations, merging, and the choice of a reader.
#include <algorithm>
#include <tuple>

#include "base/mix.hpp"
#include "fedsim/trace.hpp"
#include "trace/input.hpp"
#include "trace/readers.hpp"

namespace fedsim {
namespace {

std::uint64_t hash_gres(std::uint64_t hash, const std::vector<GresRequest>& list) {
  hash = hash_combine(hash, list.size());
  for (const GresRequest& g : list) {
    hash = hash_combine(hash, hash_text(g.name));
    hash = hash_combine(hash, hash_text(g.type));
    hash = hash_combine(hash, static_cast<std::uint64_t>(g.count));
  }
  return hash;
}

std::uint64_t content_hash(const ResourceRequest& r) {
  const std::int64_t numbers[] = {r.nodes_min,        r.nodes_max,         r.ntasks,
                                  r.cpus_per_task,    r.ntasks_per_node,   r.mem_per_node_mib,
                                  r.mem_per_cpu_mib,  r.mem_per_gpu_mib,   r.sockets_per_node,
                                  r.cpus_per_gpu,     r.ntasks_per_gpu,    r.exclusive,
                                  r.contiguous,       r.overcommit,        r.use_min_nodes,
                                  r.ntasks_per_core,  r.ntasks_per_socket, r.cores_per_socket,
                                  r.threads_per_core, r.min_cpus_per_node, r.tmp_mib,
                                  r.switches,         r.switch_wait_s,     r.oversubscribe,
                                  r.spread,           r.enforce_binding,   r.extra_node_info};
  std::uint64_t hash = hash_bytes(numbers, sizeof numbers, 0);
  for (const auto* list :
       {&r.gres_per_node, &r.gres_per_job, &r.gres_per_task, &r.gres_per_socket}) {
    hash = hash_gres(hash, *list);
  }
  for (const std::string* text :
       {&r.constraint, &r.nodelist, &r.exclude, &r.distribution, &r.hint}) {
    hash = hash_combine(hash, hash_text(*text));
  }
  return hash;
}

// Copies one trace behind another; ids of texts and requests are translated.
class Merger {
 public:
  Merger(Trace& into, const Trace& from) : into_(into), from_(from) {}

  void append() {
    const auto first_job = static_cast<std::uint32_t>(into_.jobs.size());
    std::vector<std::uint32_t> requests;
    requests.reserve(from_.requests.size());
    for (const ResourceRequest& r : from_.requests) requests.push_back(into_.intern_request(r));
    for (JobSpec job : from_.jobs) {
      job.request = requests[job.request];
      for (StringId JobSpec::*text :
           {&JobSpec::label, &JobSpec::name, &JobSpec::origin, &JobSpec::user, &JobSpec::account,
            &JobSpec::partition, &JobSpec::qos, &JobSpec::clusters, &JobSpec::cluster_constraint,
            &JobSpec::dependency}) {
        job.*text = translate(job.*text);
      }
      if (job.array_job != 0) job.array_job += first_job;
      if (job.het_job != 0) job.het_job += first_job;
      into_.jobs.push_back(job);
    }
    for (Operation op : from_.operations) {
      op.cluster = translate(op.cluster);
      op.target = translate(op.target);
      op.sibling = translate(op.sibling);
      op.value = translate(op.value);
      into_.operations.push_back(op);
    }
    into_.report.rows += from_.report.rows;
    into_.report.steps += from_.report.steps;
    into_.report.folded += from_.report.folded;
    into_.report.rejected += from_.report.rejected;
    into_.report.warnings.insert(into_.report.warnings.end(), from_.report.warnings.begin(),
                                 from_.report.warnings.end());
  }

 private:
  StringId translate(StringId id) {
    return id.valid() ? into_.strings.intern(from_.strings.view(id)) : id;
  }

  Trace& into_;
  const Trace& from_;
};

}  // namespace

std::uint32_t Trace::intern_request(const ResourceRequest& request) {
  const std::size_t hash = content_hash(request);
  const auto [first, last] = request_index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (requests[it->second] == request) return it->second;
  }
  const auto index = static_cast<std::uint32_t>(requests.size());
  requests.push_back(request);
  request_index_.emplace(hash, index);
  return index;
}

void Trace::add(JobSpec job, const std::vector<std::int32_t>& array_tasks) {
  if (array_tasks.empty()) {
    jobs.push_back(job);
    return;
  }
  job.array_job = static_cast<std::uint32_t>(jobs.size()) + 1;
  for (const std::int32_t task : array_tasks) {
    job.array_task = task;
    jobs.push_back(job);
  }
}

void Trace::finish() {
  const auto by_submit = [](const JobSpec& a, const JobSpec& b) { return a.submit < b.submit; };
  if (!std::is_sorted(jobs.begin(), jobs.end(), by_submit)) {
    std::stable_sort(jobs.begin(), jobs.end(), by_submit);
  }
  std::stable_sort(operations.begin(), operations.end(),
                   [](const Operation& a, const Operation& b) { return a.at < b.at; });
}

Trace merge(const std::vector<Trace>& traces) {
  Trace all;
  all.relative_times = !traces.empty();
  bool first = true;
  for (const Trace& t : traces) {
    all.t0 = first ? t.t0 : std::min(all.t0, t.t0);
    all.relative_times = all.relative_times && t.relative_times;
    first = false;
    Merger(all, t).append();
  }
  all.finish();
  return all;
}

Trace read_trace(const std::filesystem::path& path, const ReadOptions& options) {
  const Input input = read_input(path);
  switch (guess_format(input, options)) {
    case TraceFormat::swf:
      return read_swf_text(input, options);
    case TraceFormat::sacct:
      return read_sacct_text(input, options);
    case TraceFormat::sacct_json:
      return read_sacct_json_text(input, options);
  }
  return {};
}

}  // namespace fedsim
