// Civil time: calendar dates, fixed offsets and IANA time zones (TZif files of the system).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fedsim {

/// Seconds of a proleptic Gregorian date and time of day, as if it were UTC.
struct CivilTime {
  int year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0;
};
std::int64_t civil_seconds(const CivilTime& t);
/// "2026-03-01T08:00:00".
std::string format_civil(std::int64_t seconds);

/// Instants and lengths that simulated time (int64 nanoseconds, to the year 2262) surely holds.
inline constexpr std::int64_t kLastInstant = 7'258'118'400;  ///< 2200-01-01
inline constexpr std::int64_t kLongestSeconds = 1'000'000'000;  ///< about 31 years

/// A time as a trace writes it: seconds since 1970, or local seconds that need a zone.
struct WrittenTime {
  std::int64_t seconds = 0;        ///< local clock reading, as if UTC
  std::optional<int> offset_s;     ///< offset from UTC, when the text has one
};
/// "2026-03-01T08:00:00[.fff][Z|+01:00|+0100]", also with a blank for T; or 9 to 11 digits of Unix
/// time (offset 0). nullopt when it is none of these or not in 1902 to 2199.
std::optional<WrittenTime> parse_written_time(std::string_view text);

/// A zone: a fixed offset or the transitions of an IANA zone.
class Zone {
 public:
  /// "+01:00", "-0530", "UTC", "Z" or an IANA name. Throws InputError (C054) for anything else.
  static Zone parse(const std::string& name);

  /// Instants that show `local` on this zone's clock: one, two (clock set back) or, in the hour
  /// that a clock set forward skips, the one by the offset before.
  std::vector<std::int64_t> instants(std::int64_t local) const;
  int offset_at(std::int64_t instant) const;

 private:
  std::vector<std::int64_t> transitions_;  // ascending
  std::vector<int> offsets_;               // offsets_[i] holds before transitions_[i]; one more
};

}  // namespace fedsim
