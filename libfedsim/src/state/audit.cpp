// Every invariant of a run's state: see state.hpp. Recomputed from the allocations, not from
// counters.
#include <bit>
#include <string>

#include "state/state.hpp"

namespace fedsim {
namespace {

/// Sums of what live allocations hold on each node of one cluster.
struct Held {
  std::vector<CoreSet> cores;  ///< of all its jobs
  std::vector<std::uint64_t> cpus;
  std::vector<std::int64_t> memory;
  std::vector<std::uint64_t> gpus;
};

std::vector<Held> sum_allocations(const FederationModel& model, const SimState& s) {
  std::vector<Held> held(model.clusters.size());
  for (std::size_t c = 0; c < held.size(); ++c) {
    const std::size_t n = model.clusters[c].nodes.size();
    held[c] = {std::vector<CoreSet>(n), std::vector<std::uint64_t>(n, 0),
               std::vector<std::int64_t>(n, 0), std::vector<std::uint64_t>(n, 0)};
  }
  for (const LiveAllocation& a : s.slots) {
    if (a.record == kNoIndex || s.record_rows[a.record].state != RecordState::running) continue;
    Held& h = held[s.record_rows[a.record].cluster.index()];
    for (const NodeShare& share : a.shares) {
      FEDSIM_CHECK(share.sharing == NodeSharing::open || !h.cores[share.node].overlaps(share.cores),
                   "a core is held by two allocations");
      h.cores[share.node] |= share.cores;
      h.cpus[share.node] += share.cpus;
      h.memory[share.node] += share.memory_mib;
      FEDSIM_CHECK((h.gpus[share.node] & share.gpu_mask) == 0, "a GPU is held by two allocations");
      h.gpus[share.node] |= share.gpu_mask;
    }
  }
  return held;
}

void audit_nodes(const ClusterModel& model, const NodePool& pool, const Held& held) {
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    const NodeClass& c = model.node_class(NodeId{n});
    const std::string where = model.name + "/" + model.nodes[n].name;
    const auto cores = static_cast<std::uint64_t>(held.cores[n].count());
    const std::uint64_t cpus =
        model.unit_nodes
            ? held.cpus[n]
            : cores * static_cast<std::uint64_t>(model.hardware->nodes[n].threads_per_core);
    FEDSIM_CHECK(cpus + pool.free_cpus(n) == static_cast<std::uint64_t>(c.cpus), where + " CPUs");
    FEDSIM_CHECK(held.memory[n] + pool.free_memory_mib(n) == c.memory_mib, where + " memory");
    FEDSIM_CHECK((held.gpus[n] ^ pool.free_gpus(n)) == c.gpu_mask, where + " GPUs");
    FEDSIM_CHECK(test_bit(pool.with_free_cpus(), n) == (pool.free_cpus(n) > 0),
                 where + " free-CPU bit");
  }
}

void audit_records(const FederationModel& model, const SimState& s) {
  std::vector<std::uint8_t> runs(s.job_rows.size(), 0);
  std::vector<std::size_t> queued(model.clusters.size(), 0);
  for (std::size_t r = 0; r < s.record_rows.size(); ++r) {
    const RecordRow& row = s.record_rows[r];
    if (s.records[r].queued) {
      FEDSIM_CHECK(row.state == RecordState::pending, "a record that is not pending is queued");
      ++queued[row.cluster.index()];
    }
    if (row.state != RecordState::running) continue;
    FEDSIM_CHECK(++runs[row.job.index()] == 1, "a job id has two running allocations");
    FEDSIM_CHECK(s.jobs[row.job.index()].running_record == r,
                 "the job does not know its running record");
    FEDSIM_CHECK(s.slots[s.records[r].slot].record == r, "the allocation does not know its record");
  }
  for (std::size_t c = 0; c < queued.size(); ++c) {
    FEDSIM_CHECK(queued[c] == s.clusters[c].queued_n, "queue length of " + model.clusters[c].name);
  }
}

void audit_jobs(const SimState& s) {
  std::size_t done = 0;
  std::size_t on_way = 0;
  for (std::size_t j = 0; j < s.job_rows.size(); ++j) {
    done += s.jobs[j].finished ? 1U : 0U;
    FEDSIM_CHECK(j < s.next_submit || s.jobs[j].newest_record == kNoIndex,
                 "a job ran before its submission");
    on_way += j < s.next_submit && s.jobs[j].newest_record == kNoIndex ? 1U : 0U;
    FEDSIM_CHECK(!s.jobs[j].finished || s.jobs[j].running_record == kNoIndex,
                 "a finished job still runs");
  }
  FEDSIM_CHECK(on_way == s.submits_on_way, "a submission left no record");
  FEDSIM_CHECK(done == s.jobs_done, "jobs are not conserved");
}

}  // namespace

void audit(const FederationModel& model, const SimState& s) {
  const std::vector<Held> held = sum_allocations(model, s);
  for (std::size_t c = 0; c < model.clusters.size(); ++c) {
    audit_nodes(model.clusters[c], s.clusters[c].pool, held[c]);
  }
  audit_records(model, s);
  audit_jobs(s);
}

}  // namespace fedsim
