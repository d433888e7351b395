// How long controllers take to talk to each other and to begin a pass, as recorded (scenarios 20,
// all main passes, three releases): quantiles, drawn from by linear interpolation, so that the
// same seed gives the same delay on every compiler.
#pragma once

#include <algorithm>
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
/// A command of a user: run to handled by the controller. Machines of two busy cores.
inline constexpr DelayQuantiles kCommand22{11, 22, 31, 68, 149, 298, 554, 788, 3342};
inline constexpr DelayQuantiles kCommand24{14, 33, 50, 105, 235, 510, 950, 1360, 4800};
/// slurmctld run to working as primary, in a federation of which all controllers start at once on
/// two cores: what slows one slows all, each is within this of the others' time.
inline constexpr DelayQuantiles kBoot22{860, 960, 1060, 1230, 1680, 2060, 2880, 3250, 5110};
inline constexpr DelayQuantiles kBoot24{160, 440, 570, 1000, 2150, 3500, 5000, 6000, 12000};
inline constexpr double kBootSpread22 = 350;
inline constexpr double kBootSpread24 = 600;
/// The same of one controller that starts while the others run.
inline constexpr DelayQuantiles kRestart22{770, 780, 790, 860, 1170, 1320, 1500, 2000, 2300};
inline constexpr DelayQuantiles kRestart24{150, 150, 200, 500, 870, 1900, 3800, 4200, 4600};

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
/// `shared`: drawn once for the federation, `own`: for the controller.
constexpr Duration boot_delay(SlurmRelease release, std::uint64_t shared, std::uint64_t own) {
  const bool later = has_aligned_passes(release);
  const double off_ms = (2 * uniform(own) - 1) * (later ? kBootSpread24 : kBootSpread22);
  const Duration least{150'000'000};
  return std::max(drawn_delay(later ? kBoot24 : kBoot22, shared) +
                      Duration{static_cast<std::int64_t>(off_ms * 1e6)},
                  least);
}
constexpr Duration restart_delay(SlurmRelease release, std::uint64_t bits) {
  return drawn_delay(has_aligned_passes(release) ? kRestart24 : kRestart22, bits);
}
constexpr Duration command_delay(SlurmRelease release, Duration median, std::uint64_t bits) {
  const DelayQuantiles& q = has_aligned_passes(release) ? kCommand24 : kCommand22;
  return drawn_delay(q, bits, static_cast<double>(median.count()) / (kCommand22[4] * 1e6));
}

}  // namespace fedsim
