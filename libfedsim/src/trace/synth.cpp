// Synthetic jobs: Poisson arrivals, lognormal run times, power-of-two sizes (SynthOptions).
//
// Every number is a draw of (seed, stream, job index): changing one parameter leaves the draws of
// all others as they were. Left out: dependence of run time on size, users' habits, arrays.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/rng.hpp"
#include "fedsim/trace.hpp"
#include "trace/civil.hpp"

namespace fedsim {
namespace {

// Share of a day's arrivals by local hour: low at night, peaks before and after noon. Mean 1.
constexpr std::array<double, 24> kHourOfDay = {0.40, 0.35, 0.30, 0.30, 0.30, 0.35, 0.50, 0.75,
                                               1.10, 1.50, 1.75, 1.80, 1.55, 1.65, 1.80, 1.75,
                                               1.60, 1.40, 1.15, 1.00, 0.85, 0.75, 0.65, 0.45};

[[noreturn]] void refuse(const std::string& option, const std::string& message) {
  throw InputError({Severity::error, "C070", "", 0, option + ": " + message, ""});
}

void validate(const SynthOptions& o) {
  const double span_s = o.mean_interarrival_s * static_cast<double>(o.jobs) * 2;
  const double start_s = static_cast<double>(floor_seconds(o.start));
  if (!(start_s >= 0 && start_s + span_s + o.runtime_max_s * o.limit_over_max < kLastInstant)) {
    refuse("start, mean_interarrival_s, runtime_max_s", "times must lie in 1970 to 2199");
  }
  if (!(o.mean_interarrival_s > 0)) refuse("mean_interarrival_s", "must be above 0");
  if (!(o.runtime_median_s > 0)) refuse("runtime_median_s", "must be above 0");
  if (!(o.runtime_sigma >= 0)) refuse("runtime_sigma", "must not be negative");
  if (!(o.runtime_min_s > 0) || o.runtime_max_s < o.runtime_min_s) {
    refuse("runtime_min_s, runtime_max_s", "need 0 < min <= max");
  }
  if (!(o.limit_over_max >= 1)) refuse("limit_over_max", "must be at least 1");
  if (o.max_units < 1) refuse("max_units", "must be at least 1");
  if (!(o.size_decay > 0)) refuse("size_decay", "must be above 0");
  if (o.users < 1) refuse("users", "must be at least 1");
  if (o.gpus_per_node < 1) refuse("gpus_per_node", "must be at least 1");
  if (o.cpus_per_gpu < 1) refuse("cpus_per_gpu", "must be at least 1");
  for (const auto& [type, weight] : o.gpu_types) {
    if (!(weight > 0)) refuse("gpu_types", "weight of " + type + " must be above 0");
  }
}

class Generator {
 public:
  explicit Generator(const SynthOptions& options) : options_(options) {
    for (int size = 1; size <= options.max_units && size > 0; size *= 2) sizes_.push_back(size);
  }

  Trace generate() {
    trace_.t0 = options_.start;
    trace_.jobs.reserve(options_.jobs);
    double clock_s = 0;
    for (std::size_t i = 0; i < options_.jobs; ++i) {
      clock_s += gap(i, clock_s);
      // Whole seconds, as accounting would have them.
      trace_.jobs.push_back(job(i, options_.start + kSecond * std::llround(clock_s)));
    }
    trace_.finish();
    return std::move(trace_);
  }

 private:
  std::uint64_t bits(Stream stream, std::size_t job, std::uint64_t n = 0) const {
    return draw(options_.seed, stream, job, n);
  }

  // With a daily cycle the gap is divided by the rate of the hour in which it begins.
  double gap(std::size_t i, double clock_s) const {
    const double mean = exponential(bits(Stream::synth_arrival, i), options_.mean_interarrival_s);
    if (!options_.daily_cycle) return mean;
    const std::int64_t now = floor_seconds(options_.start) + std::llround(clock_s);
    const auto hour = static_cast<std::size_t>(((now % 86400) + 86400) % 86400 / 3600);
    return mean / kHourOfDay[hour];
  }

  // P(2^k) ~ decay^k.
  int size_of(std::size_t i) const {
    double total = 0;
    double weight = 1;
    for (std::size_t k = 0; k < sizes_.size(); ++k, weight *= options_.size_decay) total += weight;
    double left = uniform(bits(Stream::synth_size, i)) * total;
    weight = 1;
    for (const int size : sizes_) {
      if (left < weight) return size;
      left -= weight;
      weight *= options_.size_decay;
    }
    return sizes_.back();
  }

  const std::string& gpu_type(std::size_t i) const {
    double total = 0;
    for (const auto& [type, weight] : options_.gpu_types) total += weight;
    double left = uniform(bits(Stream::synth_gpu_type, i)) * total;
    for (const auto& [type, weight] : options_.gpu_types) {
      if (left < weight) return type;
      left -= weight;
    }
    return options_.gpu_types.back().first;
  }

  ResourceRequest request(std::size_t i) const {
    ResourceRequest r;
    const int size = size_of(i);
    if (options_.gpu_types.empty()) {
      r.ntasks = size;
      return r;
    }
    const int nodes = (size + options_.gpus_per_node - 1) / options_.gpus_per_node;
    const int per_node = (size + nodes - 1) / nodes;
    r.nodes_min = r.nodes_max = nodes;
    r.ntasks = nodes;
    r.cpus_per_task = per_node * options_.cpus_per_gpu;
    r.gres_per_node.push_back({"gpu", gpu_type(i), per_node});
    return r;
  }

  JobSpec job(std::size_t i, SimTime submit) {
    JobSpec spec;
    spec.submit = submit;
    const double drawn = lognormal(bits(Stream::synth_runtime, i, 0),
                                   bits(Stream::synth_runtime, i, 1),
                                   {options_.runtime_median_s, options_.runtime_sigma});
    const double clamped = std::clamp(drawn, options_.runtime_min_s, options_.runtime_max_s);
    const auto run_s = std::max<std::int64_t>(1, std::llround(clamped));
    spec.run = kSecond * run_s;
    spec.run_is_elapsed = true;
    const double over = 1 + (options_.limit_over_max - 1) * uniform(bits(Stream::synth_limit, i));
    const double limit_minutes = std::ceil(static_cast<double>(run_s) * over / 60);
    spec.limit_s = static_cast<std::int64_t>(limit_minutes) * 60;
    spec.trace_id = static_cast<std::int64_t>(i) + 1;
    spec.request = trace_.intern_request(request(i));
    const auto user = bounded(bits(Stream::synth_user, i),
                              static_cast<std::uint32_t>(options_.users));
    spec.user = trace_.strings.intern("u" + std::to_string(user + 1));
    if (!options_.clusters.empty()) {
      const auto n = static_cast<std::uint32_t>(options_.clusters.size());
      spec.origin = trace_.strings.intern(
          options_.clusters[bounded(bits(Stream::synth_origin, i), n)]);
    }
    return spec;
  }

  const SynthOptions& options_;
  std::vector<int> sizes_;
  Trace trace_;
};

}  // namespace

Trace synth(const SynthOptions& options) {
  validate(options);
  return Generator(options).generate();
}

}  // namespace fedsim
