// Populations, GPU-hours, waits and utilisation of a run, in passes over the raw rows.
//
// A job, a record, an allocation, a GPU and a process are counted separately; `naive_gpu_sum` is
// what adding up the GPUs of every row of squeue would give, for comparison.
#include "result/metrics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "result/job_times.hpp"

namespace fedsim {
namespace {

constexpr double kNsPerHour = 3.6e12;

void count_rows(const Result& result, Populations& p) {
  std::array<std::size_t, static_cast<std::size_t>(RecordState::rejected) + 1> by_state{};
  for (const RecordRow& r : result.record_rows) ++by_state[static_cast<std::size_t>(r.state)];
  for (std::size_t s = 0; s + 1 < by_state.size(); ++s) {  // a refused submission is no record
    const std::size_t n = by_state[s];
    if (n > 0) p.records[std::string(to_string(static_cast<RecordState>(s)))] = n;
  }
  for (const JobRow& j : result.job_rows) {
    j.state == RecordState::rejected ? ++p.rejected : ++p.jobs;
  }
  p.allocations = result.allocation_rows.size();
  p.process_groups = result.allocation_rows.size();
  for (const AllocationRow& a : result.allocation_rows) {
    p.processes += a.tasks;
    p.largest_group = std::max<std::size_t>(p.largest_group, a.tasks);
  }
}

std::size_t count_distinct_gpus(const Result& result) {
  std::vector<std::vector<std::uint64_t>> held(result.scenario.model->clusters.size());
  for (std::size_t c = 0; c < held.size(); ++c) {
    held[c].assign(result.scenario.model->clusters[c].nodes.size(), 0);
  }
  for (const AllocationRow& a : result.allocation_rows) {
    if (a.place_offset + a.nodes_n > result.placements.size()) continue;  // placements not kept
    for (std::uint64_t i = a.place_offset; i < a.place_offset + a.nodes_n; ++i) {
      const Placement& p = result.placements[i];
      held[a.cluster.index()][p.node.index()] |= p.gpu_mask;
    }
  }
  std::size_t n = 0;
  for (const auto& nodes : held) {
    for (const std::uint64_t mask : nodes) n += static_cast<std::size_t>(std::popcount(mask));
  }
  return n;
}

// squeue shows the TRES of a job's revoked record at its origin as long as the job lives; copies
// that other siblings revoked are gone from there.
std::int64_t naive_gpu_sum(const Result& result) {
  const JobRecords index = index_records(result);
  std::int64_t sum = 0;
  for (const RecordRow& r : result.record_rows) {
    if (r.allocation != kNoRow) {
      sum += result.allocation_rows[r.allocation].gpus;
      continue;
    }
    const JobRow& job = result.job_rows[r.job.index()];
    const std::uint32_t run = index.last_run[r.job.index()];
    if (r.state != RecordState::revoked || r.cluster != job.origin || run == kNoRow) continue;
    sum += result.allocation_rows[result.record_rows[run].allocation].gpus;
  }
  return sum;
}

// Linear interpolation between the two nearest ranks, as NumPy does.
double quantile(std::vector<double>& values, double q) {
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::ptrdiff_t>(std::floor(at));
  const auto nth = values.begin() + low;
  std::nth_element(values.begin(), nth, values.end());
  const double below = *nth;
  const double part = at - static_cast<double>(low);
  if (part == 0.0 || nth + 1 == values.end()) return below;
  return below + part * (*std::min_element(nth + 1, values.end()) - below);
}

WaitStats waits(const Result& result) {
  std::vector<double> values;
  values.reserve(result.allocation_rows.size());
  double sum = 0;
  for (const RecordRow& r : result.record_rows) {
    if (r.allocation == kNoRow || r.start == kNoTime) continue;
    const SimTime from = r.eligible != kNoTime ? r.eligible : r.submit;
    if (from == kNoTime) continue;
    const double wait = to_seconds(r.start - from);
    values.push_back(wait);
    sum += wait;
  }
  WaitStats w;
  if (values.empty()) return w;
  w.mean = sum / static_cast<double>(values.size());
  w.max = *std::max_element(values.begin(), values.end());
  w.p50 = quantile(values, 0.50);
  w.p90 = quantile(values, 0.90);
  w.p95 = quantile(values, 0.95);
  return w;
}

SimTime first_submission(const Result& result) {
  SimTime first = kEndOfTime;
  for (std::size_t i = 0; i < result.job_rows.size(); ++i) {
    if (result.job_rows[i].state == RecordState::rejected) continue;
    first = std::min(first, result.scenario.trace->jobs[i].submit);
  }
  return first;
}

void held_time(Result& result) {
  Summary& s = result.summary;
  const SimTime until = observed_end(result);
  const SimTime first = first_submission(result);
  SimTime last = kNoTime;  // the smallest representable instant
  double gpu_ns = 0;
  double cpu_ns = 0;
  for (const AllocationRow& a : result.allocation_rows) {
    const SimTime end = a.end != kNoTime ? a.end : until;
    last = std::max(last, end);
    const auto length = static_cast<double>((end - a.start).count());
    gpu_ns += static_cast<double>(a.gpus) * length;
    cpu_ns += static_cast<double>(a.cpus) * length;
  }
  s.gpu_hours = gpu_ns / kNsPerHour;
  s.cpu_hours = cpu_ns / kNsPerHour;
  if (last > first) s.makespan_s = to_seconds(last - first);
  std::int64_t cpus_in_fleet = 0;
  for (const ClusterModel& c : result.scenario.model->clusters) cpus_in_fleet += c.cpus_n;
  const bool by_gpu = s.populations.gpus_in_fleet > 0;
  const double fleet = by_gpu ? static_cast<double>(s.populations.gpus_in_fleet)
                              : static_cast<double>(cpus_in_fleet);
  if (fleet > 0 && s.makespan_s > 0) {
    s.utilisation = (by_gpu ? gpu_ns : cpu_ns) / 1e9 / (fleet * s.makespan_s);
  }
}

}  // namespace

void summarise(Result& result) {
  Summary& s = result.summary;
  s.populations = Populations{};
  s.makespan_s = 0;
  s.utilisation = 0;
  count_rows(result, s.populations);
  s.populations.distinct_gpus = count_distinct_gpus(result);
  for (const ClusterModel& c : result.scenario.model->clusters) {
    s.populations.gpus_in_fleet += c.gpus_n;
  }
  s.populations.naive_gpu_sum = naive_gpu_sum(result);
  held_time(result);
  s.wait_s = waits(result);
}

namespace {

RecordState state_at(const RecordRow& r, SimTime at) {
  if (r.end != kNoTime && r.end <= at) return r.state;
  return r.start != kNoTime && r.start <= at ? RecordState::running : RecordState::pending;
}

/// The raw rows as they stood: records made by then, allocations that hold nodes.
Result rows_at(const Result& result, SimTime at) {
  Result out;
  out.scenario = result.scenario;
  out.job_rows = result.job_rows;
  out.placements = result.placements;
  for (RecordRow r : result.record_rows) {
    if (r.submit > at) continue;
    const bool ran = r.allocation != kNoRow;
    r.state = r.state == RecordState::rejected ? r.state : state_at(r, at);
    if (ran && r.state == RecordState::running) {
      out.allocation_rows.push_back(result.allocation_rows[r.allocation]);
      r.allocation = static_cast<std::uint32_t>(out.allocation_rows.size() - 1);
    } else {
      r.allocation = kNoRow;
    }
    out.record_rows.push_back(r);
  }
  return out;
}

/// Jobs of which some record is open, or that are about to be queued again.
std::size_t open_jobs(const Result& result, SimTime at) {
  std::vector<std::uint8_t> submitted(result.job_rows.size(), 0);
  std::vector<SimTime> last(result.job_rows.size(), kNoTime);
  for (const RecordRow& r : result.record_rows) {
    const std::size_t j = r.job.index();
    if (r.allocation != kNoRow || result.job_rows[j].records_n == 1)
      last[j] = r.end == kNoTime ? kEndOfTime : std::max(last[j], r.end);
    if (r.submit <= at && r.state != RecordState::rejected) submitted[j] = 1;
  }
  std::size_t n = 0;
  for (std::size_t j = 0; j < submitted.size(); ++j) {
    const JobRow& row = result.job_rows[j];
    const bool over = row.state != RecordState::pending && row.state != RecordState::running;
    if (submitted[j] != 0 && (!over || last[j] > at)) ++n;
  }
  return n;
}

}  // namespace

Populations populations_at(const Result& result, SimTime at) {
  const Result rows = rows_at(result, at);
  Populations p;
  count_rows(rows, p);
  p.jobs = open_jobs(result, at);
  p.rejected = static_cast<std::size_t>(
      std::count_if(rows.record_rows.begin(), rows.record_rows.end(),
                    [](const RecordRow& r) { return r.state == RecordState::rejected; }));
  p.distinct_gpus = count_distinct_gpus(rows);
  p.gpus_in_fleet = result.summary.populations.gpus_in_fleet;
  p.naive_gpu_sum = naive_gpu_sum(rows);
  return p;
}

}  // namespace fedsim
