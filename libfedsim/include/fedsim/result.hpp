// What a run gives: compact raw rows, tables made from them on demand, summary, files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fedsim/model.hpp"
#include "fedsim/simulation.hpp"
#include "fedsim/table.hpp"
#include "fedsim/trace.hpp"

namespace fedsim {

/// State words of accounting (sacct(1), JOB STATE CODES), and REJECTED for a refused submission.
enum class RecordState : std::uint8_t {
  pending,
  running,
  completed,
  failed,
  timeout,
  cancelled,
  revoked,
  requeued,
  node_fail,
  preempted,
  deadline,
  out_of_memory,
  rejected
};
std::string_view to_string(RecordState state);

/// One queue record and, once it ran, its execution: a row of records.csv.
struct RecordRow {
  JobId job;
  ClusterId cluster;
  RecordState state = RecordState::pending;
  std::uint8_t reason = 0;  ///< see reason_text()
  std::uint8_t exit_code = 0;
  PartitionId partition;
  SimTime submit = kNoTime;
  SimTime eligible = kNoTime;
  SimTime start = kNoTime;
  SimTime end = kNoTime;
  std::uint32_t allocation = UINT32_MAX;  ///< row of Result::allocation_rows
};

/// One allocation: a row of allocations.csv. Its nodes are nodes_n entries of Result::placements,
/// from place_offset on.
struct AllocationRow {
  JobId job;
  ClusterId cluster;
  std::uint32_t record = 0;  ///< row of Result::record_rows
  std::uint32_t nodes_n = 0;
  std::uint64_t place_offset = 0;
  std::int64_t cpus = 0;
  std::int64_t memory_mib = 0;
  std::int64_t gpus = 0;
  SimTime start = kNoTime;
  SimTime end = kNoTime;    ///< kNoTime while it runs
  std::uint32_t tasks = 1;  ///< application processes of its process group
  bool backfilled = false;
};

/// One node of an allocation. `gpu_mask` has a bit per device index.
struct Placement {
  NodeId node;
  std::uint32_t cpus = 0;
  std::uint64_t gpu_mask = 0;
  /// Equal for nodes on which the job holds the same CPU ids and memory (a hash; 0 when not known):
  /// only such neighbours share one entry of `gpu_idx`, as scontrol show -d prints them.
  std::uint64_t cpu_key = 0;
};

/// One submission: a row of jobs.csv.
struct JobRow {
  std::uint32_t job_id = 0;  ///< Slurm's printed id, federated where it is
  ClusterId origin;
  ClusterId ran;  ///< invalid when it never ran
  RecordState state = RecordState::pending;
  std::uint8_t reason = 0;
  std::uint16_t restarts = 0;
  std::uint16_t records_n = 0;
};

/// The five populations, and what a dashboard that adds up rows would show (features F01).
struct Populations {
  std::size_t jobs = 0;  ///< job ids that a controller accepted
  std::size_t rejected = 0;
  std::map<std::string, std::size_t> records;  ///< by state
  std::size_t allocations = 0;
  std::size_t distinct_gpus = 0;  ///< GPUs that some allocation held at some time
  std::size_t gpus_in_fleet = 0;
  std::size_t processes = 0;  ///< application processes, all groups
  std::size_t process_groups = 0;
  std::size_t largest_group = 0;
  /// GPUs summed over every record that ran, and every origin record revoked by a start elsewhere.
  std::int64_t naive_gpu_sum = 0;
};

struct WaitStats {
  double p50 = 0, p90 = 0, p95 = 0, mean = 0, max = 0;
};

struct Summary {
  Populations populations;
  double gpu_hours = 0;
  double cpu_hours = 0;
  double makespan_s = 0;  ///< first submission to last end
  /// GPU-time held / (fleet * makespan); CPU-time where the fleet has no GPU.
  double utilisation = 0;
  WaitStats wait_s;  ///< eligible to start, over started executions
  std::uint64_t events = 0;
  std::uint64_t main_passes = 0;
  std::uint64_t backfill_passes = 0;
  double wall_s = 0;  ///< time the run took; not part of the manifest
  std::uint64_t fingerprint = 0;
};

/// The outcome of a run. Tables are built when asked for and not kept.
struct Result {
  Scenario scenario;
  std::vector<JobRow> job_rows;        ///< by JobId
  std::vector<RecordRow> record_rows;  ///< in order of creation
  std::vector<AllocationRow> allocation_rows;
  std::vector<Placement> placements;
  std::vector<StoryEvent> events;  ///< with RunOptions::keep_events
  Summary summary;

  Table jobs() const;
  Table records() const;
  Table allocations() const;
  Table gpus() const;
  Table processes() const;
  Table event_table() const;
};

/// Slurm's word for a pending reason, or its whole text for a refusal; index is RecordRow::reason.
std::string_view reason_text(std::uint8_t reason);

/// Schema of a result table by name: "jobs", "records", "allocations", "gpus", "processes" or
/// "events". Throws std::out_of_range for another.
const std::vector<ColumnSchema>& result_schema(std::string_view table);

enum class TimeStyle { relative, iso };

/// Options of write_result().
struct WriteOptions {
  TimeStyle times = TimeStyle::iso;
  bool events = false;
  std::map<std::string, std::string> inputs;  ///< name -> path, for the manifest's hashes
  std::string command;                        ///< for the manifest
  std::vector<Diagnostic> warnings;           ///< of the readers, for the manifest
};
/// Writes the tables, summary.json, manifest.json and timeline.svg to `folder`, made when missing.
/// No file gets its name before all are complete. Throws FileError.
void write_result(const Result& result, const std::filesystem::path& folder,
                  const WriteOptions& options);

/// Writes one file whole or not at all: a temporary name beside it, then a rename. Throws
/// FileError.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// CSV of one table (RFC 4180 quoting), header first.
std::string to_csv(const Table& table, TimeStyle style, SimTime t0);
std::string summary_json(const Result& result);
std::string manifest_json(const Result& result, const WriteOptions& options);

/// The populations as they stand at one instant: job ids that were submitted and are not over,
/// records made so far by their state then, allocations that hold nodes, their GPUs and processes.
/// Linear in the rows; the run is not repeated.
Populations populations_at(const Result& result, SimTime at);

/// The story of one job in words, record by record; needs a run with RunOptions::keep_events.
std::string job_story(const Result& result, JobId job);

/// Jobs that `text` names: a label, a job name, an id of the run, or else an id of the trace.
std::vector<JobId> find_jobs(const Result& result, const std::string& text);

/// One lane per GPU, a colour per job; revoked records as hatched marks on a lane of their own,
/// never on a GPU's.
std::string timeline_svg(const Result& result);
/// The same picture as PNG bytes. Throws InputError (C130) when built without Cairo.
std::string timeline_png(const Result& result, int width = 1600);

}  // namespace fedsim
