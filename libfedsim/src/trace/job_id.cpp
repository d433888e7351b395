// Job ids as sacct prints them: plain, array task, array bracket, heterogeneous component, step.
#include <charconv>

#include "base/text.hpp"
#include "trace/sacct.hpp"

namespace fedsim::sacct {
namespace {

constexpr std::int64_t kMaxTask = 4'000'001;  // highest MaxArraySize that Slurm takes

// Digits at the front of `text`, taken off. False when there are none.
bool take_number(std::string_view& text, std::int64_t& value) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (text.empty() || !is_digit(text[0])) return false;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - begin));
  return true;
}

// "1-10,12,20-40:2%5" between the brackets. "..." ends a list that Slurm cut.
bool parse_tasks(std::string_view text, Record& record) {
  if (const std::size_t percent = text.find('%'); percent != std::string_view::npos) {
    record.throttle = parse_int(text.substr(percent + 1));
    if (!record.throttle) return false;
    text = text.substr(0, percent);
  }
  for (const std::string& part : split_list(text)) {
    if (part == "...") continue;
    std::string_view rest = part;
    std::int64_t low = 0;
    std::int64_t step = 1;
    if (!take_number(rest, low)) return false;
    std::int64_t high = low;
    if (rest.starts_with('-')) {
      rest.remove_prefix(1);
      if (!take_number(rest, high)) return false;
    }
    if (rest.starts_with(':')) {
      rest.remove_prefix(1);
      if (!take_number(rest, step)) return false;
    }
    if (!rest.empty() || high < low || high > kMaxTask || step < 1) return false;
    if (record.tasks.size() > static_cast<std::size_t>(kMaxTask)) return false;
    for (std::int64_t task = low; task <= high; task += step) record.tasks.push_back(task);
  }
  return !record.tasks.empty();
}

}  // namespace

bool parse_job_id(std::string_view text, Record& record, bool& is_step) {
  is_step = false;
  std::int64_t number = 0;
  if (!take_number(text, number) || number > UINT32_MAX) return false;
  record.id = number;
  if (text.starts_with("_[")) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return false;
    record.array_job = number;
    record.is_bracket = true;
    if (!parse_tasks(text.substr(2, close - 2), record)) return false;
    text.remove_prefix(close + 1);
  } else if (text.starts_with('_')) {
    text.remove_prefix(1);
    record.array_job = number;
    if (!take_number(text, record.array_task)) return false;
  } else if (text.starts_with('+')) {
    text.remove_prefix(1);
    record.het_job = number;
    if (!take_number(text, record.het_offset)) return false;
    record.id = number + record.het_offset;
  }
  is_step = text.starts_with('.');
  return text.empty() || is_step;
}

}  // namespace fedsim::sacct
