// Python arguments to fedsim values: durations, instants, option names; every error names the
// field.
#include "bindings.hpp"
// Python's header first: datetime.h needs it.
#include <datetime.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include <pybind11/stl.h>

namespace fedsim::python {
namespace {

constexpr double kMaxSeconds = 9.0e9;  // 285 years: int64 nanoseconds hold 292

/// Nanoseconds of one unit, 0 when `unit` is none.
double unit_seconds(std::string_view unit) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  static constexpr Unit kUnits[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1},
                                    {"sec", 1},   {"m", 60},    {"min", 60},  {"h", 3600},
                                    {"hr", 3600}, {"d", 86400}, {"w", 604800}};
  for (const Unit& u : kUnits) {
    if (u.name == unit) return u.seconds;
  }
  return 0;
}

/// Slurm's D-HH:MM:SS, D-HH:MM, D-HH, HH:MM:SS and MM:SS.
std::optional<double> colon_seconds(std::string_view text) {
  double days = 0;
  bool has_days = false;
  auto number = [](std::string_view t) -> std::optional<double> {
    unsigned v = 0;
    const auto [end, code] = std::from_chars(t.data(), t.data() + t.size(), v);
    if (t.empty() || code != std::errc{} || end != t.data() + t.size()) return std::nullopt;
    return v;
  };
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const std::optional<double> d = number(text.substr(0, dash));
    if (!d) return std::nullopt;
    days = *d;
    has_days = true;
    text.remove_prefix(dash + 1);
  }
  std::vector<double> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t colon = std::min(text.find(':', at), text.size());
    const std::optional<double> part = number(text.substr(at, colon - at));
    if (!part) return std::nullopt;
    parts.push_back(*part);
    at = colon + 1;
  }
  if (parts.size() > 3 || (!has_days && parts.size() < 2)) return std::nullopt;
  // After days the first number is hours; without days the last one is seconds.
  while (parts.size() < 3) parts.insert(has_days ? parts.end() : parts.begin(), 0.0);
  return days * 86400 + parts[0] * 3600 + parts[1] * 60 + parts[2];
}

/// "30s", "1.5h", "1h30m"; nullopt when it is not of this form (a bare number is not).
std::optional<double> united_seconds(std::string_view text) {
  double total = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    double v = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + digits, v);
    if (digits == 0 || code != std::errc{} || end != text.data() + digits) return std::nullopt;
    text.remove_prefix(digits);
    const std::size_t letters = std::min(text.find_first_of("0123456789. "), text.size());
    const double unit = unit_seconds(text.substr(0, letters));
    if (unit == 0) return std::nullopt;
    total += v * unit;
    text.remove_prefix(letters);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  return total;
}

std::optional<Duration> from_seconds(double s) {
  if (!std::isfinite(s) || std::abs(s) > kMaxSeconds) return std::nullopt;
  return seconds_to_duration(s);
}

Duration from_timedelta(PyObject* delta) {
  const std::int64_t s =
      std::int64_t{PyDateTime_DELTA_GET_DAYS(delta)} * 86400 + PyDateTime_DELTA_GET_SECONDS(delta);
  return Duration{s * 1'000'000'000 +
                  std::int64_t{PyDateTime_DELTA_GET_MICROSECONDS(delta)} * 1000};
}

void need_datetime() {
  if (PyDateTimeAPI == nullptr) PyDateTime_IMPORT;
  if (PyDateTimeAPI == nullptr) throw py::error_already_set();
}

}  // namespace

std::string did_you_mean(const std::string& word, const std::vector<std::string>& words) {
  const py::list close =
      py::module_::import("difflib").attr("get_close_matches")(word, py::cast(words), 1, 0.6);
  return close.empty() ? "" : "; did you mean '" + close[0].cast<std::string>() + "'?";
}

void check_options(const std::string& callee, const py::dict& given,
                   const std::vector<std::string>& allowed) {
  for (const auto& [key, value] : given) {
    const std::string name = key.cast<std::string>();
    if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
    throw py::type_error(callee + "() got an unexpected option '" + name + "'" +
                         did_you_mean(name, allowed));
  }
}

void bad_value(const std::string& field, const py::handle& got, const std::string& accepted) {
  throw InputError(
      Diagnostic{Severity::error, "", "", 0,
                 field + ": " + py::repr(got).cast<std::string>() + " is not " + accepted, ""});
}

Duration to_duration(const py::handle& value, const std::string& field) {
  constexpr const char* kAccepted =
      "a length of time: '90s', '30m', '2h', '1d', '1-12:00:00', a datetime.timedelta, "
      "or a number of seconds";
  need_datetime();
  std::optional<Duration> out;
  if (PyDelta_Check(value.ptr())) {
    if (std::abs(value.attr("total_seconds")().cast<double>()) < kMaxSeconds) {
      out = from_timedelta(value.ptr());
    }
  } else if (py::isinstance<py::str>(value)) {
    std::string text = value.cast<std::string>();
    const bool minus = !text.empty() && text.front() == '-';
    if (minus) text.erase(0, 1);
    std::optional<double> s = united_seconds(text);
    if (!s) s = colon_seconds(text);
    if (s) out = from_seconds(minus ? -*s : *s);
  } else if (!PyBool_Check(value.ptr()) && PyNumber_Check(value.ptr())) {
    out = from_seconds(py::float_(py::reinterpret_borrow<py::object>(value)));
  }
  if (!out) bad_value(field, value, kAccepted);
  return *out;
}

SimTime to_instant(const py::handle& value, SimTime t0, const std::string& field) {
  need_datetime();
  if (!PyDateTime_Check(value.ptr())) return t0 + to_duration(value, field);
  if (value.attr("tzinfo").is_none()) {
    bad_value(field, value, "an instant: a datetime needs tzinfo, e.g. datetime.timezone.utc");
  }
  const py::object epoch = py::module_::import("datetime")
                               .attr("datetime")
                               .attr("fromtimestamp")(0, value.attr("tzinfo"));
  const py::object since = py::reinterpret_borrow<py::object>(value) - epoch;
  return SimTime{from_timedelta(since.ptr())};
}

py::object seconds_since(SimTime t, SimTime t0) {
  if (t == kNoTime || t == kEndOfTime) return py::none();
  return py::float_(to_seconds(t - t0));
}

py::object to_datetime(SimTime t) {
  if (t == kNoTime) return py::none();
  need_datetime();
  const std::int64_t s = floor_seconds(t);
  const std::int64_t ns = t.time_since_epoch().count() - s * 1'000'000'000;
  const py::module_ module = py::module_::import("datetime");
  const py::object base =
      module.attr("datetime").attr("fromtimestamp")(s, module.attr("timezone").attr("utc"));
  return base + module.attr("timedelta")(0, 0, ns / 1000);
}

py::object parse_json(const std::string& text) {
  return py::module_::import("json").attr("loads")(text);
}

std::string hex(std::uint64_t v) {
  char out[17];
  std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(v));
  return out;
}

}  // namespace fedsim::python
