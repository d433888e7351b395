// Locale-free formatting with std::to_chars.
#include "result/number.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

namespace fedsim {
namespace {

void append_padded(std::string& out, std::int64_t v, std::size_t width) {
  std::array<char, 24> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), v).ptr;
  const auto n = static_cast<std::size_t>(end - text.data());
  if (n < width) out.append(width - n, '0');
  out.append(text.data(), n);
}

// ".266" for 266000000 ns, nothing for 0.
void append_fraction(std::string& out, std::int64_t ns) {
  if (ns == 0) return;
  out += '.';
  append_padded(out, ns, 9);
  out.resize(out.find_last_not_of('0') + 1);
}

}  // namespace

void append_integer(std::string& out, std::int64_t v) {
  append_padded(out, v, 0);
}

void append_number(std::string& out, double v) {
  if (std::isnan(v)) return;
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), v).ptr;
  out.append(text.data(), end);
}

void append_seconds(std::string& out, std::int64_t ns) {
  // The magnitude as unsigned: INT64_MIN has no positive counterpart.
  const bool negative = ns < 0;
  const std::uint64_t size =
      negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  if (negative) out += '-';
  append_integer(out, static_cast<std::int64_t>(size / 1'000'000'000));
  append_fraction(out, static_cast<std::int64_t>(size % 1'000'000'000));
}

void append_iso(std::string& out, SimTime t) {
  const std::int64_t s = floor_seconds(t);
  const std::int64_t day = s >= 0 ? s / 86400 : -((-s + 86399) / 86400);
  const std::int64_t second = s - day * 86400;
  const std::chrono::year_month_day date{
      std::chrono::sys_days{std::chrono::days{static_cast<int>(day)}}};
  append_padded(out, static_cast<int>(date.year()), 4);
  out += '-';
  append_padded(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  append_padded(out, static_cast<unsigned>(date.day()), 2);
  out += 'T';
  append_padded(out, second / 3600, 2);
  out += ':';
  append_padded(out, second / 60 % 60, 2);
  out += ':';
  append_padded(out, second % 60, 2);
  append_fraction(out, t.time_since_epoch().count() - s * 1'000'000'000);
  out += 'Z';
}

std::string clock_text(std::int64_t seconds) {
  std::string out;
  if (seconds < 0) out += '-';
  const std::int64_t s = seconds < 0 ? -seconds : seconds;
  const std::int64_t days = s / 86400;
  const std::int64_t hours = s / 3600 % 24;
  if (days > 0) {
    append_integer(out, days);
    out += '-';
  }
  if (days > 0 || hours > 0) {
    append_padded(out, hours, days > 0 ? 2 : 1);
    out += ':';
  }
  append_padded(out, s / 60 % 60, days > 0 || hours > 0 ? 2 : 1);
  out += ':';
  append_padded(out, s % 60, 2);
  return out;
}

std::string hex64(std::uint64_t v) {
  constexpr const char* digits = "0123456789abcdef";
  std::string out(16, '0');
  for (std::size_t i = 16; i-- > 0; v >>= 4) out[i] = digits[v & 15];
  return out;
}

}  // namespace fedsim
