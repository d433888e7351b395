// --set KEY=VALUE. Keys are slurm.conf's, checked against the table of known parameters; a key of
// SchedulerParameters changes that one entry and leaves the others.
#include "settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "fedsim/slurm_conf.hpp"
#include "inputs.hpp"

namespace fedsim::apps {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

Diagnostic finding(const std::string& setting, std::string message, std::string hint) {
  return {Severity::error, "C135", "", 0, "--set " + setting + ": " + std::move(message),
          std::move(hint)};
}

const ParameterInfo* find_key(const std::string& scope, const std::string& key) {
  for (const ParameterInfo& p : parameter_table()) {
    if (p.file == "slurm.conf" && p.scope == scope && lower(p.key) == lower(key)) return &p;
  }
  return nullptr;
}

// "bf_interval=30,bf_continue" with one entry replaced; an empty value or "yes" sets a plain flag.
std::string with_entry(const std::string& list, const std::string& key, const std::string& value) {
  std::string out;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    const std::string entry = list.substr(at, comma - at);
    if (!entry.empty() && lower(entry.substr(0, entry.find('='))) != lower(key)) {
      out += (out.empty() ? "" : ",") + entry;
    }
    at = comma + 1;
  }
  if (value == "no") return out;
  out += (out.empty() ? "" : ",") + key;
  return value.empty() || value == "yes" ? out : out + "=" + value;
}

std::optional<SlurmRelease> parse_release(const std::string& text) {
  SlurmRelease out;
  const char* end = text.data() + text.size();
  const auto year = std::from_chars(text.data(), end, out.year);
  if (year.ec != std::errc{} || year.ptr == end || *year.ptr != '.') return std::nullopt;
  const auto month = std::from_chars(year.ptr + 1, end, out.month);
  if (month.ec != std::errc{} || (month.ptr != end && *month.ptr != '.')) return std::nullopt;
  return out;
}

struct LatencyKey {
  const char* name;
  Duration LatencySpec::*field;
};
constexpr std::array<LatencyKey, 5> kLatencies{{{"sibling_message", &LatencySpec::sibling_message},
                                                {"lock_round_trip", &LatencySpec::lock_round_trip},
                                                {"client_command", &LatencySpec::client_command},
                                                {"launch", &LatencySpec::launch},
                                                {"epilog", &LatencySpec::epilog}}};

struct Setting {
  std::string whole;
  std::string key;
  std::string value;
};

std::optional<Diagnostic> set_latency(FederationSpec& spec, const Setting& s) {
  for (const LatencyKey& k : kLatencies) {
    if (k.name != s.key) continue;
    spec.latency.*k.field = parse_duration(s.value, "--set " + s.whole);
    return std::nullopt;
  }
  return finding(s.whole, "no such latency",
                 "they are sibling_message, lock_round_trip, client_command, launch and epilog");
}

std::optional<Diagnostic> set_option(ClusterSpec& cluster, const Setting& s) {
  if (lower(s.key) == "release") {
    const auto release = parse_release(s.value);
    if (!release) return finding(s.whole, "not a Slurm release", "write it as 22.05 or 24.11");
    cluster.release = *release;
    return std::nullopt;
  }
  if (const ParameterInfo* p = find_key("", s.key); p != nullptr) {
    if (p->coverage == Coverage::ignored) {
      return finding(s.whole, p->key + " has no effect in this simulator",
                     "fedsim params lists the keys that have one");
    }
    cluster.options[p->key] = s.value;
    return std::nullopt;
  }
  if (const ParameterInfo* p = find_key("SchedulerParameters", s.key); p != nullptr) {
    std::string& list = cluster.options["SchedulerParameters"];
    list = with_entry(list, p->key, s.value);
    return std::nullopt;
  }
  return finding(s.whole, "no such key in slurm.conf or SchedulerParameters",
                 "fedsim params lists the keys that are known");
}

std::optional<Diagnostic> apply(FederationSpec& spec, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    return finding(text, "no value", "write KEY=VALUE");
  }
  Setting s{text, text.substr(0, equals), text.substr(equals + 1)};
  const std::size_t dot = s.key.find('.');
  const std::string scope = dot == std::string::npos ? "" : s.key.substr(0, dot);
  if (dot != std::string::npos) s.key.erase(0, dot + 1);
  if (scope == "latency") return set_latency(spec, s);
  std::optional<Diagnostic> wrong;
  bool found = scope.empty();
  for (ClusterSpec& cluster : spec.clusters) {
    if (!scope.empty() && cluster.name != scope) continue;
    found = true;
    if (auto d = set_option(cluster, s); d) wrong = std::move(d);
  }
  if (!found) {
    std::string names;
    for (const ClusterSpec& c : spec.clusters) names += (names.empty() ? "" : ", ") + c.name;
    return finding(text, "no cluster \"" + scope + "\"", "clusters are " + names);
  }
  return wrong;
}

}  // namespace

Duration parse_duration(const std::string& text, const std::string& option) {
  const auto wrong = [&]() -> InputError {
    return InputError({Severity::error, "C134", "", 0, option + ": \"" + text + "\" is no duration",
                       "write a number of seconds, 80ms, 5s, 2m, 3h, 1d or [D-]HH:MM:SS"});
  };
  const char* end = text.data() + text.size();
  if (text.find(':') != std::string::npos) {
    std::int64_t days = 0;
    std::int64_t total = 0;
    const char* at = text.data();
    if (text.find('-') != std::string::npos) {
      const auto day = std::from_chars(at, end, days);
      if (day.ec != std::errc{} || day.ptr == end || *day.ptr != '-') throw wrong();
      at = day.ptr + 1;
    }
    for (;;) {
      std::int64_t part = 0;
      const auto number = std::from_chars(at, end, part);
      if (number.ec != std::errc{} || part < 0 || part > 1'000'000) throw wrong();
      total = total * 60 + part;
      if (number.ptr == end) break;
      if (*number.ptr != ':') throw wrong();
      at = number.ptr + 1;
    }
    if (days < 0 || days > 100'000 || total > 1'000'000'000) throw wrong();
    return Duration{(days * 86400 + total) * kSecond.count()};
  }
  double value = 0;
  const auto number = std::from_chars(text.data(), end, value);
  const std::string unit(number.ptr, end);
  constexpr std::array<std::pair<std::string_view, double>, 7> kUnits{
      {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
  for (const auto& [name, seconds] : kUnits) {
    if (number.ec != std::errc{} || unit != name) continue;
    if (!(value >= 0) || value * seconds > 8e9) break;
    return seconds_to_duration(value * seconds);
  }
  throw wrong();
}

void apply_settings(FederationSpec& spec, const std::vector<std::string>& settings) {
  std::vector<Diagnostic> wrong;
  for (const std::string& text : settings) {
    try {
      if (auto d = apply(spec, text); d) wrong.push_back(std::move(*d));
    } catch (const InputError& e) {
      wrong.insert(wrong.end(), e.diagnostics().begin(), e.diagnostics().end());
    }
  }
  if (!wrong.empty()) throw InputError(std::move(wrong));
}

}  // namespace fedsim::apps
