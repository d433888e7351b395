// Compact bytes for pickling: one list of fields per struct serves writing and reading.
//
// Every list unpacks its struct with a structured binding, so a field added to a public header does
// not compile here until it is pickled too. Bytes are for the same release only; the header says
// which.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fedsim/ids.hpp"
#include "fedsim/time.hpp"

namespace fedsim::python {

template <class T>
struct is_id : std::false_type {};
template <class Tag>
struct is_id<Id<Tag>> : std::true_type {};

template <class T>
inline constexpr bool kPlain = std::is_arithmetic_v<T> || std::is_enum_v<T> || is_id<T>::value ||
                               std::is_same_v<T, SimTime> || std::is_same_v<T, Duration>;

/// Appends values to `bytes`.
class Writer {
 public:
  explicit Writer(std::string_view kind) { put(header(kind)); }
  static std::string header(std::string_view kind) {
    return "fedsim " FEDSIM_VERSION " " + std::string(kind);
  }

  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  std::string take() { return std::move(bytes_); }

 private:
  template <class T>
  void put(const T& v) {
    if constexpr (kPlain<T>) {
      char raw[sizeof(T)];
      std::memcpy(raw, &v, sizeof(T));
      bytes_.append(raw, sizeof(T));
    } else {
      // The list of fields takes a mutable reference because the Reader needs one.
      fields(*this, const_cast<T&>(v));
    }
  }
  void put(const std::string& v) {
    put(static_cast<std::uint64_t>(v.size()));
    bytes_.append(v);
  }
  template <class T>
  void put(const std::vector<T>& v) {
    put(static_cast<std::uint64_t>(v.size()));
    for (const T& x : v) put(x);
  }
  template <class K, class V>
  void put(const std::map<K, V>& v) {
    put(static_cast<std::uint64_t>(v.size()));
    for (const auto& [key, value] : v) (*this)(key, value);
  }

  std::string bytes_;
};

/// Takes values from bytes; throws std::invalid_argument when they end early or are of another
/// release.
class Reader {
 public:
  Reader(std::string_view bytes, std::string_view kind) : bytes_(bytes) {
    std::string found;
    if (bytes.size() >= sizeof(std::uint64_t)) get(found);
    if (found != Writer::header(kind)) {
      throw std::invalid_argument("pickled by another fedsim (" + found + "), this is " +
                                  Writer::header(kind));
    }
  }

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }

 private:
  template <class T>
  void get(T& v) {
    if constexpr (kPlain<T>) {
      std::memcpy(&v, next(sizeof(T)), sizeof(T));
    } else {
      fields(*this, v);
    }
  }
  void get(std::string& v) {
    const std::size_t n = size();
    v.assign(next(n), n);
  }
  template <class T>
  void get(std::vector<T>& v) {
    v.resize(size());
    for (T& x : v) get(x);
  }
  template <class K, class V>
  void get(std::map<K, V>& v) {
    for (std::size_t n = size(); n > 0; --n) {
      K key{};
      get(key);
      get(v[key]);
    }
  }

  std::size_t size() {
    std::uint64_t n = 0;
    get(n);
    // Every element takes at least one byte, so a longer count can only be damage.
    if (n > bytes_.size()) throw std::invalid_argument("pickled fedsim bytes are damaged");
    return static_cast<std::size_t>(n);
  }
  const char* next(std::size_t n) {
    if (n > bytes_.size()) throw std::invalid_argument("pickled fedsim bytes end early");
    const char* at = bytes_.data();
    bytes_.remove_prefix(n);
    return at;
  }

  std::string_view bytes_;
};

}  // namespace fedsim::python
