// How long controllers take to talk to each other and to begin a pass, as recorded (scenarios 20,
// all main passes, three releases): quantiles, drawn from by linear interpolation, so that the
// same seed gives the same delay on every compiler.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/rng.hpp"
#include "fedsim/model.hpp"
#include "fedsim/time.hpp"

namespace fedsim {

/// Quantiles at 0, 5, 10, 25, 50, 75, 90, 95 and 100 %, in milliseconds.
using DelayQuantiles = std::array<double, 9>;
inline constexpr std::array<double, 9> kDelayLevels{0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1};

/// A queued message: sent to handled.
inline constexpr DelayQuantiles kMessage22{41, 42, 45, 49, 88, 102, 145, 200, 280};
inline constexpr DelayQuantiles kMessage24{0.5, 1, 1, 2.5, 5.5, 20, 90, 150, 320};
/// A lock call: asked to set at the origin. 22.05 waits for the acknowledgement of the network.
inline constexpr DelayQuantiles kLock22{40, 41, 41, 42, 45, 48, 55, 65, 135};
inline constexpr DelayQuantiles kLock24{0.1, 0.2, 0.3, 0.5, 1, 1, 4, 20, 90};
/// Main passes of 24.11 and later: whole second to begin.
inline constexpr DelayQuantiles kPassOffset24{2, 3, 4, 6.5, 13, 28, 60, 105, 400};

constexpr Duration drawn_delay(const DelayQuantiles& q, std::uint64_t bits, double scale = 1) {
  const double u = uniform(bits);
  std::size_t i = 1;
  while (i + 1 < q.size() && u >= kDelayLevels[i]) ++i;
  const double part = (u - kDelayLevels[i - 1]) / (kDelayLevels[i] - kDelayLevels[i - 1]);
  const double ms = q[i - 1] + part * (q[i] - q[i - 1]);
  return Duration{static_cast<std::int64_t>(ms * scale * 1e6)};
}

constexpr bool has_aligned_passes(SlurmRelease release) {
  return release >= SlurmRelease{24, 11};
}

/// `median`: of 22.05; the spread, and the shorter times of 24.11 and later, follow it.
constexpr Duration message_delay(SlurmRelease release, Duration median, std::uint64_t bits) {
  const DelayQuantiles& q = has_aligned_passes(release) ? kMessage24 : kMessage22;
  return drawn_delay(q, bits, static_cast<double>(median.count()) / (kMessage22[4] * 1e6));
}
constexpr Duration lock_delay(SlurmRelease release, Duration median, std::uint64_t bits) {
  const DelayQuantiles& q = has_aligned_passes(release) ? kLock24 : kLock22;
  return drawn_delay(q, bits, static_cast<double>(median.count()) / (kLock22[4] * 1e6));
}

}  // namespace fedsim
