// Fault processes: see faults.hpp.
#include "trace/faults.hpp"

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "base/text.hpp"

namespace fedsim {
namespace {

constexpr Duration kAfterLast = kSecond * 86400;
constexpr std::int64_t kMostFaults = 1'000'000;  ///< of one process; more is a slip of a unit

InputError bad_fault(std::string_view text, const std::string& what) {
  return InputError(
      Diagnostic{Severity::error, "C069", "", 0, "fault \"" + std::string(text) + "\": " + what,
                 "write controller:NAME,mtbf=6h,mttr=10m, link:NAME/OTHER,mtbf=1h,mttr=1m or "
                 "slurmdbd,mtbf=1d,mttr=5m; * is every cluster"});
}

/// A number of seconds, or one with ms, s, m, h or d behind it.
std::optional<Duration> parse_length(std::string_view text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  constexpr Unit kUnits[] = {{"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  double factor = 1;
  for (const Unit& u : kUnits) {
    if (!text.ends_with(u.name)) continue;
    factor = u.seconds;
    text.remove_suffix(u.name.size());
    break;
  }
  const auto n = parse_double(text);
  constexpr double kLongest = 1e9;
  if (!n || !(*n > 0) || *n * factor > kLongest) return std::nullopt;
  return seconds_to_duration(*n * factor);
}

/// Exponential with that mean; at least a millisecond.
Duration drawn_length(Duration mean, std::uint64_t bits) {
  const double t = -std::log1p(-uniform(bits)) * static_cast<double>(mean.count());
  return std::max(Duration{static_cast<std::int64_t>(t)}, Duration{1'000'000});
}

OperationKind end_of(OperationKind down) {
  return static_cast<OperationKind>(static_cast<int>(down) + 1);
}

class FaultWriter {
 public:
  FaultWriter(Trace& trace, const FederationModel& model, const RunOptions& options)
      : trace_(trace), model_(model), options_(options) {
    const SimTime first =
        trace.relative_times || trace.jobs.empty() ? trace.t0 : trace.jobs.front().submit;
    const SimTime last = trace.jobs.empty() ? first : trace.jobs.back().submit;
    from_ = first;
    until_ = std::min(last + kAfterLast, options.horizon);
  }

  void write() {
    for (const FaultProcess& f : options_.faults) {
      if (f.down == OperationKind::database_down) {
        one(f, "", "");
        continue;
      }
      for (const std::string& a : clusters(f, f.cluster)) {
        if (f.down == OperationKind::controller_down) {
          one(f, a, "");
          continue;
        }
        for (const std::string& b : clusters(f, f.other)) {
          const bool twice = f.cluster == "*" && f.other == "*" && !(a < b);
          if (a != b && !twice) one(f, a, b);
        }
      }
    }
    trace_.finish();
  }

 private:
  std::vector<std::string> clusters(const FaultProcess& f, const std::string& name) const {
    std::vector<std::string> out;
    for (const ClusterModel& c : model_.clusters)
      if (name == "*" || c.name == name) out.push_back(c.name);
    if (out.empty()) throw bad_fault(to_string(f), "no cluster is called " + name);
    return out;
  }

  void one(const FaultProcess& f, const std::string& a, const std::string& b) {
    const std::uint64_t entity = process_++;
    if ((until_ - from_) / (f.mean_up + f.mean_down) > kMostFaults)
      throw bad_fault(to_string(f), "it would fail more than a million times in this trace");
    SimTime at = from_;
    for (std::uint64_t n = 0;; n += 2) {
      at += drawn_length(f.mean_up, draw(options_.seed, Stream::fault, entity, n));
      if (at >= until_) return;
      add(at, f.down, a, b);
      at += drawn_length(f.mean_down, draw(options_.seed, Stream::fault, entity, n + 1));
      add(at, end_of(f.down), a, b);
    }
  }

  void add(SimTime at, OperationKind kind, const std::string& a, const std::string& b) {
    Operation op;
    op.at = at;
    op.kind = kind;
    op.cluster = trace_.strings.intern(a);
    op.sibling = trace_.strings.intern(b);
    trace_.operations.push_back(op);
  }

  Trace& trace_;
  const FederationModel& model_;
  const RunOptions& options_;
  SimTime from_{};
  SimTime until_{};
  std::uint64_t process_ = 0;
};

}  // namespace

FaultProcess parse_fault(std::string_view text) {
  const std::vector<std::string> words = split(text, ',');
  FaultProcess out;
  const std::size_t colon = words[0].find(':');
  const std::string kind = to_lower(words[0].substr(0, colon));
  const std::string who = colon == std::string::npos ? "" : words[0].substr(colon + 1);
  if (kind == "slurmdbd" && colon == std::string::npos) {
    out.down = OperationKind::database_down;
  } else if (kind == "controller" && !who.empty()) {
    out.down = OperationKind::controller_down;
    out.cluster = who;
  } else if (kind == "link" && who.find('/') != std::string::npos) {
    out.down = OperationKind::link_down;
    out.cluster = who.substr(0, who.find('/'));
    out.other = who.substr(who.find('/') + 1);
    if (out.cluster.empty() || out.other.empty()) throw bad_fault(text, "a link has two ends");
  } else {
    throw bad_fault(text, "it names no controller, link or slurmdbd");
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string key = to_lower(words[i].substr(0, equals));
    const auto length =
        equals == std::string::npos ? std::nullopt : parse_length(words[i].substr(equals + 1));
    if (!length) throw bad_fault(text, "can't read \"" + words[i] + "\"");
    if (key == "mtbf")
      out.mean_up = *length;
    else if (key == "mttr")
      out.mean_down = *length;
    else
      throw bad_fault(text, "unknown key \"" + key + "\"");
  }
  if (out.mean_up <= Duration{} || out.mean_down <= Duration{})
    throw bad_fault(text, "mtbf and mttr are needed");
  return out;
}

std::string to_string(const FaultProcess& f) {
  std::string out = "slurmdbd";
  if (f.down == OperationKind::controller_down) out = "controller:" + f.cluster;
  if (f.down == OperationKind::link_down) out = "link:" + f.cluster + "/" + f.other;
  const auto seconds = [](Duration d) {
    std::string text = std::to_string(to_seconds(d));
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text + "s";
  };
  return out + ",mtbf=" + seconds(f.mean_up) + ",mttr=" + seconds(f.mean_down);
}

std::shared_ptr<const Trace> with_faults(std::shared_ptr<const Trace> trace,
                                         const FederationModel& model, const RunOptions& options) {
  if (options.faults.empty()) return trace;
  auto out = std::make_shared<Trace>(*trace);
  FaultWriter(*out, model, options).write();
  return out;
}

}  // namespace fedsim
