// Integer mixing and content hashing: the base of draws, fingerprints and interning.
//
// Results are part of the determinism promise (same input, same bits on every machine): a change
// here moves every fingerprint and every synthetic trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fedsim {

/// Bijective 64-bit finaliser of splitmix64: every input bit reaches every output bit.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Hash of the sequence "what gave `hash`, then `value`". Order matters.
constexpr std::uint64_t hash_combine(std::uint64_t hash, std::uint64_t value) {
  return mix64(hash ^ (mix64(value) + 0x632be59bd9b4e019ULL));
}

/// 64-bit content hash of bytes, the same on every little-endian machine. Not cryptographic.
inline std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t seed) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::uint64_t hash = mix64(seed ^ size);
  std::size_t left = size;
  for (; left >= 8; left -= 8, bytes += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, 8);
    hash = hash_combine(hash, word);
  }
  if (left > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, left);
    hash = hash_combine(hash, word);
  }
  return hash;
}

inline std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 0) {
  return hash_bytes(text.data(), text.size(), seed);
}

}  // namespace fedsim
