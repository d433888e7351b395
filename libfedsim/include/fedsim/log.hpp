// The one door to logging. Off until a sink is set; never used in the hot loop.
#pragma once

#include <string>
#include <string_view>

namespace fedsim {

enum class LogLevel { trace, debug, info, warning, error, off };

/// Logs at `level` and above to stderr; off is the default.
void set_log_level(LogLevel level);
LogLevel log_level();
/// Parses "debug", "info", ...; throws InputError (C041) naming the accepted words.
LogLevel parse_log_level(std::string_view word);
void log(LogLevel level, std::string_view message);

}  // namespace fedsim
