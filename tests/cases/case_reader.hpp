// Reads a `.case` text: a federation, what is submitted and done to it, and after a line "---" what
// has to come of it. The grammar is in tests/cases/README.md; a word it does not know is an error.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fedsim/simulation.hpp"

namespace fedsim::cases {

/// When something has to happen, seconds from t0; both ends belong to it.
struct Window {
  SimTime from{Duration{INT64_MIN}};
  SimTime to{Duration{INT64_MAX}};
};

/// One line after "---".
struct Expectation {
  enum class Kind {
    event,     ///< this happens; starts in this order and no others
    no_event,  ///< this does not happen
    reject,    ///< refused with Slurm's text
    jobid,     ///< the job's printed id
    state,     ///< how the newest record of a job on a cluster, or the job itself, stands
    no_record  ///< the cluster has no record of the job
  };
  Kind kind = Kind::event;
  int line = 0;
  std::string text;  ///< the line, for messages
  StoryKind event = StoryKind::start;
  std::string job;
  std::string cluster;  ///< "" is any, or for `state` the job itself
  Window when;
  SimTime instant = kNoTime;  ///< look then; kNoTime: at the end
  std::string reason;         ///< of a refusal
  std::uint32_t id = 0;
  std::map<std::string, std::string> fields;  ///< of `state`
};

struct Case {
  std::vector<std::string> header;  ///< comment lines before the first other line, without "# "
  Scenario scenario;
  std::vector<Expectation> expectations;
};

/// t0 of every case; a whole second.
inline constexpr SimTime kCaseStart = from_unix_seconds(1'000'000'000);

/// Throws InputError with every finding; `file` is the name in them.
Case read_case(std::string_view text, const std::string& file);

/// "90", "90s", "10m", "2h", "1.5s", "-12s".
std::optional<Duration> parse_seconds(std::string_view text);

}  // namespace fedsim::cases
