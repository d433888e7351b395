// One pass over the raw rows: which records tell a job's start and end, and when the story stops.
#include "result/job_times.hpp"

#include <algorithm>

namespace fedsim {

JobRecords index_records(const Result& result) {
  const std::size_t jobs_n = result.job_rows.size();
  JobRecords out;
  out.first.assign(jobs_n, kNoRow);
  out.last_run.assign(jobs_n, kNoRow);
  out.last_ended.assign(jobs_n, kNoRow);
  out.rejected.assign(jobs_n, kNoRow);
  for (std::size_t i = 0; i < result.record_rows.size(); ++i) {
    const RecordRow& r = result.record_rows[i];
    const std::size_t job = r.job.index();
    const auto row = static_cast<std::uint32_t>(i);
    if (out.first[job] == kNoRow) out.first[job] = row;
    if (r.allocation != kNoRow) out.last_run[job] = row;
    if (r.state == RecordState::rejected) out.rejected[job] = row;
    const std::uint32_t ended = out.last_ended[job];
    if (r.end != kNoTime && (ended == kNoRow || result.record_rows[ended].end < r.end)) {
      out.last_ended[job] = row;
    }
  }
  return out;
}

SimTime observed_end(const Result& result) {
  SimTime last = kNoTime;  // the smallest representable instant
  for (const RecordRow& r : result.record_rows) last = std::max({last, r.start, r.end, r.submit});
  const SimTime horizon = result.scenario.options.horizon;
  const bool cut = std::any_of(result.allocation_rows.begin(), result.allocation_rows.end(),
                               [](const AllocationRow& a) { return a.end == kNoTime; });
  return cut && horizon != kEndOfTime ? std::max(last, horizon) : last;
}

}  // namespace fedsim
