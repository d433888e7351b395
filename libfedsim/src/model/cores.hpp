// The cores of one node as a set: small, fixed in size, copied by value.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/mix.hpp"

namespace fedsim {

/// Cores 0 to 511 of a node, socket after socket. Every function is O(words).
class CoreSet {
 public:
  static constexpr int kMost = 512;

  static CoreSet first(int n) {
    CoreSet out;
    out.set(0, n);
    return out;
  }

  bool test(int i) const { return (words_[word(i)] >> bit(i)) & 1U; }
  void set(int i) { words_[word(i)] |= std::uint64_t{1} << bit(i); }
  void reset(int i) { words_[word(i)] &= ~(std::uint64_t{1} << bit(i)); }

  /// The `n` cores from `from` on.
  void set(int from, int n) {
    for_words(from, n, [&](std::size_t w, std::uint64_t mask) { words_[w] |= mask; });
  }
  void reset(int from, int n) {
    for_words(from, n, [&](std::size_t w, std::uint64_t mask) { words_[w] &= ~mask; });
  }
  int count(int from, int n) const {
    int out = 0;
    for_words(from, n,
              [&](std::size_t w, std::uint64_t mask) { out += std::popcount(words_[w] & mask); });
    return out;
  }
  bool any(int from, int n) const {
    bool out = false;
    for_words(from, n,
              [&](std::size_t w, std::uint64_t mask) { out = out || (words_[w] & mask) != 0; });
    return out;
  }

  int count() const {
    int out = 0;
    for (const std::uint64_t w : words_) out += std::popcount(w);
    return out;
  }
  bool any() const {
    std::uint64_t all = 0;
    for (const std::uint64_t w : words_) all |= w;
    return all != 0;
  }

  CoreSet& operator|=(const CoreSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    return *this;
  }
  CoreSet& operator&=(const CoreSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
    return *this;
  }
  /// Takes the cores of `other` out.
  CoreSet& operator-=(const CoreSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
    return *this;
  }
  bool overlaps(const CoreSet& other) const {
    std::uint64_t all = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) all |= words_[w] & other.words_[w];
    return all != 0;
  }
  /// Every core of `other` is in this set.
  bool contains(const CoreSet& other) const {
    std::uint64_t outside = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) outside |= other.words_[w] & ~words_[w];
    return outside == 0;
  }
  /// A number for the set, the same for equal sets.
  std::uint64_t key() const {
    std::uint64_t out = 0;
    for (const std::uint64_t w : words_) out = hash_combine(out, w);
    return out;
  }
  friend bool operator==(const CoreSet&, const CoreSet&) = default;

 private:
  static std::size_t word(int i) { return static_cast<std::size_t>(i) / 64; }
  static unsigned bit(int i) { return static_cast<unsigned>(i) % 64; }

  template <typename Each>
  static void for_words(int from, int n, Each each) {
    for (int i = from; i < from + n;) {
      const int in_word = std::min(64 - static_cast<int>(bit(i)), from + n - i);
      const std::uint64_t ones =
          in_word == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << in_word) - 1;
      each(word(i), ones << bit(i));
      i += in_word;
    }
  }

  std::array<std::uint64_t, kMost / 64> words_{};
};

}  // namespace fedsim
