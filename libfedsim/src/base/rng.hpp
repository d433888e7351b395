// Stateless random draws: a number is a function of (seed, stream, entity, n), never of history.
//
// Adding a cluster or a job leaves every other entity's draws as they were, so a base run and a
// what-if are paired. No generator object and no std::*_distribution: standard libraries differ.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/mix.hpp"

namespace fedsim {

/// What a draw is for. Values are part of the determinism promise: append, never renumber.
enum class Stream : std::uint32_t {
  synth_arrival = 1,
  synth_size = 2,
  synth_runtime = 3,
  synth_limit = 4,
  synth_user = 5,
  synth_origin = 6,
  synth_gpu_type = 7,
  controller_phase = 8,
  tie = 9,
  latency = 10,
  launch = 11,
  sampling = 12,
  lock = 13,
  pass_offset = 14,
  client_command = 15,
  controller_boot = 16,
  fault = 17,
  backup_ping = 18,
};

/// The n-th 64 random bits of `entity` in `stream`.
constexpr std::uint64_t draw(std::uint64_t seed, Stream stream, std::uint64_t entity,
                             std::uint64_t n) {
  const std::uint64_t key = hash_combine(mix64(seed), static_cast<std::uint64_t>(stream));
  return hash_combine(hash_combine(key, entity), n);
}

/// Uniform in [0, 1), 53 bits.
constexpr double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// Uniform in (0, 1]: safe under a logarithm.
constexpr double uniform_positive(std::uint64_t bits) {
  return static_cast<double>((bits >> 11) + 1) * 0x1p-53;
}

/// Uniform in 0..bound-1 by multiply-shift; bias below bound / 2^32, so bound must fit 32 bits.
constexpr std::uint32_t bounded(std::uint64_t bits, std::uint32_t bound) {
  return static_cast<std::uint32_t>(((bits >> 32) * bound) >> 32);
}

/// Exponential with the given mean.
inline double exponential(std::uint64_t bits, double mean) {
  return -mean * std::log(uniform_positive(bits));
}

/// Standard normal from two draws (Box-Muller, cosine branch).
inline double normal(std::uint64_t bits, std::uint64_t more_bits) {
  constexpr double kTwoPi = 6.283185307179586476925286766559;
  const double radius = std::sqrt(-2.0 * std::log(uniform_positive(bits)));
  return radius * std::cos(kTwoPi * uniform(more_bits));
}

/// Parameters of a lognormal: exp(N(ln median, sigma)).
struct Lognormal {
  double median = 1;
  double sigma = 1;
};

inline double lognormal(std::uint64_t bits, std::uint64_t more_bits, Lognormal shape) {
  return shape.median * std::exp(shape.sigma * normal(bits, more_bits));
}

}  // namespace fedsim
