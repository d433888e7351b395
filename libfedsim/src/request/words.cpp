// Readers of numbers, sizes and instants: see words.hpp.
#include "request/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "base/text.hpp"
#include "fedsim/spec.hpp"

namespace fedsim {
namespace {

struct Leading {
  std::int64_t value = 0;
  std::size_t used = 0;  ///< 0: no number
};

Leading leading(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_space(text[at])) ++at;
  const bool plus = at < text.size() && text[at] == '+';
  if (plus) ++at;
  Leading out;
  const char* begin = text.data() + at;
  const auto read = std::from_chars(begin, text.data() + text.size(), out.value);
  if (read.ptr == begin || (plus && *begin == '-')) return {};
  if (read.ec == std::errc::result_out_of_range) {
    out.value = *begin == '-' ? INT64_MIN : INT64_MAX;
  }
  out.used = static_cast<std::size_t>(read.ptr - text.data());
  return out;
}

}  // namespace

std::optional<std::int64_t> read_decimal(std::string_view text) {
  const Leading n = leading(text);
  if (n.used == 0 || n.used != text.size()) return std::nullopt;
  return n.value;
}

std::int64_t read_leading_decimal(std::string_view text) {
  return leading(text).value;
}

std::optional<std::int64_t> read_size_mib(std::string_view text) {
  constexpr std::int64_t kMost = INT64_MAX / (1024 * 1024);
  const Leading n = leading(text);
  if (n.used == 0 || n.value < 0 || n.value > kMost) return std::nullopt;
  const std::string unit = to_lower(text.substr(n.used));
  if (unit.empty() || unit == "m" || unit == "mb") return n.value;
  if (unit == "k" || unit == "kb") return (n.value + 1023) / 1024;
  if (unit == "g" || unit == "gb") return n.value * 1024;
  if (unit == "t" || unit == "tb") return n.value * 1024 * 1024;
  return std::nullopt;
}

NodeCountWord read_node_count(std::string_view text) {
  const Leading n = leading(text);
  NodeCountWord out;
  std::string_view rest = text.substr(n.used);
  if (n.used > 0) {
    out = {n.value, true, false};
    for (const auto& [letter, factor] : {std::pair{'k', 1024}, std::pair{'m', 1024 * 1024}}) {
      if (rest.empty() || lower(rest[0]) != letter) continue;
      out.value *= factor;
      rest.remove_prefix(1);
    }
  }
  out.whole = trim(rest).empty();
  return out;
}

std::optional<std::int64_t> read_minutes(std::string_view text) {
  if (text == "-1") return kUnlimited;
  const auto seconds = parse_slurm_time(text);
  if (!seconds) return std::nullopt;
  return *seconds == kUnlimited ? kUnlimited : round_up_to_minute(*seconds) / 60;
}

// Instants ---------------------------------------------------------------------------------------

namespace {

constexpr std::int64_t kDay = 86400;

std::int64_t day_number(std::int64_t year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(year)},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  return std::chrono::sys_days{date}.time_since_epoch().count();
}

std::chrono::year_month_day date_of(std::int64_t day) {
  return std::chrono::year_month_day{std::chrono::sys_days{std::chrono::days{day}}};
}

/// Reads a text from left to right; a word that can't be read stops it with its position.
class InstantReader {
 public:
  InstantReader(std::string_view text, std::int64_t now)
      : text_(text), now_(now), today_(now / kDay) {}

  InstantWord read() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      if (!step()) return {0, static_cast<int>(at_)};
    }
    if (!time_ && !day_) return {0, static_cast<int>(at_)};
    std::int64_t day = day_.value_or(today_);
    const std::int64_t time = time_.value_or(0);
    if (!day_ && time / 60 <= now_ % kDay / 60) ++day;  // a time alone is the next such time
    if (yearless_ && day * kDay + time <= now_) {
      day = std::chrono::sys_days{date_of(day) + std::chrono::years{1}}.time_since_epoch().count();
    }
    return {day * kDay + time, static_cast<int>(at_)};
  }

 private:
  char peek(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  bool word(std::string_view name) {
    if (!istarts_with(text_.substr(at_), name)) return false;
    at_ += name.size();
    return true;
  }

  bool step() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '-' || c == 'T') {
      ++at_;
      return true;
    }
    if (word("today")) return day_ = today_, true;
    if (word("tomorrow")) return day_ = today_ + 1, true;
    if (word("midnight")) return time_ = 0, true;
    if (word("noon")) return time_ = 12 * 3600, true;
    if (word("fika")) return time_ = 15 * 3600, true;
    if (word("teatime")) return time_ = 16 * 3600, true;
    if (istarts_with(text_.substr(at_), "now")) return offset();
    if (!is_digit(c)) return false;
    if (peek(1) == ':' || peek(2) == ':') return clock();
    if (peek(4) == '-' && peek(7) == '-') return iso_date();
    return short_date();
  }

  bool offset() {
    std::size_t i = at_ + 3;
    while (i < text_.size() && is_space(text_[i])) ++i;
    std::int64_t delta = 0;
    if (i < text_.size()) {
      const char sign = text_[i];
      if (sign != '+' && sign != '-') {
        at_ = i;
        return false;
      }
      std::size_t digits = i + 1;
      while (digits < text_.size() && (is_digit(text_[digits]) || is_space(text_[digits]))) {
        if (is_digit(text_[digits])) delta = delta * 10 + (text_[digits] - '0');
        ++digits;
      }
      const std::int64_t factor = unit_at(digits);
      if (factor == 0 || digits == i + 1) {
        at_ = digits - 1;
        return false;
      }
      delta *= sign == '-' ? -factor : factor;
      i = text_.size();
    }
    day_ = (now_ + delta) / kDay;
    time_ = (now_ + delta) % kDay;
    at_ = i;
    return true;
  }

  /// Seconds of the unit that begins there; 1 at the end of the text, 0 for none.
  std::int64_t unit_at(std::size_t at) const {
    if (at >= text_.size()) return 1;
    struct Unit {
      std::string_view name;
      std::int64_t seconds;
    };
    constexpr std::array<Unit, 5> kUnits{
        {{"second", 1}, {"minute", 60}, {"hour", 3600}, {"day", kDay}, {"week", 7 * kDay}}};
    for (const Unit& u : kUnits)
      if (istarts_with(text_.substr(at), u.name)) return u.seconds;
    return 0;
  }

  std::optional<int> digits(std::size_t from, std::size_t n) const {
    int value = 0;
    for (std::size_t i = from; i < from + n; ++i) {
      if (i >= text_.size() || !is_digit(text_[i])) return std::nullopt;
      value = value * 10 + (text_[i] - '0');
    }
    return value;
  }

  bool clock() {
    const std::size_t width = peek(1) == ':' ? 1 : 2;
    const auto hour = digits(at_, width);
    if (!hour || *hour > 23) return false;
    const auto minute = digits(at_ + width + 1, 2);
    if (!minute || *minute > 59) {
      at_ += width + 1;
      return false;
    }
    at_ += width + 3;
    int second = 0;
    if (peek(0) == ':') {
      const auto read = digits(at_ + 1, 2);
      if (!read || *read > 59) return false;
      second = *read;
      at_ += 3;
    }
    int h = *hour;
    while (peek(0) == ' ') ++at_;
    if (word("pm"))
      h = h == 12 ? 12 : h + 12;
    else if (word("am"))
      h = h == 12 ? 0 : h;
    if (h > 23) return false;
    time_ = h * 3600 + *minute * 60 + second;
    return true;
  }

  bool set_day(std::int64_t year, int month, int day) {
    if (month < 1 || month > 12 || day < 1 || day > 31) return false;
    day_ = day_number(year, month, day);
    return true;
  }

  bool iso_date() {
    const auto year = digits(at_, 4);
    const auto month = digits(at_ + 5, 2);
    const bool two = digits(at_ + 8, 2).has_value();
    const auto day = digits(at_ + 8, two ? 2 : 1);
    if (!year || !month || !day || !set_day(*year, *month, *day)) return false;
    at_ += two ? 10 : 9;
    return true;
  }

  // MMDD[YY], with "/" or "." between or not.
  bool short_date() {
    const auto part = [&]() -> std::optional<int> {
      const bool two = digits(at_, 2).has_value();
      const auto n = digits(at_, two ? 2 : 1);
      if (!n) return std::nullopt;
      at_ += two ? 2 : 1;
      if (peek(0) == '/' || peek(0) == '.') ++at_;
      return n;
    };
    const std::size_t start = at_;
    const auto month = part();
    const auto day = month ? part() : std::nullopt;
    const auto year = digits(at_, 2);
    yearless_ = !year;
    const std::int64_t full = year ? 2000 + *year : int{date_of(today_).year()};
    if (!month || !day || !set_day(full, *month, *day)) {
      at_ = start;
      return false;
    }
    if (year) at_ += 2;
    return true;
  }

  std::string_view text_;
  std::int64_t now_;
  std::int64_t today_;
  std::size_t at_ = 0;
  bool yearless_ = false;
  std::optional<std::int64_t> time_;
  std::optional<std::int64_t> day_;
};

}  // namespace

InstantWord read_instant(std::string_view text, std::int64_t now_s) {
  return InstantReader(text, now_s).read();
}

}  // namespace fedsim
