// Reader of the Standard Workload Format of the Parallel Workloads Archive (SWF 2.2).
//
// A processor is one unit: ntasks = requested processors (field 8, else allocated, field 5).
// The run time (field 4) is the whole elapsed time. Field 12/13 become user "u12" and account "g3",
// the queue (field 15) is kept as the job name "q2": a queue is no partition of the machine.
// Left out: used memory and CPU time, think time, dependencies on preceding jobs.
#include "trace/swf.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "trace/civil.hpp"
#include "trace/readers.hpp"

namespace fedsim {
namespace swf {

namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

struct Number {
  std::int64_t whole = 0;
  std::int64_t nano = 0;
  bool ok = false;
};

// One number at `p`; moves `p` behind it. Exponents do not occur in the archive's logs.
Number scan_number(const char*& p, const char* end) {
  Number n;
  const bool negative = p < end && *p == '-';
  if (negative || (p < end && *p == '+')) ++p;
  const char* digits = p;
  std::uint64_t whole = 0;  // wraps on absurd input, which the length below refuses
  for (; p < end && is_digit(*p); ++p) whole = whole * 10 + static_cast<std::uint64_t>(*p - '0');
  if (p - digits > 18) return n;
  n.whole = static_cast<std::int64_t>(whole);
  n.ok = p > digits;
  if (p < end && *p == '.') {
    std::int64_t scale = 100'000'000;
    for (++p; p < end && is_digit(*p); ++p, scale /= 10) {
      n.nano += scale * (*p - '0');
      n.ok = true;
    }
  }
  if (p < end && !is_blank(*p)) n.ok = false;
  if (negative) {
    n.whole = -n.whole;
    n.nano = -n.nano;
  }
  return n;
}

void scan_fields(const char* p, const char* end, Line& line) {
  line.fields = 0;
  line.readable = true;
  line.submit_ns = line.run_ns = 0;
  while (true) {
    while (p < end && is_blank(*p)) ++p;
    if (p == end) break;
    const Number n = scan_number(p, end);
    if (!n.ok) {
      line.readable = false;
      break;
    }
    if (line.fields < kFields) line.value[static_cast<std::size_t>(line.fields)] = n.whole;
    if (line.fields == kSubmit) line.submit_ns = n.nano;
    if (line.fields == kRun) line.run_ns = n.nano;
    ++line.fields;
  }
  for (int i = line.fields; i < kFields; ++i) line.value[static_cast<std::size_t>(i)] = -1;
}

}  // namespace

void Scanner::comment(std::string_view line) {
  if (headers_.size() < 65536) headers_.append(line).push_back('\n');
}

bool Scanner::next(Line& line) {
  while (at_ < text_.size()) {
    std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) end = text_.size();
    const char* p = text_.data() + at_;
    const char* stop = text_.data() + end;
    at_ = end + 1;
    ++line_number_;
    while (p < stop && is_blank(*p)) ++p;
    if (p == stop) continue;
    if (*p == ';' || *p == '#') {
      comment({p, static_cast<std::size_t>(stop - p)});
      continue;
    }
    line.number = line_number_;
    scan_fields(p, stop, line);
    return true;
  }
  return false;
}

std::int64_t Scanner::header_number(std::string_view key) const {
  const std::size_t at = headers_.find(std::string(key) + ":");
  if (at == std::string::npos) return 0;
  const char* p = headers_.data() + at + key.size() + 1;
  const char* end = headers_.data() + headers_.size();
  while (p < end && is_blank(*p)) ++p;
  std::int64_t value = 0;
  for (; p < end && is_digit(*p) && value < 900'000'000'000'000'000; ++p) {
    value = value * 10 + (*p - '0');
  }
  return value;
}

}  // namespace swf

namespace {

using swf::Line;

// Unix time of the log's second 0; an absurd header counts as none.
std::int64_t start_time_of(const swf::Scanner& scanner) {
  const std::int64_t seconds = scanner.header_number("UnixStartTime");
  return seconds < kLastInstant - 3 * kLongestSeconds ? seconds : 0;
}

// One kind of oddity: how often, and where first.
struct Tally {
  std::size_t count = 0;
  int first_line = 0;
  void add(int line) {
    if (count++ == 0) first_line = line;
  }
};

enum class Fate { runs, cancelled_in_queue, no_size, never_ran, unreadable };

Fate fate_of(const Line& line) {
  if (!line.readable || line.fields < swf::kAllocated + 1) return Fate::unreadable;
  for (const swf::Field f : {swf::kSubmit, swf::kWait, swf::kRun, swf::kRequestedTime}) {
    if (line.value[f] > kLongestSeconds) return Fate::unreadable;
  }
  if (line.value[swf::kRequested] <= 0 && line.value[swf::kAllocated] <= 0) return Fate::no_size;
  const std::int64_t run = line.value[swf::kRun];
  if (line.value[swf::kStatus] == 5 && run <= 0) {
    return line.value[swf::kWait] >= 0 ? Fate::cancelled_in_queue : Fate::never_ran;
  }
  return run < 0 ? Fate::never_ran : Fate::runs;
}

// Turns lines into jobs; caches of small integers keep the per-job cost at a few instructions.
class SwfBuilder {
 public:
  SwfBuilder(Trace& trace, const Input& input, const ReadOptions& options)
      : trace_(trace), file_(input.name) {
    origin_ = trace.strings.intern(options.cluster);
  }

  void add(const Line& line, std::int64_t start_time) {
    ++trace_.report.rows;
    const Fate fate = fate_of(line);
    if (fate == Fate::unreadable) return unreadable_.add(line.number);
    if (fate == Fate::no_size) return no_size_.add(line.number);
    if (fate == Fate::never_ran) return never_ran_.add(line.number);
    if (line.value[swf::kSubmit] < 0) return missing_submit_.add(line.number);
    JobSpec job;
    const std::int64_t submit_s = start_time + line.value[swf::kSubmit];
    job.submit = from_unix_seconds(submit_s) + Duration{line.submit_ns};
    job.trace_id = line.value[swf::kJob];
    const std::int64_t procs = line.value[swf::kRequested] > 0 ? line.value[swf::kRequested]
                                                               : line.value[swf::kAllocated];
    job.request = request_of(procs);
    if (line.value[swf::kRequestedTime] > 0) job.limit_s = line.value[swf::kRequestedTime];
    job.user = name_of(users_, 'u', line.value[swf::kUser]);
    job.account = name_of(groups_, 'g', line.value[swf::kGroup]);
    job.name = name_of(queues_, 'q', line.value[swf::kQueue]);
    job.origin = origin_;
    job.run_is_elapsed = true;
    if (fate == Fate::cancelled_in_queue) {
      cancelled_.add(line.number);
      job.cancel = job.submit + kSecond * line.value[swf::kWait];
    } else {
      job.run = kSecond * line.value[swf::kRun] + Duration{line.run_ns};
      job.outcome = outcome_of(line.value[swf::kStatus]);
    }
    trace_.jobs.push_back(job);
  }

  void finish() {
    if (missing_submit_.count > 0) {
      throw InputError({Severity::error, "C052", file_, missing_submit_.first_line,
                        "no submit time (field 2, \"Submit Time\") in " +
                            std::to_string(missing_submit_.count) + " jobs",
                        "a replay needs field 2; SWF marks unknown values with -1"});
    }
    warn(unreadable_, "lines are not SWF (fewer than 5 numbers, or absurd ones): left out");
    warn(no_size_, "jobs without processors (fields 5 and 8): left out");
    warn(never_ran_, "jobs without a run time (field 4) that were not cancelled in the queue at a "
                     "known time: left out");
    warn(cancelled_, "jobs cancelled in the queue (status 5): withdrawn after their wait (field 3)",
         Severity::note);
  }

 private:
  static Outcome outcome_of(std::int64_t status) {
    if (status == 0) return Outcome::failed;
    return status == 5 ? Outcome::cancelled : Outcome::completed;
  }

  std::uint32_t request_of(std::int64_t procs) {
    const auto index = static_cast<std::size_t>(procs);
    if (index >= kCached) return make_request(procs);
    if (index >= requests_.size()) requests_.resize(index + 1, 0);
    if (requests_[index] == 0) requests_[index] = make_request(procs) + 1;
    return requests_[index] - 1;
  }

  std::uint32_t make_request(std::int64_t procs) {
    ResourceRequest request;
    request.ntasks = static_cast<int>(std::min<std::int64_t>(procs, INT32_MAX));
    return trace_.intern_request(request);
  }

  StringId name_of(std::vector<std::uint32_t>& cache, char letter, std::int64_t id) {
    if (id < 0) return StringId{0};
    const auto index = static_cast<std::size_t>(id);
    const auto make = [&] { return trace_.strings.intern(letter + std::to_string(id)); };
    if (index >= kCached) return make();
    if (index >= cache.size()) cache.resize(index + 1, 0);
    if (cache[index] == 0) cache[index] = make().index();
    return StringId{cache[index]};
  }

  void warn(const Tally& tally, const std::string& what, Severity severity = Severity::warning) {
    if (tally.count == 0) return;
    trace_.report.warnings.push_back({severity, "C053", file_, tally.first_line,
                                      std::to_string(tally.count) + " " + what, ""});
  }

  static constexpr std::size_t kCached = 1 << 16;
  Trace& trace_;
  std::string file_;
  StringId origin_{0};
  std::vector<std::uint32_t> requests_;  // index + 1 by processors
  std::vector<std::uint32_t> users_, groups_, queues_;
  Tally unreadable_, no_size_, never_ran_, cancelled_, missing_submit_;
};

}  // namespace

Trace read_swf_text(const Input& input, const ReadOptions& options) {
  Trace trace;
  trace.jobs.reserve(input.text.size() / 60);
  swf::Scanner scanner(input.text);
  SwfBuilder builder(trace, input, options);
  Line line;
  bool more = scanner.next(line);  // the header is known once the first data line is
  const std::int64_t start_time = start_time_of(scanner);
  trace.t0 = from_unix_seconds(start_time);
  for (; more; more = scanner.next(line)) builder.add(line, start_time);
  builder.finish();
  // Copying to save memory costs time; worth it only where much was reserved in vain.
  if (trace.jobs.capacity() > 2 * trace.jobs.size()) trace.jobs.shrink_to_fit();
  trace.finish();
  return trace;
}

Trace read_swf(const std::filesystem::path& path, const ReadOptions& options) {
  return read_swf_text(read_input(path), options);
}

namespace {

nlohmann::ordered_json known(std::int64_t value) {
  return value < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
}

std::string show_line(const Line& line, std::int64_t start_time, Fate fate) {
  static constexpr const char* kStates[] = {"FAILED", "COMPLETED", "PARTIAL", "PARTIAL", "PARTIAL",
                                            "CANCELLED"};
  const auto& v = line.value;
  const bool ran = fate == Fate::runs;
  nlohmann::ordered_json job;
  job["id"] = v[swf::kJob];
  const std::int64_t status = v[swf::kStatus];
  job["state"] = status >= 0 && status <= 5 ? nlohmann::ordered_json(kStates[status])
                                            : nlohmann::ordered_json();
  job["submit_epoch"] = start_time + v[swf::kSubmit];
  const bool started = ran && v[swf::kWait] >= 0;
  const std::int64_t start = start_time + v[swf::kSubmit] + v[swf::kWait];  // when started
  job["start_epoch"] = started ? nlohmann::ordered_json(start) : nlohmann::ordered_json();
  job["end_epoch"] = started ? nlohmann::ordered_json(start + v[swf::kRun])
                             : nlohmann::ordered_json();
  job["wait_s"] = started ? known(v[swf::kWait]) : nlohmann::ordered_json();
  job["elapsed_s"] = ran ? v[swf::kRun] : 0;
  job["timelimit_s"] = v[swf::kRequestedTime] > 0 ? known(v[swf::kRequestedTime])
                                                  : nlohmann::ordered_json();
  job["cpus"] = ran ? std::max<std::int64_t>(v[swf::kAllocated], 0) : 0;
  job["req_cpus"] = v[swf::kRequested] > 0 ? v[swf::kRequested]
                                           : std::max<std::int64_t>(v[swf::kAllocated], 0);
  job["gpus"] = 0;
  job["user"] = known(v[swf::kUser]);
  job["group"] = known(v[swf::kGroup]);
  job["queue"] = known(v[swf::kQueue]);
  job["partition"] = known(v[swf::kPartition]);
  job["ran"] = ran;
  return job.dump();
}

}  // namespace

std::string show_swf(const Input& input, const ReadOptions& options, const NormalisedJob& sink) {
  swf::Scanner scanner(input.text);
  Line line;
  std::size_t jobs = 0;
  std::size_t ran = 0;
  std::size_t broken = 0;
  bool more = scanner.next(line);
  const std::int64_t start_time = start_time_of(scanner);
  for (; more; more = scanner.next(line)) {
    const Fate fate = fate_of(line);
    if (fate == Fate::unreadable) {
      ++broken;
      continue;
    }
    ++jobs;
    ran += fate == Fate::runs;
    if (sink) sink(show_line(line, start_time, fate));
  }
  const Trace trace = read_swf_text(input, options);
  nlohmann::ordered_json summary;
  summary["format"] = "swf";
  summary["rows"] = trace.report.rows;
  summary["jobs"] = jobs;
  summary["steps"] = 0;
  summary["folded"] = 0;
  summary["broken"] = broken;
  summary["rejected"] = 0;
  summary["jobs_that_ran"] = ran;
  summary["replayed"] = trace.jobs.size();
  summary["unix_start_time"] = start_time;
  summary["max_procs"] = scanner.header_number("MaxProcs");
  summary["warnings"] = nlohmann::ordered_json::array();
  for (const Diagnostic& d : trace.report.warnings) {
    summary["warnings"].push_back({{"line", d.line}, {"message", d.message}});
  }
  return nlohmann::ordered_json{{"summary", summary}}.dump();
}

}  // namespace fedsim
