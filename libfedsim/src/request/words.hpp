// Numbers, sizes and times as sbatch reads them from its arguments (22.05; what is refused and what
// is read although it looks wrong follows recordings of real sbatch).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fedsim {

/// The whole text as a signed decimal number; leading spaces and a sign are taken.
std::optional<std::int64_t> read_decimal(std::string_view text);

/// The number a text begins with, 0 when there is none ("12abc" is 12).
std::int64_t read_leading_decimal(std::string_view text);

/// N[K|M|G|T][B] in MiB, KiB rounded up; nothing for signs, fractions and other letters.
std::optional<std::int64_t> read_size_mib(std::string_view text);

/// One side of -N: a number with k or m behind it.
struct NodeCountWord {
  std::int64_t value = -1;
  bool any = false;    ///< it began with a number
  bool whole = false;  ///< nothing but spaces followed
};
NodeCountWord read_node_count(std::string_view text);

/// --time and --time-min in minutes, seconds rounded up; kUnlimited for -1, INFINITE, UNLIMITED.
std::optional<std::int64_t> read_minutes(std::string_view text);

/// --begin and --deadline: seconds of UTC, 0 when they can't be read, and where reading stopped.
struct InstantWord {
  std::int64_t seconds = 0;
  int position = 0;
};
/// Takes now[+|-N[unit]], today, tomorrow, midnight, noon, fika, teatime, HH:MM[:SS] [AM|PM], dates
/// MMDD[YY], MM/DD[/YY], MM.DD[.YY], YYYY-MM-DD with or without a time. Local time is UTC here.
InstantWord read_instant(std::string_view text, std::int64_t now_s);

}  // namespace fedsim
