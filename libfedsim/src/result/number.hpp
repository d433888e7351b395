// Numbers and instants as text, the same on every machine and under every locale.
#pragma once

#include <cstdint>
#include <string>

#include "fedsim/time.hpp"

namespace fedsim {

void append_integer(std::string& out, std::int64_t v);
/// Shortest text that reads back as `v`.
void append_number(std::string& out, double v);
/// Nanoseconds as exact decimal seconds without trailing zeros: "5", "5.266", "-0.5".
void append_seconds(std::string& out, std::int64_t ns);
/// "2026-01-01T00:00:05.266Z"; no fraction when it is zero.
void append_iso(std::string& out, SimTime t);
/// Slurm's form of a length, whole seconds: "0:05", "1:02:03", "2-00:00:00".
std::string clock_text(std::int64_t seconds);
/// 16 hexadecimal digits.
std::string hex64(std::uint64_t v);

}  // namespace fedsim
