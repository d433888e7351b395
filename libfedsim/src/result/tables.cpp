// Builds the result tables from the compact raw rows, when asked for. Nothing here is kept.
#include <span>
#include <string>

#include "base/reason.hpp"
#include "fedsim/result.hpp"
#include "result/gpu_idx.hpp"
#include "result/job_times.hpp"

namespace fedsim {
namespace {

// Fills one row after the other, left to right; the schema says what each cell is.
class RowWriter {
 public:
  RowWriter(std::string_view name, std::size_t rows)
      : table_(std::string(name), result_schema(name)) {
    for (std::size_t i = 0; i < table_.columns_n(); ++i) table_.column(i).reserve(rows);
  }

  RowWriter& integer(std::int64_t v) { return next().push_int(v), *this; }
  RowWriter& truth(bool v) { return next().push_bool(v), *this; }
  RowWriter& time(SimTime t) { return next().push_time(t), *this; }
  RowWriter& null() { return next().push_null(), *this; }
  RowWriter& text(std::string_view v) { return next().push_text(v), *this; }
  /// "" is no value.
  RowWriter& optional_text(std::string_view v) { return v.empty() ? null() : text(v); }
  RowWriter& span(SimTime from, SimTime to) {
    return from == kNoTime || to == kNoTime ? null() : integer((to - from).count());
  }
  void end_row() {
    FEDSIM_CHECK(at_ == table_.columns_n(), "row of table " + table_.name() + " is incomplete");
    at_ = 0;
  }
  Table take() { return std::move(table_); }

 private:
  Column& next() { return table_.column(at_++); }
  Table table_;
  std::size_t at_ = 0;
};

class Reader {
 public:
  explicit Reader(const Result& result)
      : result_(result), model_(*result.scenario.model), trace_(*result.scenario.trace) {}

  const JobSpec& spec(JobId job) const { return trace_.jobs[job.index()]; }
  const JobRow& row(JobId job) const { return result_.job_rows[job.index()]; }
  std::string_view text(StringId id) const { return trace_.strings.view(id); }
  std::string_view label(JobId job) const { return text(spec(job).label); }
  const ClusterModel& cluster(ClusterId id) const { return model_.clusters[id.index()]; }
  std::string_view cluster_name(ClusterId id) const {
    return id.valid() ? std::string_view{cluster(id).name} : std::string_view{};
  }
  bool federated() const { return model_.federated; }

  std::span<const Placement> placements(const AllocationRow& a) const {
    if (a.place_offset + a.nodes_n > result_.placements.size()) return {};
    return {result_.placements.data() + a.place_offset, a.nodes_n};
  }
  std::string nodes(const AllocationRow& a) const {
    return node_list(cluster(a.cluster), placements(a));
  }
  std::string gpus(const AllocationRow& a) const {
    const ClusterModel& c = cluster(a.cluster);
    const std::uint32_t request = spec(a.job).request;
    const GpuTypesAsked asked = request < trace_.requests.size()
                                    ? gpu_types_asked(c, trace_.requests[request])
                                    : GpuTypesAsked{};
    return gpu_idx(c, placements(a), asked);
  }

  std::string_view partition(const RecordRow& r) const {
    if (r.partition.valid()) return cluster(r.cluster).partitions[r.partition.index()].spec.name;
    return text(spec(r.job).partition);
  }

  // Only one refusal names something of the request: the first cluster of -M that does not exist.
  std::string reason(JobId job, std::uint8_t code) const {
    if (code == 0) return {};
    std::string out(reason_text(code));
    constexpr std::string_view hole = "{cluster}";
    const std::size_t at = out.find(hole);
    if (at != std::string::npos) out.replace(at, hole.size(), unknown_cluster(job));
    return out;
  }

 private:
  std::string unknown_cluster(JobId job) const {
    std::string_view list = text(spec(job).clusters);
    while (!list.empty()) {
      const std::string_view name = list.substr(0, list.find(','));
      bool known = false;
      for (const ClusterModel& c : model_.clusters) known = known || c.name == name;
      if (!known) return std::string(name);
      list.remove_prefix(std::min(list.size(), name.size() + 1));
    }
    return {};
  }

  const Result& result_;
  const FederationModel& model_;
  const Trace& trace_;
};

void write_job(RowWriter& out, const Reader& in, const Result& result, const JobRecords& index,
               JobId job) {
  const JobRow& row = in.row(job);
  const JobSpec& spec = in.spec(job);
  const std::uint32_t run = index.last_run[job.index()];
  const bool ran = run != kNoRow;
  const std::uint32_t ended = index.last_ended[job.index()];
  const RecordRow none{};
  const RecordRow& r =
      ran ? result.record_rows[run] : (ended != kNoRow ? result.record_rows[ended] : none);
  const AllocationRow* a = ran ? &result.allocation_rows[r.allocation] : nullptr;
  out.integer(row.job_id);
  spec.array_task >= 0 ? out.integer(spec.array_task) : out.null();
  out.optional_text(in.label(job)).optional_text(in.text(spec.name));
  out.text(in.cluster_name(row.origin)).optional_text(in.cluster_name(row.ran));
  out.text(to_string(row.state)).time(spec.submit);
  out.time(r.eligible).time(ran ? r.start : kNoTime).time(r.end);
  ran ? out.span(r.eligible != kNoTime ? r.eligible : r.submit, r.start) : out.null();
  ran ? out.span(r.start, r.end) : out.null();
  out.integer(a != nullptr ? a->nodes_n : 0).integer(a != nullptr ? a->cpus : 0);
  out.integer(a != nullptr ? a->gpus : 0);
  spec.limit_s >= 0 ? out.integer(spec.limit_s * kSecond.count()) : out.null();
  out.integer(row.restarts).integer(row.records_n);
  out.optional_text(in.text(spec.partition)).optional_text(in.text(spec.qos));
  out.optional_text(in.text(spec.user)).optional_text(in.text(spec.account));
  out.optional_text(in.reason(job, row.reason)).integer(spec.trace_id);
  out.end_row();
}

void write_record(RowWriter& out, const Reader& in, const Result& result, const RecordRow& r) {
  const JobSpec& spec = in.spec(r.job);
  const JobRow& job = in.row(r.job);
  const bool ran = r.allocation != kNoRow;
  out.optional_text(in.label(r.job)).integer(job.job_id);
  spec.array_task >= 0 ? out.integer(spec.array_task) : out.null();
  out.optional_text(in.federated() ? in.cluster_name(job.origin) : std::string_view{});
  out.text(in.cluster_name(r.cluster)).text(to_string(r.state));
  out.time(r.submit).time(r.eligible).time(r.start).time(r.end);
  if (ran) {
    const AllocationRow& a = result.allocation_rows[r.allocation];
    out.optional_text(in.nodes(a)).optional_text(in.gpus(a));
  } else {
    out.null().null();
  }
  out.optional_text(in.partition(r)).optional_text(in.text(spec.qos));
  out.optional_text(in.text(spec.user)).optional_text(in.text(spec.account));
  out.optional_text(in.reason(r.job, r.reason)).integer(r.exit_code);
  ran ? out.integer(r.allocation) : out.null();
  out.end_row();
}

}  // namespace

std::string_view to_string(RecordState state) {
  switch (state) {
    case RecordState::pending:
      return "PENDING";
    case RecordState::running:
      return "RUNNING";
    case RecordState::completed:
      return "COMPLETED";
    case RecordState::failed:
      return "FAILED";
    case RecordState::timeout:
      return "TIMEOUT";
    case RecordState::cancelled:
      return "CANCELLED";
    case RecordState::revoked:
      return "REVOKED";
    case RecordState::requeued:
      return "REQUEUED";
    case RecordState::node_fail:
      return "NODE_FAIL";
    case RecordState::preempted:
      return "PREEMPTED";
    case RecordState::deadline:
      return "DEADLINE";
    case RecordState::out_of_memory:
      return "OUT_OF_MEMORY";
    case RecordState::rejected:
      return "REJECTED";
  }
  return "UNKNOWN";
}

std::string_view reason_text(std::uint8_t reason) {
  return reason_text(static_cast<Reason>(reason));
}

Table Result::jobs() const {
  const Reader in(*this);
  const JobRecords index = index_records(*this);
  RowWriter out("jobs", job_rows.size());
  for (std::size_t i = 0; i < job_rows.size(); ++i) write_job(out, in, *this, index, JobId{i});
  return out.take();
}

// A refused submission leaves no record at a controller; it is listed all the same, at its origin.
Table Result::records() const {
  const Reader in(*this);
  const JobRecords index = index_records(*this);
  RowWriter out("records", record_rows.size());
  for (const RecordRow& r : record_rows) write_record(out, in, *this, r);
  for (std::size_t i = 0; i < job_rows.size(); ++i) {
    if (job_rows[i].state != RecordState::rejected || index.rejected[i] != kNoRow) continue;
    RecordRow r;
    r.job = JobId{i};
    r.cluster = job_rows[i].origin;
    r.state = RecordState::rejected;
    r.reason = job_rows[i].reason;
    r.submit = in.spec(r.job).submit;
    write_record(out, in, *this, r);
  }
  return out.take();
}

Table Result::allocations() const {
  const Reader in(*this);
  RowWriter out("allocations", allocation_rows.size());
  for (std::size_t i = 0; i < allocation_rows.size(); ++i) {
    const AllocationRow& a = allocation_rows[i];
    out.integer(static_cast<std::int64_t>(i)).integer(a.record).integer(in.row(a.job).job_id);
    out.optional_text(in.label(a.job)).text(in.cluster_name(a.cluster));
    out.time(a.start).time(a.end).span(a.start, a.end);
    out.integer(a.nodes_n).optional_text(in.nodes(a)).integer(a.cpus).integer(a.memory_mib);
    out.integer(a.gpus).optional_text(in.gpus(a)).integer(a.tasks).truth(a.backfilled);
    out.end_row();
  }
  return out.take();
}

Table Result::gpus() const {
  const Reader in(*this);
  RowWriter out("gpus", placements.size());
  for (std::size_t i = 0; i < allocation_rows.size(); ++i) {
    const AllocationRow& a = allocation_rows[i];
    const ClusterModel& c = in.cluster(a.cluster);
    for (const Placement& p : in.placements(a)) {
      const NodeClass& node = c.node_class(p.node);
      for (std::uint64_t mask = p.gpu_mask; mask != 0; mask &= mask - 1) {
        const auto device = static_cast<std::size_t>(std::countr_zero(mask));
        const bool known = device < node.gpu_type_by_index.size();
        const std::size_t type = known ? node.gpu_type_by_index[device].index() : 0;
        out.integer(static_cast<std::int64_t>(i)).integer(in.row(a.job).job_id);
        out.optional_text(in.label(a.job)).text(c.name).text(c.nodes[p.node.index()].name);
        out.integer(static_cast<std::int64_t>(device)).optional_text(c.gpu_types[type]);
        out.time(a.start).time(a.end);
        out.end_row();
      }
    }
  }
  return out.take();
}

Table Result::processes() const {
  const Reader in(*this);
  RowWriter out("processes", allocation_rows.size());
  for (std::size_t i = 0; i < allocation_rows.size(); ++i) {
    const AllocationRow& a = allocation_rows[i];
    out.integer(static_cast<std::int64_t>(i)).integer(in.row(a.job).job_id);
    out.optional_text(in.label(a.job)).text(in.cluster_name(a.cluster)).integer(a.tasks);
    out.integer(a.nodes_n).integer(a.gpus).time(a.start).time(a.end);
    out.end_row();
  }
  return out.take();
}

Table Result::event_table() const {
  const Reader in(*this);
  RowWriter out("events", events.size());
  for (const StoryEvent& e : events) {
    out.time(e.at).text(to_string(e.kind)).text(in.cluster_name(e.cluster));
    if (e.job.valid()) {
      out.integer(in.row(e.job).job_id).optional_text(in.label(e.job));
    } else {
      out.null().null();
    }
    out.optional_text(in.cluster_name(e.other));
    out.end_row();
  }
  return out.take();
}

}  // namespace fedsim
