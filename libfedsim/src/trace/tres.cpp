// Values of sacct fields: see tres.hpp.
#include "trace/tres.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace fedsim {
namespace {

// Flag bit of old accounting: memory per CPU stored in the top bit of a 32-bit number.
constexpr double kMemPerCpuBit = 2147483648.0;

// More of anything is a damaged field; sums of such counts stay far from overflow.
constexpr double kMostCount = 1e15;

std::optional<std::int64_t> tres_count(std::string_view text) {
  const auto count = parse_count(text);
  if (!count || static_cast<double>(*count) > kMostCount) return std::nullopt;
  return count;
}

void add_gpu(Tres& tres, std::string_view key, std::int64_t count,
             std::optional<std::int64_t>& total) {
  const std::string_view type = key.substr(8);  // behind "gres/gpu"
  if (type.empty()) {
    total = count;
  } else if (type[0] == ':' && count > 0) {
    tres.gpu_types[std::string(type.substr(1))] += count;
  }
}

}  // namespace

std::optional<double> parse_memory_decimal(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double factor = 1;
  const char unit = lower(text.back());
  if (!is_digit(unit)) {
    text.remove_suffix(1);
    switch (unit) {
      case 'k': factor = 1.0 / 1024; break;
      case 'm': factor = 1; break;
      case 'g': factor = 1024; break;
      case 't': factor = 1024.0 * 1024; break;
      case 'p': factor = 1024.0 * 1024 * 1024; break;
      default: return std::nullopt;
    }
  }
  const auto value = parse_double(text);
  if (!value || !(*value >= 0) || *value * factor > kMostCount) return std::nullopt;
  return *value * factor;
}

Tres parse_tres(std::string_view text) {
  Tres tres;
  tres.given = !trim(text).empty();
  std::optional<std::int64_t> total;
  std::int64_t typed = 0;
  for (const std::string& entry : split_list(text)) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) {
      tres.readable = false;
      continue;
    }
    const std::string_view key = std::string_view(entry).substr(0, equals);
    const std::string_view value = std::string_view(entry).substr(equals + 1);
    const auto count = tres_count(value);
    if (key == "cpu") tres.cpu = count;
    else if (key == "node") tres.node = count;
    else if (key == "billing") tres.billing = count;
    else if (key == "energy") tres.energy = count;
    else if (key == "mem") tres.mem_mib = parse_memory_decimal(value);
    else if (key.starts_with("gres/gpu") && count) add_gpu(tres, key, *count, total);
    if (key == "mem" ? !tres.mem_mib : (!count && !key.starts_with("fs/"))) tres.readable = false;
  }
  for (const auto& [type, count] : tres.gpu_types) typed += count;
  tres.gpus = std::max(total.value_or(0), typed);
  if (tres.gpus > typed) tres.gpu_types[""] = tres.gpus - typed;
  return tres;
}

std::optional<MemoryRequest> parse_req_mem(std::string_view text) {
  MemoryRequest request;
  const bool scoped = !text.empty() && (text.back() == 'c' || text.back() == 'n');
  if (scoped) {
    request.per = text.back() == 'c' ? MemoryPer::cpu : MemoryPer::node;
    text.remove_suffix(1);
  }
  const auto mib = parse_memory_decimal(text);
  if (!mib) return std::nullopt;
  request.mib = *mib;
  if (request.mib >= kMemPerCpuBit && request.mib < 2 * kMemPerCpuBit) {
    request.mib -= kMemPerCpuBit;
    request.per = MemoryPer::cpu;
  }
  request.whole = scoped && request.mib == 0;
  return request;
}

std::optional<double> parse_elapsed(std::string_view text, double most) {
  text = trim(text);
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  double days = 0;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto d = parse_int(text.substr(0, dash));
    if (!d) return std::nullopt;
    days = static_cast<double>(*d);
    text.remove_prefix(dash + 1);
  }
  double seconds = 0;
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() > 3) return std::nullopt;
  for (const std::string& part : parts) {
    const auto value = parse_double(part);
    if (!value || *value < 0) return std::nullopt;
    seconds = seconds * 60 + *value;
  }
  seconds += days * 86400;
  if (!(seconds <= most)) return std::nullopt;
  return negative ? -seconds : seconds;
}

bool is_known_state(std::string_view word) {
  static constexpr std::string_view kStates[] = {
      "BOOT_FAIL",    "CANCELLED",     "COMPLETED",   "COMPLETING",    "CONFIGURING",
      "DEADLINE",     "FAILED",        "LAUNCH_FAILED", "NODE_FAIL",   "OUT_OF_MEMORY",
      "PENDING",      "POWER_UP_NODE", "PREEMPTED",   "RECONFIG_FAIL", "REQUEUED",
      "REQUEUE_FED",  "REQUEUE_HOLD",  "RESIZING",    "RESV_DEL_HOLD", "REVOKED",
      "RUNNING",      "SIGNALING",     "SPECIAL_EXIT", "STAGE_OUT",    "STOPPED",
      "SUSPENDED",    "TIMEOUT",       "UPDATE_DB"};
  return std::find(std::begin(kStates), std::end(kStates), word) != std::end(kStates);
}

}  // namespace fedsim
