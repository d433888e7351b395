// Values of sbatch options: times, node counts, generic resources (sbatch(1), 22.05).
//
// parse_sbatch() itself is declared in fedsim/trace.hpp. `--begin=now+N` is left relative: begin is
// N after the epoch, and whoever knows the submission instant adds it to job.begin.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fedsim/trace.hpp"

namespace fedsim {

/// Digits only, at most 10 of them.
std::optional<std::int64_t> parse_digits_only(std::string_view text);

/// -t forms: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S, infinite, unlimited, 0 (no limit). Seconds,
/// rounded up to whole minutes as sbatch does; kUnlimited.
std::optional<std::int64_t> parse_time_limit(std::string_view text);

struct NodeRange {
  int min = 0;
  int max = 0;
};
/// -N forms: N, MIN-MAX.
std::optional<NodeRange> parse_node_range(std::string_view text);

/// --gres list: NAME[:TYPE][:COUNT],...; "none" is an empty list.
std::optional<std::vector<GresRequest>> parse_gres_list(std::string_view text);

/// --gpus list: [TYPE:]COUNT or TYPE,...
std::optional<std::vector<GresRequest>> parse_gpu_list(std::string_view text);

/// --begin: "now" or "now+N[seconds|minutes|hours|days|weeks]" as the offset from now.
std::optional<Duration> parse_begin_offset(std::string_view text);

/// --array: task ids, ascending and each once, and how many may run at a time (0: all).
struct ArraySpec {
  std::vector<std::int32_t> tasks;
  std::uint32_t limit = 0;
};
/// "0-3,7,10-20:5%2"; nullopt when it can't be read or names more than a million tasks.
std::optional<ArraySpec> parse_array(std::string_view text);

}  // namespace fedsim
