// Small text helpers: trimming, splitting, numbers, Slurm's time and size forms.
//
// Every parser reads the whole text or answers nullopt; nothing here throws or looks at the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fedsim {

bool is_space(char c);
bool is_digit(char c);
char lower(char c);

std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);
std::string to_upper(std::string_view text);

/// Comparison without case (ASCII), as Slurm compares keys and keywords.
bool iequals(std::string_view a, std::string_view b);
bool istarts_with(std::string_view text, std::string_view prefix);

/// Pieces between separators, empty ones kept; "" gives one empty piece.
std::vector<std::string> split(std::string_view text, char separator);
/// Pieces between commas, trimmed, empty ones left out.
std::vector<std::string> split_list(std::string_view text);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// Decimal integer with optional sign.
std::optional<std::int64_t> parse_int(std::string_view text);
std::optional<double> parse_double(std::string_view text);
/// YES/NO/TRUE/FALSE/UP/DOWN/1/0 in any case.
std::optional<bool> parse_bool(std::string_view text);

/// A count with an optional binary suffix K, M, G, T or P ("4K" = 4096), as in Gres=.
std::optional<std::int64_t> parse_count(std::string_view text);

/// A memory size in MiB: "500", "4G", "4GB", "1500K" (rounded up to 2). No decimals, no sign.
std::optional<std::int64_t> parse_memory_mib(std::string_view text);

/// Seconds of Slurm's time forms: "minutes", "min:sec", "h:m:s", "d-h", "d-h:m", "d-h:m:s";
/// UNLIMITED, INFINITE and -1 give kUnlimited. Not rounded: see round_up_to_minute().
std::optional<std::int64_t> parse_slurm_time(std::string_view text);

/// Limits are kept in whole minutes, rounded up; kUnlimited and kUnset pass through.
std::int64_t round_up_to_minute(std::int64_t seconds);

/// "1-00:00:00", "02:30:00", "UNLIMITED"; "NONE" for kUnset.
std::string format_slurm_time(std::int64_t seconds);

/// Number of edits (insert, delete, replace, ignoring case) between two words; for "did you mean".
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace fedsim
