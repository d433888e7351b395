// Small text helpers: see base/text.hpp.
#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>

#include "fedsim/spec.hpp"

namespace fedsim {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

namespace {

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

/// A run of digits that fits; nullopt for "", signs and overflow.
std::optional<std::int64_t> parse_digits(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  return parse_int(text);
}

std::optional<std::int64_t> multiply(std::int64_t value, std::int64_t factor) {
  if (value > std::numeric_limits<std::int64_t>::max() / factor) return std::nullopt;
  return value * factor;
}

/// h:m:s, h:m or h after the days.
std::optional<std::int64_t> parse_after_days(std::string_view text) {
  if (text.empty()) return 0;
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() > 3) return std::nullopt;
  constexpr std::int64_t kUnit[] = {3600, 60, 1};
  std::int64_t seconds = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto value = parse_digits(parts[i]);
    if (!value || *value > 1'000'000'000) return std::nullopt;
    seconds += *value * kUnit[i];
  }
  return seconds;
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

std::string to_upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), upper);
  return out;
}

bool iequals(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

bool istarts_with(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && iequals(text.substr(0, prefix.size()), prefix);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    if (end == std::string_view::npos) {
      parts.emplace_back(text.substr(begin));
      return parts;
    }
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  for (const std::string& part : split(text, ',')) {
    if (const std::string_view piece = trim(part); !piece.empty()) parts.emplace_back(piece);
  }
  return parts;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (text.empty() || !is_digit(text.front())) return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> parse_bool(std::string_view text) {
  for (const char* yes : {"YES", "TRUE", "UP", "1"}) {
    if (iequals(text, yes)) return true;
  }
  for (const char* no : {"NO", "FALSE", "DOWN", "0"}) {
    if (iequals(text, no)) return false;
  }
  return std::nullopt;
}

std::optional<std::int64_t> parse_count(std::string_view text) {
  std::int64_t factor = 1;
  if (!text.empty() && !is_digit(text.back())) {
    constexpr std::string_view kSuffixes = "kmgtp";
    const std::size_t power = kSuffixes.find(lower(text.back()));
    if (power == std::string_view::npos) return std::nullopt;
    factor = std::int64_t{1} << (10 * (power + 1));
    text.remove_suffix(1);
  }
  const auto value = parse_digits(text);
  if (!value) return std::nullopt;
  return multiply(*value, factor);
}

std::optional<std::int64_t> parse_memory_mib(std::string_view text) {
  if (text.size() >= 3 && lower(text.back()) == 'b' && !is_digit(text[text.size() - 2])) {
    text.remove_suffix(1);
  }
  if (text.empty()) return std::nullopt;
  const char suffix = lower(text.back());
  if (!is_digit(suffix)) text.remove_suffix(1);
  const auto value = parse_digits(text);
  if (!value) return std::nullopt;
  if (is_digit(suffix) || suffix == 'm') return value;
  if (suffix == 'k') return *value / 1024 + (*value % 1024 != 0 ? 1 : 0);
  if (suffix == 'g') return multiply(*value, 1024);
  if (suffix == 't') return multiply(*value, std::int64_t{1024} * 1024);
  return std::nullopt;
}

std::optional<std::int64_t> parse_slurm_time(std::string_view text) {
  if (iequals(text, "UNLIMITED") || iequals(text, "INFINITE") || text == "-1") return kUnlimited;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto days = parse_digits(text.substr(0, dash));
    const auto rest = parse_after_days(text.substr(dash + 1));
    if (!days || !rest || *days > 1'000'000'000) return std::nullopt;
    return *days * 86400 + *rest;
  }
  const auto colons = std::count(text.begin(), text.end(), ':');
  if (text.empty() || colons > 2) return std::nullopt;
  if (colons == 2) return parse_after_days(text);
  // Without hours the first number is minutes: "90", "4:30".
  return parse_after_days("0:" + std::string(text));
}

std::int64_t round_up_to_minute(std::int64_t seconds) {
  return seconds <= 0 ? seconds : (seconds + 59) / 60 * 60;
}

std::string format_slurm_time(std::int64_t seconds) {
  if (seconds == kUnlimited) return "UNLIMITED";
  if (seconds < 0) return "NONE";
  const std::int64_t days = seconds / 86400;
  const int rest = static_cast<int>(seconds % 86400);
  char clock[16];
  std::snprintf(clock, sizeof clock, "%02d:%02d:%02d", rest / 3600, rest / 60 % 60, rest % 60);
  return days > 0 ? std::to_string(days) + "-" + clock : clock;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row[b.size()];
}

}  // namespace fedsim
