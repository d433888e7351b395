// Normalised rows and jobs of Slurm accounting, whichever way they were dumped.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fedsim/trace.hpp"
#include "trace/civil.hpp"
#include "trace/sacct_table.hpp"
#include "trace/tres.hpp"

namespace fedsim::sacct {

/// An instant and what the clock of the dump showed.
struct Instant {
  std::int64_t epoch = 0;
  std::int64_t local = 0;
};

enum class LimitKind { unknown, partition, unlimited, seconds };

/// One accounting record: one job on one cluster, one execution of it.
struct Record {
  int line = 0;
  std::int64_t id = 0;
  std::int64_t array_job = 0;             ///< 0 when not of an array
  std::int64_t array_task = -1;
  std::vector<std::int64_t> tasks;        ///< tasks of a bracket row ("123_[1-10%5]")
  bool is_bracket = false;
  std::optional<std::int64_t> throttle;
  std::int64_t het_job = 0;
  std::int64_t het_offset = -1;
  std::string cluster, partition, qos, account, user, name, submit_line;
  std::string state;                      ///< base word
  std::vector<std::string> flags;         ///< further states (JSON)
  std::optional<std::int64_t> cancelled_by;
  std::optional<Instant> submit, eligible, start, end;
  std::optional<double> elapsed_s, suspended_s, cpu_used_s, cpu_alloc_s;
  LimitKind limit = LimitKind::unknown;
  double limit_s = 0;
  std::optional<std::int64_t> cpus, req_cpus, nnodes, req_nodes, priority;
  std::optional<MemoryRequest> mem;
  Tres req, alloc;
  bool has_req = false;                   ///< the dump says what was requested (ReqTRES)
  std::vector<std::string> nodes;
  bool never_placed = false;              ///< NodeList says "None assigned"
  int exit_code = 0;
  bool ran = false;                       ///< occupied resources at some time

  bool finished() const;
  std::int64_t fed_cluster() const { return id >> kLocalJobIdBits; }
  bool looks_exclusive() const;
  std::optional<double> mem_total_mib() const;
};

/// One job: its records folded. The last execution stands for it.
struct Job {
  Record last;
  std::vector<double> run_seconds;        ///< of every execution, in order
  std::vector<std::string> siblings;      ///< clusters whose copies were revoked
  std::optional<Instant> first_submit;
  bool revoked_only = false;              ///< ran on a cluster that the dump does not cover
};

struct Dump {
  std::vector<Job> jobs;
  std::size_t rows = 0, steps = 0, folded = 0, broken = 0, messages = 0;
  std::vector<Diagnostic> warnings;
};

/// Records of a text dump; steps are counted, not returned.
std::vector<Record> parse_records(const Table& table, const Input& input,
                                  const ReadOptions& options, Dump& dump);

/// Folds sibling, requeue and repeated records into jobs, in order of first appearance.
void fold_records(std::vector<Record> records, Dump& dump);

Dump read_dump(const Input& input, const ReadOptions& options);
Dump read_json_dump(const Input& input, const ReadOptions& options);

/// Jobs of a dump as a trace to replay.
Trace to_trace(const Dump& dump, const std::string& file, const ReadOptions& options);
std::string show_dump(const Dump& dump, const std::string& file, const ReadOptions& options,
                      const NormalisedJob& sink);

/// Fills `ran` and clamps impossible times, with warnings that name the line.
void settle_record(Record& record, bool has_start, bool has_place, const std::string& file,
                   std::vector<Diagnostic>& warnings);

/// Parses JobID forms: 123, 123_4, 123_[1-10:2%5], 123+1, with a step suffix. False: not an id.
bool parse_job_id(std::string_view text, Record& record, bool& is_step);

}  // namespace fedsim::sacct
