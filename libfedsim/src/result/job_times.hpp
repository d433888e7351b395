// The last execution of each job, found in one pass over the raw rows.
#pragma once

#include <cstdint>
#include <vector>

#include "fedsim/result.hpp"

namespace fedsim {

inline constexpr std::uint32_t kNoRow = UINT32_MAX;

/// By JobId; kNoRow where there is none.
struct JobRecords {
  std::vector<std::uint32_t> first;       ///< first record made
  std::vector<std::uint32_t> last_run;    ///< last record that held an allocation
  std::vector<std::uint32_t> last_ended;  ///< record that ended last, of jobs that never ran
  std::vector<std::uint32_t> rejected;    ///< record of a refused submission
};
JobRecords index_records(const Result& result);

/// Latest instant that the result knows of; running allocations are counted up to it.
SimTime observed_end(const Result& result);

}  // namespace fedsim
