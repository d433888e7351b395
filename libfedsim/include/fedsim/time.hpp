// Simulated time: absolute instants and durations in integer nanoseconds since 1970-01-01 UTC.
//
// The clock has no now(): nothing in the simulator can read the wall clock by accident.
#pragma once

#include <chrono>
#include <cstdint>

namespace fedsim {

/// The simulator's clock. It only gives the types below their unit and epoch (Unix time, UTC).
struct SimClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::duration<rep, period>;
  using time_point = std::chrono::time_point<SimClock, duration>;
  static constexpr bool is_steady = false;
};

/// A length of simulated time, int64 nanoseconds.
using Duration = SimClock::duration;

/// An instant of simulated time, int64 nanoseconds since 1970-01-01 UTC.
using SimTime = SimClock::time_point;

/// "No such instant" (never started, not known). NumPy shows the same bits as NaT.
inline constexpr SimTime kNoTime{Duration{INT64_MIN}};

/// Later than every event.
inline constexpr SimTime kEndOfTime{Duration{INT64_MAX}};

inline constexpr Duration kSecond{1'000'000'000};

/// Whole seconds of Unix time at or before `t`; slurmctld's time(NULL).
constexpr std::int64_t floor_seconds(SimTime t) {
  const std::int64_t ns = t.time_since_epoch().count();
  const std::int64_t s = ns / 1'000'000'000;
  return (ns % 1'000'000'000 < 0) ? s - 1 : s;
}

constexpr SimTime from_unix_seconds(std::int64_t s) {
  return SimTime{Duration{s * 1'000'000'000}};
}

/// Nearest nanosecond to `s` seconds.
constexpr Duration seconds_to_duration(double s) {
  return Duration{static_cast<std::int64_t>(s * 1e9 + (s < 0 ? -0.5 : 0.5))};
}

constexpr double to_seconds(Duration d) {
  return static_cast<double>(d.count()) / 1e9;
}

}  // namespace fedsim
