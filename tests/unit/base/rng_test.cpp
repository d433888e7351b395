// Draws: pinned values (the determinism promise), ranges, moments, independence of streams.
#include "base/rng.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <string>

namespace fedsim {
namespace {

// Reference values of splitmix64 (Vigna's generator with state 0: outputs are mix64(k * gamma)).
TEST(Mix, IsSplitmix64) {
  constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15ULL;
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(mix64(kGamma), 0x6e789e6aa1b965f4ULL);
  EXPECT_EQ(mix64(2 * kGamma), 0x06c45d188009454fULL);
}

TEST(Mix, HashOfBytesSeesLengthOrderAndContent) {
  EXPECT_EQ(hash_text("gpu:a100:2"), hash_text("gpu:a100:2"));
  EXPECT_NE(hash_text("gpu:a100:2"), hash_text("gpu:a100:3"));
  EXPECT_NE(hash_text(std::string("a\0", 2)), hash_text("a"));
  EXPECT_NE(hash_text(""), hash_text(std::string(8, '\0')));
  EXPECT_NE(hash_text("abcdefgh12345678"), hash_text("12345678abcdefgh"));
  EXPECT_NE(hash_combine(hash_combine(0, 1), 2), hash_combine(hash_combine(0, 2), 1));
}

// Worked out with independent arithmetic (Python integers). A change of these numbers moves every
// synthetic trace and fingerprint.
TEST(Rng, PinnedDraws) {
  EXPECT_EQ(draw(0, Stream::synth_arrival, 0, 0), 0x484a47585bd9636fULL);
  EXPECT_EQ(draw(7, Stream::tie, 3, 1), 0x453a1db35d3f8f55ULL);
}

TEST(Rng, EveryArgumentMatters) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (const Stream stream : {Stream::synth_size, Stream::tie, Stream::latency}) {
      for (std::uint64_t entity = 0; entity < 8; ++entity) {
        for (std::uint64_t n = 0; n < 8; ++n) seen.insert(draw(seed, stream, entity, n));
      }
    }
  }
  EXPECT_EQ(seen.size(), 8U * 3U * 8U * 8U);
}

TEST(Rng, EndsOfRanges) {
  EXPECT_EQ(uniform(0), 0.0);
  EXPECT_LT(uniform(~std::uint64_t{0}), 1.0);
  EXPECT_GT(uniform_positive(0), 0.0);
  EXPECT_EQ(uniform_positive(~std::uint64_t{0}), 1.0);
  EXPECT_EQ(bounded(0, 10), 0U);
  EXPECT_EQ(bounded(~std::uint64_t{0}, 10), 9U);
  EXPECT_TRUE(std::isfinite(exponential(0, 1)));
  EXPECT_TRUE(std::isfinite(lognormal(0, 0, {1, 1})));
}

// With 100000 draws the mean of U(0,1) has a standard error of 0.0009, that of Exp(60) 0.19.
TEST(Rng, Moments) {
  constexpr int kDraws = 100000;
  double flat = 0;
  double waits = 0;
  double logs = 0;
  double squares = 0;
  std::array<int, 10> bins{};
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::uint64_t bits = draw(1, Stream::sampling, i, 0);
    flat += uniform(bits);
    waits += exponential(bits, 60);
    const double z = std::log(lognormal(bits, draw(1, Stream::sampling, i, 1), {1, 2})) / 2;
    logs += z;
    squares += z * z;
    ++bins[bounded(bits, 10)];
  }
  EXPECT_NEAR(flat / kDraws, 0.5, 0.005);
  EXPECT_NEAR(waits / kDraws, 60, 1);
  EXPECT_NEAR(logs / kDraws, 0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1, 0.03);
  for (const int count : bins) EXPECT_NEAR(count, kDraws / 10, 500);  // 5 sigma is 474
}

}  // namespace
}  // namespace fedsim
