// What is submitted and done to it: jobs, their requests and timed operations. Immutable during a
// run.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fedsim/error.hpp"
#include "fedsim/ids.hpp"
#include "fedsim/operation.hpp"
#include "fedsim/request.hpp"
#include "fedsim/spec.hpp"
#include "fedsim/time.hpp"

namespace fedsim {

/// Interned texts: equal text, equal id. Id 0 is "". Ids are in order of first use.
class StringTable {
 public:
  StringTable();
  StringTable(const StringTable& other);
  StringTable& operator=(const StringTable& other);
  StringTable(StringTable&&) noexcept = default;
  StringTable& operator=(StringTable&&) noexcept = default;

  StringId intern(std::string_view text);
  /// The id of `text`, or an invalid id when it was never interned.
  StringId find(std::string_view text) const;
  std::string_view view(StringId id) const { return texts_[id.index()]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> index_;
};

/// How the application ends when nobody interferes.
enum class Outcome : std::uint8_t {
  completed,
  failed,
  cancelled,
  node_fail,
  out_of_memory,
  timeout  ///< a trace's job that ran into its limit, after its recorded length
};

/// One job as it was submitted. Texts are ids of Trace::strings, the request an index of
/// Trace::requests.
struct JobSpec {
  SimTime submit{};         ///< the submission reaches the origin
  SimTime begin = kNoTime;  ///< --begin, or Eligible of a trace when later than submit
  Duration run{};  ///< how long the script runs; the whole elapsed time with run_is_elapsed
  SimTime cancel =
      kNoTime;  ///< withdrawn by its user at this instant (traces: cancelled in the queue)
  std::int64_t limit_s = kUnset;  ///< -t in seconds; kUnset: the partition's default; kUnlimited
  std::int64_t trace_id = 0;      ///< id in the trace, for reports
  std::uint32_t request = 0;      ///< index of Trace::requests
  StringId label{0};              ///< name by which operations and results refer to the job
  StringId name{0};               ///< job name
  StringId origin{0};             ///< cluster whose controller received it; "" is the first cluster
  StringId user{0};
  StringId account{0};
  StringId partition{0};  ///< -p, a comma list; "" is the default partition
  StringId qos{0};
  StringId clusters{0};            ///< -M, a comma list
  StringId cluster_constraint{0};  ///< --cluster-constraint
  StringId dependency{0};          ///< -d, with jobs written {LABEL}
  std::uint32_t array_job = 0;     ///< the same for all tasks of an array, 0 for other jobs
  std::int32_t array_task = -1;
  std::uint32_t array_limit = 0;  ///< tasks that may run at a time (--array=0-9%2), 0: all
  std::uint32_t het_job = 0;      ///< the same for all components of a heterogeneous job, 0: none
  std::int32_t nice = 0;
  Outcome outcome = Outcome::completed;
  std::uint8_t exit_code = 0;
  bool run_is_elapsed = false;  ///< `run` includes launch and clean-up, as accounting saw it
  /// `run` is a difference of whole seconds of a recording: the end lies anywhere in its second.
  bool run_in_seconds = false;
  bool held = false;    ///< -H
  bool requeue = true;  ///< may be requeued (--requeue, JobRequeue=1)
};

/// One pass of a controller at a recorded instant (contract section 5, "driven").
struct DrivenPass {
  enum class Kind : std::uint8_t { main, full, backfill };
  SimTime at{};
  StringId cluster{0};
  Kind kind = Kind::main;
};

/// What reading a trace met: counted, so that no row is lost in silence.
struct TraceReport {
  std::size_t rows = 0;      ///< data rows read
  std::size_t steps = 0;     ///< step rows (never jobs)
  std::size_t folded = 0;    ///< sibling and requeue rows folded into their job
  std::size_t rejected = 0;  ///< submissions that Slurm refused, as recorded in the trace
  std::vector<Diagnostic> warnings;
};

/// Jobs in order of submission (ties keep input order), operations in order of time.
struct Trace {
  StringTable strings;
  std::vector<ResourceRequest> requests;
  std::vector<JobSpec> jobs;
  std::vector<Operation> operations;
  SimTime t0{};                 ///< instant that "relative" times count from
  bool relative_times = false;  ///< results are written relative to t0 by default
  TraceReport report;

  /// Index of `request` in `requests`, added when new.
  std::uint32_t intern_request(const ResourceRequest& request);
  /// Adds `job`, or one job for each array task.
  void add(JobSpec job, const std::vector<std::int32_t>& array_tasks);
  /// Sorts jobs by submit time and operations by time, both stable. Readers call it last.
  void finish();

 private:
  std::unordered_multimap<std::size_t, std::uint32_t> request_index_;
};

/// Options shared by the readers.
struct ReadOptions {
  std::string format;     ///< "sacct", "swf", ...; "" guesses
  std::string delimiter;  ///< sacct: "" finds it from the header
  std::string columns;    ///< sacct without header: the column names
  std::string zone;       ///< "+01:00", "UTC" or an IANA name; times without offset are in it
  std::string cluster;    ///< origin of every job when the trace names none
};

/// One normalised job of a trace, with all that `fedsim trace show` prints, as a JSON object's
/// text. Called once per job in order.
using NormalisedJob = std::function<void(const std::string& json)>;

/// Reads a trace file (.gz and .xz are unpacked; "-" is stdin). Throws FileError or InputError.
Trace read_trace(const std::filesystem::path& path, const ReadOptions& options = {});
Trace read_sacct(const std::filesystem::path& path, const ReadOptions& options = {});
Trace read_swf(const std::filesystem::path& path, const ReadOptions& options = {});

/// Calls `sink` for each normalised job; returns the summary line as JSON text (contract section
/// 7).
std::string show_trace(const std::filesystem::path& path, const ReadOptions& options,
                       const NormalisedJob& sink);

/// Jobs of several traces on one time line, in order of submission.
Trace merge(const std::vector<Trace>& traces);

/// Parameters of the synthetic generator (`fedsim trace synth`). Same values and seed, same trace.
struct SynthOptions {
  std::size_t jobs = 1000;
  std::uint64_t seed = 0;
  double mean_interarrival_s = 60;
  bool daily_cycle = false;        ///< arrival rate follows the hour of the day
  double runtime_median_s = 1200;  ///< lognormal
  double runtime_sigma = 1.5;
  double runtime_min_s = 30;
  double runtime_max_s = 86400;
  double limit_over_max = 5;  ///< limit = run time * U(1, this), rounded up to a minute
  int max_units = 64;         ///< sizes are powers of two up to this
  double size_decay = 0.75;   ///< P(2^k) ~ decay^k
  int users = 16;
  std::vector<std::string> clusters;  ///< origins, drawn evenly
  std::vector<std::pair<std::string, double>>
      gpu_types;          ///< type and weight; empty: units are CPUs
  int gpus_per_node = 8;  ///< larger jobs ask for several nodes
  int cpus_per_gpu = 4;
  SimTime start = from_unix_seconds(1'767'225'600);  ///< 2026-01-01
};
Trace synth(const SynthOptions& options);

/// Parses sbatch options (argv after "sbatch") into `job` and its request. Findings are sbatch's
/// own texts, all of them, and options that are not modelled.
struct ParsedRequest {
  JobSpec job;
  ResourceRequest request;
  std::vector<std::int32_t> array_tasks;  ///< of --array, ascending; empty for other jobs
  std::vector<Diagnostic> diagnostics;
};
ParsedRequest parse_sbatch(const std::vector<std::string>& argv, StringTable& strings);
/// The options of sbatch that state `request`: what parse_sbatch() reads as the same request.
std::vector<std::string> sbatch_options(const ResourceRequest& request);

}  // namespace fedsim
