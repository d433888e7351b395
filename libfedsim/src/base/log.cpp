// Logging behind include/fedsim/log.hpp: spdlog on stderr, nothing at all until a level is set.
#include "fedsim/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "fedsim/error.hpp"

namespace fedsim {

namespace {

constexpr std::array<std::pair<std::string_view, LogLevel>, 6> kWords{{
    {"trace", LogLevel::trace},
    {"debug", LogLevel::debug},
    {"info", LogLevel::info},
    {"warning", LogLevel::warning},
    {"error", LogLevel::error},
    {"off", LogLevel::off},
}};

std::atomic<LogLevel> g_level{LogLevel::off};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

/// Made at the first line that is really written; never registered, so that other users of spdlog
/// in the process keep their own loggers.
spdlog::logger& logger() {
  static const std::unique_ptr<spdlog::logger> made = [] {
    auto fresh = std::make_unique<spdlog::logger>(
        "fedsim", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    fresh->set_pattern("%n %l: %v");
    fresh->set_level(spdlog::level::trace);  // filtered by g_level
    return fresh;
  }();
  return *made;
}

}  // namespace

void set_log_level(LogLevel level) {
  g_level.store(level, std::memory_order_relaxed);
}

LogLevel log_level() {
  return g_level.load(std::memory_order_relaxed);
}

LogLevel parse_log_level(std::string_view word) {
  std::string accepted;
  for (const auto& [name, level] : kWords) {
    if (iequals(word, name)) return level;
    accepted += (accepted.empty() ? "" : ", ") + std::string(name);
  }
  throw InputError({Severity::error, "C041", "", 0, "\"" + std::string(word) + "\" is no log level",
                    "one of " + accepted});
}

void log(LogLevel level, std::string_view message) {
  if (level == LogLevel::off || level < log_level()) return;
  logger().log(to_spdlog(level), "{}", message);
}

}  // namespace fedsim
