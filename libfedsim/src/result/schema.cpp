// What each result table's columns mean: the one declaration behind files, Arrow and the
// documentation.
#include "result/schema.hpp"

#include <array>
#include <stdexcept>

#include "fedsim/result.hpp"

namespace fedsim {
namespace {

using enum ColumnType;

ColumnSchema must(const char* name, ColumnType type, const char* doc, const char* unit = "") {
  return {name, type, unit, false, doc};
}
ColumnSchema may(const char* name, ColumnType type, const char* doc, const char* unit = "") {
  return {name, type, unit, true, doc};
}

struct Described {
  std::string_view name;
  std::string_view doc;
  std::vector<ColumnSchema> columns;
};

Described jobs_table() {
  return {"jobs",
          "One row per submission, whatever became of it.",
          {must("jobid", int64, "Job id as Slurm prints it; in a federation the origin is in it"),
           may("array_task", int64, "Index of the array task"),
           may("label", text, "Name of the job in the scenario or trace"),
           may("name", text, "Job name (-J)"),
           must("origin", text, "Cluster whose controller received the job"),
           may("cluster", text, "Cluster that ran it; empty when it never ran"),
           must("state", text, "How it stands at the end, in sacct's words, or REJECTED"),
           must("submit", time, "Submission (the first, when it was requeued)"),
           may("eligible", time, "Eligible to start, last execution"),
           may("start", time, "Start of the last execution"),
           may("end", time, "End of the last execution, or of the record when it never ran"),
           may("wait", duration, "start - eligible of the last execution", "s"),
           may("elapsed", duration, "end - start of the last execution", "s"),
           must("nodes_n", int64, "Nodes of the last allocation; 0 when it never ran"),
           must("cpus", int64, "CPUs of the last allocation"),
           must("gpus", int64, "GPUs of the last allocation"),
           may("timelimit", duration, "Time limit as requested; empty: the partition's", "s"),
           must("restarts", int64, "How often it was requeued"),
           must("records_n", int64, "Queue records made for it, at its origin and siblings"),
           may("partition", text, "Partition asked for (-p)"),
           may("qos", text, "QOS asked for"),
           may("user", text, "User"),
           may("account", text, "Account"),
           may("reason", text, "Why it waits, or Slurm's text of a refusal"),
           must("trace_id", int64, "Id of the job in the trace it came from")}};
}

Described records_table() {
  return {
      "records",
      "One row per origin or sibling record, and one per execution: a requeued job's new copies "
      "are new rows. A REVOKED record never held anything. Refused submissions are REJECTED.",
      {may("label", text, "Name of the job in the scenario or trace"),
       must("jobid", int64, "Job id as Slurm prints it"),
       may("array_task", int64, "Index of the array task"),
       may("origin", text, "Cluster whose id is in the job id; empty outside a federation"),
       must("cluster", text, "Cluster whose record this is"),
       must("state", text, "sacct's word, or REJECTED"),
       may("submit", time, "Submission of this record; of a requeue, the requeue"),
       may("eligible", time, "From when it may start"), may("start", time, "Start"),
       may("end", time, "End, or when it was revoked"),
       may("nodes", text, "Nodes it held, as a compressed host list"),
       may("gpu_idx", text, "GPU indices by node, as `a1:gpu:a100[0-5]`"),
       may("partition", text, "Partition it ran in or waits in"), may("qos", text, "QOS asked for"),
       may("user", text, "User"), may("account", text, "Account"),
       may("reason", text, "Pending reason, or Slurm's text of a refusal"),
       must("exit_code", int64, "Exit code of the application"),
       may("allocation", int64, "Row of the table allocations, from 0")}};
}

Described allocations_table() {
  return {"allocations",
          "One row per allocation: resources that an execution held from start to end.",
          {must("allocation", int64, "Row number, from 0"),
           must("record", int64, "Row of the table records, from 0"),
           must("jobid", int64, "Job id as Slurm prints it"),
           may("label", text, "Name of the job in the scenario or trace"),
           must("cluster", text, "Cluster"), must("start", time, "Start"),
           may("end", time, "End; empty while it runs"),
           may("elapsed", duration, "end - start", "s"), must("nodes_n", int64, "Nodes"),
           may("nodes", text, "Compressed host list; empty when placements were not kept"),
           must("cpus", int64, "CPUs"), must("memory_mib", int64, "Memory", "MiB"),
           must("gpus", int64, "GPUs"),
           may("gpu_idx", text, "GPU indices by node, as `a1:gpu:a100[0-5]`"),
           must("tasks", int64, "Application processes of its process group"),
           must("backfilled", boolean, "Started by the backfill scheduler")}};
}

Described gpus_table() {
  return {"gpus",
          "One row per GPU held by an allocation. Empty when placements were not kept.",
          {must("allocation", int64, "Row of the table allocations, from 0"),
           must("jobid", int64, "Job id as Slurm prints it"),
           may("label", text, "Name of the job in the scenario or trace"),
           must("cluster", text, "Cluster"), must("node", text, "Node"),
           must("index", int64, "Device index on the node"),
           may("type", text, "GPU type; empty when untyped"), must("start", time, "Start"),
           may("end", time, "End; empty while it is held")}};
}

Described processes_table() {
  return {
      "processes",
      "One row per application process group. Jobs that run at the same time are separate groups: "
      "no collective operation spans two of them.",
      {must("process_group", int64, "The allocation it runs in, row of allocations from 0"),
       must("jobid", int64, "Job id as Slurm prints it"),
       may("label", text, "Name of the job in the scenario or trace"),
       must("cluster", text, "Cluster"), must("world_size", int64, "Processes in the group"),
       must("nodes_n", int64, "Nodes"), must("gpus", int64, "GPUs of the allocation"),
       must("start", time, "Start"), may("end", time, "End; empty while it runs")}};
}

Described events_table() {
  return {"events",
          "One row per event of the story (with `--events`): never needed to reproduce a result.",
          {must("at", time, "When"),
           must("kind", text, "What: submit, sibling_submit, lock, start, revoke, complete ..."),
           must("cluster", text, "Where"),
           may("jobid", int64, "Job id as Slurm prints it; empty for passes"),
           may("label", text, "Name of the job in the scenario or trace"),
           may("other", text, "The other cluster of a message or lock")}};
}

const std::array<Described, 6>& described() {
  static const std::array<Described, 6> tables{jobs_table(), records_table(),   allocations_table(),
                                               gpus_table(), processes_table(), events_table()};
  return tables;
}

const char* type_word(ColumnType type) {
  switch (type) {
    case int64:
      return "integer";
    case float64:
      return "number";
    case boolean:
      return "boolean";
    case ColumnType::text:
      return "text";
    case ColumnType::time:
      return "instant";
    case ColumnType::duration:
      return "duration";
  }
  return "";
}

}  // namespace

const std::vector<std::string_view>& result_table_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const Described& d : described()) out.push_back(d.name);
    return out;
  }();
  return names;
}

const std::vector<ColumnSchema>& result_schema(std::string_view table) {
  for (const Described& d : described()) {
    if (d.name == table) return d.columns;
  }
  throw std::out_of_range("no result table \"" + std::string(table) +
                          "\"; there are jobs, records, allocations, gpus, processes, events");
}

std::string schema_markdown() {
  std::string out =
      "# Result tables\n\n"
      "Generated from the schema in `libfedsim/src/result/schema.cpp`; a test keeps this page "
      "fresh.\n\n"
      "`fedsim run -o OUT` writes each table as `OUT/NAME.csv`; in Python they are `result.NAME`. "
      "No\n"
      "table joins another: a job, a record, an allocation, a GPU and a process are five "
      "different\n"
      "things, and each table counts one of them.\n\n"
      "In CSV an instant is seconds relative to the scenario's t0 (`--times relative`) or ISO 8601 "
      "in\n"
      "UTC, a duration is seconds, a missing value is empty. In Arrow and NumPy both are "
      "nanoseconds.\n";
  for (const Described& d : described()) {
    out += "\n## " + std::string(d.name) + "\n\n" + std::string(d.doc) + "\n\n";
    out += "| column | type | unit | may be empty | meaning |\n|---|---|---|---|---|\n";
    for (const ColumnSchema& c : d.columns) {
      out += "| `" + c.name + "` | " + type_word(c.type) + " | " + c.unit + " | " +
             (c.nullable ? "yes" : "no") + " | " + c.doc + " |\n";
    }
  }
  return out;
}

}  // namespace fedsim
