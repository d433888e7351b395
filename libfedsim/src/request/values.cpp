// Values of sbatch options (declared in options.hpp).
#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "request/options.hpp"

namespace fedsim {
namespace {

std::optional<std::int64_t> parse_gres_count(std::string_view text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;  // no sign
  return parse_count(text);
}

// Lengths that simulated time surely holds; Slurm's own limit is of the same order.
constexpr std::int64_t kLongestSeconds = 1'000'000'000;

bool is_name(std::string_view text) {
  if (text.empty()) return false;
  return text.find_first_of(":,=() \t") == std::string_view::npos;
}

}  // namespace

std::optional<std::int64_t> parse_digits_only(std::string_view text) {
  if (text.empty() || text.size() > 10) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::optional<std::int64_t> parse_time_limit(std::string_view text) {
  const auto seconds = parse_slurm_time(text);
  if (seconds && *seconds == 0) return kUnlimited;  // sbatch(1): zero asks for no limit
  if (!seconds || *seconds > kLongestSeconds) return std::nullopt;
  return round_up_to_minute(*seconds);
}

std::optional<NodeRange> parse_node_range(std::string_view text) {
  const auto parts = split(text, '-');
  const auto low = parse_digits_only(parts[0]);
  const auto high = parse_digits_only(parts.back());
  if (!low || !high || parts.size() > 2) return std::nullopt;
  if (*low > *high || *high > std::numeric_limits<int>::max()) return std::nullopt;
  return NodeRange{static_cast<int>(*low), static_cast<int>(*high)};
}

std::optional<std::vector<GresRequest>> parse_gres_list(std::string_view text) {
  std::vector<GresRequest> list;
  if (iequals(text, "none")) return list;
  for (std::string entry : split(text, ',')) {
    if (entry.starts_with("gres/") || entry.starts_with("gres:")) entry.erase(0, 5);
    const auto parts = split(entry, ':');
    if (parts.size() > 3 || !is_name(parts[0])) return std::nullopt;
    GresRequest gres{parts[0], "", 1};
    if (parts.size() == 3) gres.type = parts[1];
    if (parts.size() >= 2) {
      const auto count = parse_gres_count(parts.back());
      if (count) {
        gres.count = *count;
      } else if (parts.size() == 2 && is_name(parts[1])) {
        gres.type = parts[1];  // gpu:a100 is one of that type
      } else {
        return std::nullopt;
      }
    }
    if (gres.count > 0) list.push_back(std::move(gres));
  }
  return list;
}

std::optional<std::vector<GresRequest>> parse_gpu_list(std::string_view text) {
  std::vector<GresRequest> list;
  for (const std::string& entry : split(text, ',')) {
    const auto parts = split(entry, ':');
    const auto count = parse_gres_count(parts.back());
    if (parts.size() == 1 && !count && is_name(entry) && !is_digit(entry.front())) {
      list.push_back({"gpu", entry, 1});  // a type alone is one of it
      continue;
    }
    if (parts.size() > 2 || !count) return std::nullopt;
    if (parts.size() == 2 && !is_name(parts[0])) return std::nullopt;
    if (*count == 0) continue;
    list.push_back({"gpu", parts.size() == 2 ? parts[0] : "", *count});
  }
  return list;
}

std::optional<Duration> parse_begin_offset(std::string_view text) {
  std::string word = to_lower(text);
  if (!word.starts_with("now")) return std::nullopt;
  word.erase(0, 3);
  if (word.empty()) return Duration{0};
  if (word[0] != '+') return std::nullopt;
  word.erase(0, 1);
  const std::size_t digits = word.find_first_not_of("0123456789");
  const auto n = parse_digits_only(std::string_view(word).substr(0, digits));
  if (!n) return std::nullopt;
  const std::string unit = digits == std::string::npos ? "" : word.substr(digits);
  struct Unit {
    std::string_view name;
    std::int64_t seconds;
  };
  constexpr Unit kUnits[] = {
      {"seconds", 1}, {"minutes", 60}, {"hours", 3600}, {"days", 86400}, {"weeks", 604800}};
  for (const Unit& u : kUnits) {  // "" is seconds
    if (!u.name.starts_with(unit)) continue;
    const std::int64_t seconds = *n * u.seconds;
    if (seconds > kLongestSeconds) return std::nullopt;
    return kSecond * seconds;
  }
  return std::nullopt;
}

std::optional<ArraySpec> parse_array(std::string_view text) {
  constexpr std::int64_t kMostTasks = 1'000'000;
  ArraySpec out;
  const std::size_t percent = text.find('%');
  if (percent != std::string_view::npos) {
    const auto limit = parse_digits_only(text.substr(percent + 1));
    if (!limit || *limit < 1 || *limit > kMostTasks) return std::nullopt;
    out.limit = static_cast<std::uint32_t>(*limit);
  }
  for (const std::string& piece : split(text.substr(0, percent), ',')) {
    const std::size_t colon = piece.find(':');
    const std::string range = piece.substr(0, colon);
    const std::size_t dash = range.find('-');
    const auto low = parse_digits_only(range.substr(0, dash));
    const auto high = dash == std::string::npos ? low : parse_digits_only(range.substr(dash + 1));
    const auto step = colon == std::string::npos ? std::optional<std::int64_t>{1}
                                                 : parse_digits_only(piece.substr(colon + 1));
    if (!low || !high || !step || *high < *low || *step < 1) return std::nullopt;
    const auto have = static_cast<std::int64_t>(out.tasks.size());
    if (*high > INT32_MAX || have + (*high - *low) / *step >= kMostTasks) return std::nullopt;
    for (std::int64_t task = *low; task <= *high; task += *step)
      out.tasks.push_back(static_cast<std::int32_t>(task));
  }
  std::sort(out.tasks.begin(), out.tasks.end());
  out.tasks.erase(std::unique(out.tasks.begin(), out.tasks.end()), out.tasks.end());
  return out;
}

}  // namespace fedsim
