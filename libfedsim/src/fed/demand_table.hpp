// What was worked out once for all jobs that a controller can't tell apart.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "submit/demand.hpp"

namespace fedsim {

/// Demands by (cluster, partition, request), resolved once; an index is stable for the whole run.
struct DemandTable {
  struct Verdict {
    bool known = false;
    bool fits_empty = false;
    std::uint32_t demand = 0;
  };
  /// What the controller's answer to a submission depends on.
  struct Question {
    std::uint32_t request, partition, account;
    std::int64_t limit_s;
    std::uint8_t cluster;
    bool held;
    friend auto operator<=>(const Question&, const Question&) = default;
  };
  std::vector<Demand> demands;
  std::map<Question, Reason> answers;              ///< none: taken
  std::vector<std::vector<Verdict>> by_partition;  ///< [cluster's first partition + p][request]
  std::vector<std::size_t> first_partition;        ///< per cluster
};

}  // namespace fedsim
