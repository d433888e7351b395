// One row of a sacct dump to one normalised record (sacct(1), job accounting fields).
#include <algorithm>
#include <cmath>

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "trace/sacct.hpp"

namespace fedsim::sacct {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool no_value(std::string_view text) {
  return text.empty() || is_one_of(text, {"Unknown", "None", "N/A", "NONE", "UNKNOWN", "(null)"});
}

// GPUs of "gpu:2", "gpu:a100:2(S:0-1)" per node (ReqGRES, AllocGRES of old releases).
Tres gres_per_node(std::string_view text, std::int64_t nodes) {
  Tres tres;
  std::string flat;
  int depth = 0;
  for (const char c : text) {
    depth += c == '(';
    if (depth == 0) flat += c;
    depth -= c == ')';
  }
  for (const std::string& entry : split_list(flat)) {
    const std::vector<std::string> parts = split(entry, ':');
    if (parts[0] != "gpu" && parts[0] != "gres/gpu") continue;
    const auto count = parts.size() > 1 ? parse_int(parts.back()) : std::nullopt;
    if (count && (*count < 0 || *count > 1'000'000)) continue;
    const std::int64_t n = count.value_or(1) * std::clamp<std::int64_t>(nodes, 1, 1'000'000);
    const std::size_t typed = count ? 3 : 2;
    tres.gpus += n;
    tres.gpu_types[parts.size() >= typed ? parts[1] : ""] += n;
    tres.given = true;
  }
  return tres;
}

class RecordParser {
 public:
  RecordParser(const Table& table, const Input& input, const ReadOptions& options, Dump& dump)
      : table_(table), file_(input.name), dump_(dump) {
    if (!options.zone.empty()) zone_ = Zone::parse(options.zone);
    named_zone_ = !options.zone.empty();
  }

  std::vector<Record> parse() {
    std::vector<Record> records;
    records.reserve(table_.rows.size());
    for (const Row& row : table_.rows) {
      row_ = &row;
      Record record;
      record.line = row.line;
      bool is_step = false;
      if (!parse_ids(record, is_step)) continue;
      if (is_step) {
        ++dump_.steps;
        continue;
      }
      fill(record);
      records.push_back(std::move(record));
    }
    if (with_offset_ > 0 && without_offset_ > 0 && !named_zone_) {
      dump_.warnings.push_back({Severity::warning, "C058", file_, without_offset_,
                                "times with and without an offset are mixed: those without were "
                                "read as UTC",
                                "name the cluster's zone with --zone"});
    }
    return records;
  }

 private:
  std::string_view get(Column column) const { return table_.get(*row_, column); }

  void warn(std::string message, std::string hint = "") {
    dump_.warnings.push_back({Severity::warning, "C058", file_, row_->line, std::move(message),
                              std::move(hint)});
  }

  bool parse_ids(Record& record, bool& is_step) {
    const std::string_view shown = get(kJobId);
    const std::string_view raw = get(kJobIdRaw);
    const std::string_view first = shown.empty() ? raw : shown;
    if (!parse_job_id(first, record, is_step)) {
      ++dump_.broken;
      warn("can't read job id \"" + std::string(first.substr(0, 60)) + "\": row left out");
      return false;
    }
    Record from_raw;
    bool raw_step = false;
    if (!raw.empty() && parse_job_id(raw, from_raw, raw_step)) record.id = from_raw.id;
    return true;
  }

  void fill(Record& record) {
    record.cluster = get(kCluster);
    record.partition = get(kPartition);
    record.qos = get(kQos);
    record.account = get(kAccount);
    record.user = get(kUser);
    record.name = get(kJobName);
    record.submit_line = get(kSubmitLine);
    fill_state(record);
    fill_durations(record);
    fill_times(record);
    fill_limit(record);
    fill_sizes(record);
    fill_nodes(record);
    const bool has_place = table_.has(kNodeList) || table_.has(kAllocTres);
    settle_record(record, table_.has(kStart), has_place, file_, dump_.warnings);
  }

  void fill_state(Record& record) {
    const std::string_view state = get(kState);
    const std::size_t blank = state.find(' ');
    record.state = state.substr(0, blank);
    if (record.state.ends_with('+')) {
      throw InputError({Severity::error, "C055", file_, row_->line,
                        "state \"" + record.state + "\" is cut: fixed-width output of sacct",
                        "dump again with sacct -P (--parsable2)"});
    }
    if (!record.state.empty() && !is_known_state(record.state)) {
      warn("unknown state " + record.state);
    }
    if (state.find(" by ") != std::string_view::npos) {
      record.cancelled_by = parse_int(state.substr(state.rfind(' ') + 1));
    }
    const std::string_view exit = get(kExitCode);
    if (const auto code = parse_int(exit.substr(0, exit.find(':')))) {
      record.exit_code = static_cast<int>(*code);
    }
    record.priority = parse_int(get(kPriority));
  }

  std::optional<double> seconds(Column column, double most = kLongestSeconds) {
    const std::string_view text = get(column);
    if (no_value(text) || text == "INVALID") return std::nullopt;
    const auto value = parse_elapsed(text, most);
    if (!value) warn("can't read a length of time: \"" + std::string(text.substr(0, 40)) + "\"");
    return value;
  }

  void fill_durations(Record& record) {
    record.elapsed_s = seconds(kElapsedRaw);
    if (!record.elapsed_s) record.elapsed_s = seconds(kElapsed);
    record.suspended_s = seconds(kSuspended);
    record.cpu_used_s = seconds(kTotalCpu, 1e18);
    record.cpu_alloc_s = seconds(kCpuTimeRaw, 1e18);
  }

  // Every reading of a written time: one, or two in the hour after a clock was set back.
  std::vector<Instant> readings(Column column) {
    const std::string_view text = trim(get(column));
    if (no_value(text)) return {};
    const auto written = parse_written_time(text);
    if (!written) {
      warn("can't read time \"" + std::string(text.substr(0, 40)) + "\"");
      return {};
    }
    if (written->offset_s) {
      // Unix time has no clock: show the zone's, or UTC.
      const bool unix_time = text.size() <= 11;
      ++with_offset_;
      const std::int64_t epoch = written->seconds - *written->offset_s;
      const int shown = unix_time ? (zone_ ? zone_->offset_at(epoch) : 0) : *written->offset_s;
      if (epoch == 0) return {};  // 1970: never
      return {{epoch, epoch + shown}};
    }
    if (without_offset_ == 0) without_offset_ = row_->line;
    if (!zone_) return {{written->seconds, written->seconds}};
    std::vector<Instant> all;
    for (const std::int64_t epoch : zone_->instants(written->seconds)) {
      all.push_back({epoch, written->seconds});
    }
    return all;
  }

  // The last reading that is not after `limit`, else the first.
  static std::optional<Instant> latest_until(const std::vector<Instant>& all,
                                             const std::optional<Instant>& limit) {
    if (all.empty()) return std::nullopt;
    Instant best = all.front();
    for (const Instant& i : all) {
      if (limit && i.epoch <= limit->epoch) best = i;
    }
    return best;
  }

  void fill_times(Record& record) {
    const std::vector<Instant> starts = readings(kStart);
    const std::vector<Instant> ends = readings(kEnd);
    double best = INFINITY;
    for (const Instant& start : starts) {
      for (const Instant& end : ends) {
        const double length = static_cast<double>(end.epoch - start.epoch);
        const double wanted = record.elapsed_s.value_or(0) + record.suspended_s.value_or(0);
        // Without a known length the shortest non-negative one.
        const double miss = record.elapsed_s ? std::abs(length - wanted)
                                             : (length < 0 ? 1e9 - length : length);
        if (miss >= best) continue;
        best = miss;
        record.start = start;
        record.end = end;
      }
    }
    if (!record.start && !starts.empty()) record.start = starts.front();
    if (!record.end && !ends.empty()) record.end = ends.front();
    record.eligible = latest_until(readings(kEligible), record.start);
    record.submit = latest_until(readings(kSubmit),
                                 record.eligible ? record.eligible : record.start);
  }

  void fill_limit(Record& record) {
    // Timelimit is finer than TimelimitRaw, which is in whole minutes.
    const bool raw = get(kTimelimit).empty();
    const std::string_view text = trim(raw ? get(kTimelimitRaw) : get(kTimelimit));
    if (no_value(text)) return;
    if (iequals(text, "UNLIMITED") || iequals(text, "INFINITE")) {
      record.limit = LimitKind::unlimited;
    } else if (iequals(text, "Partition_Limit")) {
      record.limit = LimitKind::partition;
    } else if (const auto value = parse_elapsed(text, kLongestSeconds);
               value && *value >= 0) {
      record.limit = LimitKind::seconds;
      record.limit_s = std::min(raw ? *value * 60 : *value, 1.0 * kLongestSeconds);
    } else {
      warn("can't read time limit \"" + std::string(text.substr(0, 40)) + "\"");
    }
  }

  std::optional<std::int64_t> count(Column column) {
    const std::string_view text = trim(get(column));
    if (no_value(text)) return std::nullopt;
    const auto value = parse_count(text);
    if (!value) warn("can't read a count: \"" + std::string(text.substr(0, 40)) + "\"");
    return value;
  }

  Tres tres(Column column) {
    Tres value = parse_tres(get(column));
    if (!value.readable) warn("can't read TRES \"" + std::string(get(column).substr(0, 80)) + "\"");
    return value;
  }

  void fill_sizes(Record& record) {
    record.alloc = tres(kAllocTres);
    record.req = tres(kReqTres);
    record.cpus = count(kNCpus);
    if (!record.cpus) record.cpus = count(kAllocCpus);
    if (!record.cpus) record.cpus = record.alloc.cpu;
    record.req_cpus = count(kReqCpus);
    if (!record.req_cpus) record.req_cpus = record.req.cpu;
    record.nnodes = count(kNNodes);
    if (!record.nnodes) record.nnodes = count(kAllocNodes);
    record.req_nodes = count(kReqNodes);
    if (!record.req_nodes) record.req_nodes = record.req.node;
    record.has_req = record.req.given;
    if (!record.alloc.given && table_.has(kAllocGres)) {
      record.alloc = gres_per_node(get(kAllocGres), record.nnodes.value_or(1));
    }
    if (!record.req.given && table_.has(kReqGres)) {
      record.req = gres_per_node(get(kReqGres), record.nnodes.value_or(1));
      record.has_req = true;
    }
    const std::string_view mem = trim(get(kReqMem));
    if (!no_value(mem)) {
      record.mem = parse_req_mem(mem);
      if (!record.mem) warn("can't read ReqMem \"" + std::string(mem.substr(0, 40)) + "\"");
    }
  }

  void fill_nodes(Record& record) {
    const std::string_view text = trim(get(kNodeList));
    record.never_placed = istarts_with(text, "None assigned");
    if (no_value(text) || record.never_placed) return;
    std::string problem;
    auto nodes = try_expand_hostlist(text, problem);
    if (nodes) {
      record.nodes = std::move(*nodes);
    } else {
      warn("can't read node list: " + problem);
    }
  }

  const Table& table_;
  std::string file_;
  Dump& dump_;
  std::optional<Zone> zone_;
  bool named_zone_ = false;
  const Row* row_ = nullptr;
  int with_offset_ = 0;
  int without_offset_ = 0;  // first line with such a time
};

}  // namespace

bool Record::finished() const {
  return !is_one_of(state, {"PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING",
                            "RESIZING", "STOPPED", "SIGNALING", "STAGE_OUT", "REQUEUE_HOLD"});
}

bool Record::looks_exclusive() const {
  if (!ran || !req.given || !alloc.given) return false;
  if (alloc.gpus > req.gpus) return true;
  // Rounding to whole cores at most doubles the CPUs; whole nodes also bring their memory.
  const bool more_cpus = alloc.cpu && req.cpu && *alloc.cpu > 2 * *req.cpu;
  return more_cpus && alloc.mem_mib && req.mem_mib && *alloc.mem_mib > 2 * *req.mem_mib;
}

std::optional<double> Record::mem_total_mib() const {
  if (alloc.mem_mib) return alloc.mem_mib;
  if (!mem || mem->whole) return std::nullopt;
  if (mem->per == MemoryPer::cpu && cpus) return mem->mib * static_cast<double>(*cpus);
  if (mem->per == MemoryPer::node && nnodes) return mem->mib * static_cast<double>(*nnodes);
  return std::nullopt;
}

void settle_record(Record& r, bool has_start, bool has_place, const std::string& file,
                   std::vector<Diagnostic>& warnings) {
  const auto warn = [&](std::string message) {
    warnings.push_back({Severity::warning, "C058", file, r.line, std::move(message), ""});
  };
  const double elapsed = r.elapsed_s.value_or(0);
  // Slurm 14 and 15 fill AllocTRES of jobs that never got nodes.
  const bool placed = !r.never_placed && (!r.nodes.empty() || r.alloc.given);
  if (r.state == "PENDING" || r.state == "REVOKED") {
    r.ran = r.start.has_value() && elapsed > 0;
  } else if (has_start && !r.start) {
    r.ran = false;
  } else {
    const bool by_state = !is_one_of(r.state, {"CANCELLED", "DEADLINE"});
    r.ran = elapsed > 0 || (has_place ? placed : by_state);
  }
  if (r.start && r.end && r.end->epoch < r.start->epoch) {
    warn("End before Start by " + std::to_string(r.start->epoch - r.end->epoch) +
         " s: length taken as " + std::to_string(std::max<std::int64_t>(0, std::llround(elapsed))) +
         " s");
  }
  if (r.elapsed_s && *r.elapsed_s < 0) r.elapsed_s = 0;
  if (r.start && r.submit && r.ran && r.start->epoch < r.submit->epoch) {
    warn("Start before Submit by " + std::to_string(r.submit->epoch - r.start->epoch) + " s");
  }
  if (!r.elapsed_s && r.ran && r.start && r.end) {
    const double length = static_cast<double>(r.end->epoch - r.start->epoch);
    r.elapsed_s = std::max(0.0, length - r.suspended_s.value_or(0));
  }
}

std::vector<Record> parse_records(const Table& table, const Input& input,
                                  const ReadOptions& options, Dump& dump) {
  return RecordParser(table, input, options, dump).parse();
}

}  // namespace fedsim::sacct
