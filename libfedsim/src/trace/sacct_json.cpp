// `sacct --json` of Slurm 21.08 to 26.05: plain numbers or {set,infinite,number}, state.current as
// a word or a list, TRES as lists of {type,name,count}.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hostlist.hpp"
#include "trace/readers.hpp"
#include "trace/sacct.hpp"

namespace fedsim {
namespace sacct {
namespace {

using nlohmann::json;

// A number that is given: plain, or {set, infinite, number}. Infinite is not a number.
std::optional<std::int64_t> number(const json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return static_cast<std::int64_t>(value.get<double>());
  if (!value.is_object() || !value.value("set", false)) return std::nullopt;
  if (value.value("infinite", false)) return std::nullopt;
  const auto n = value.find("number");
  return n != value.end() && n->is_number() ? std::optional(n->get<std::int64_t>()) : std::nullopt;
}

bool is_infinite(const json& value) {
  return value.is_object() && value.value("infinite", false);
}

const json& at(const json& object, const char* key) {
  static const json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

std::string text(const json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<Instant> instant(const json& value) {
  const auto epoch = number(value);
  if (!epoch || *epoch <= 0 || *epoch >= kLastInstant) return std::nullopt;
  return Instant{*epoch, *epoch};
}

std::optional<double> length(const json& value) {
  const auto seconds = number(value);
  if (!seconds || *seconds > kLongestSeconds) return std::nullopt;
  return static_cast<double>(*seconds);
}

// The list in sacct's text form, so that one function knows the rules.
Tres tres(const json& list) {
  std::string line;
  if (list.is_string()) line = list.get<std::string>();
  if (list.is_array()) {
    for (const json& entry : list) {
      const auto count = number(at(entry, "count"));
      if (!count) continue;
      const std::string name = text(at(entry, "name"));
      if (!line.empty()) line += ',';
      line += text(at(entry, "type")) + (name.empty() ? "" : "/" + name) + '=';
      line += std::to_string(*count);
    }
  }
  return parse_tres(line);
}

void read_state(const json& job, Record& record) {
  const json& state = at(job, "state");
  const json& current = state.is_object() ? at(state, "current") : state;
  if (current.is_string()) record.state = current.get<std::string>();
  if (!current.is_array()) return;
  for (const json& word : current) {
    if (record.state.empty()) record.state = text(word);
    else record.flags.push_back(text(word));
  }
}

bool read_ids(const json& job, Record& record) {
  const auto id = number(at(job, "job_id"));
  if (!id || *id < 0 || *id > UINT32_MAX) return false;
  record.id = *id;
  const json& array = at(job, "array");
  const auto task = number(at(array, "task_id"));
  const std::int64_t array_job = number(at(array, "job_id")).value_or(0);
  if (array_job > 0 && task) {
    record.array_job = array_job;
    record.array_task = *task;
  } else if (array_job > 0 && !text(at(array, "task")).empty()) {
    Record bracket;
    bool is_step = false;
    const std::string form = std::to_string(array_job) + "_[" + text(at(array, "task")) + "]";
    if (parse_job_id(form, bracket, is_step)) {
      record.array_job = array_job;
      record.is_bracket = true;
      record.tasks = bracket.tasks;
      record.throttle = bracket.throttle;
    }
  }
  const json& het = at(job, "het");
  const std::int64_t het_job = number(at(het, "job_id")).value_or(0);
  const auto offset = number(at(het, "job_offset"));
  if (het_job > 0 && offset) {
    record.het_job = het_job;
    record.het_offset = *offset;
  }
  return true;
}

void read_times(const json& job, Record& record) {
  const json& time = at(job, "time");
  record.submit = instant(at(time, "submission"));
  record.eligible = instant(at(time, "eligible"));
  record.start = instant(at(time, "start"));
  record.end = instant(at(time, "end"));
  record.elapsed_s = length(at(time, "elapsed"));
  record.suspended_s = length(at(time, "suspended"));
  const json& total = at(time, "total");
  if (total.is_object()) {
    record.cpu_used_s = static_cast<double>(number(at(total, "seconds")).value_or(0)) +
                        static_cast<double>(number(at(total, "microseconds")).value_or(0)) / 1e6;
  }
  const json& limit = at(time, "limit");
  if (is_infinite(limit)) {
    record.limit = LimitKind::unlimited;
  } else if (const auto minutes = number(limit)) {
    record.limit = LimitKind::seconds;
    record.limit_s = std::min(static_cast<double>(*minutes) * 60, 1.0 * kLongestSeconds);
  }
}

void read_sizes(const json& job, Record& record) {
  record.alloc = tres(at(at(job, "tres"), "allocated"));
  record.req = tres(at(at(job, "tres"), "requested"));
  record.has_req = record.req.given;
  record.cpus = record.alloc.cpu;
  const json& required = at(job, "required");
  record.req_cpus = number(at(required, "CPUs"));
  if (!record.req_cpus) record.req_cpus = record.req.cpu;
  record.nnodes = number(at(job, "allocation_nodes"));
  record.req_nodes = record.req.node;
  const auto per_cpu = number(at(required, "memory_per_cpu"));
  const auto per_node = number(at(required, "memory_per_node"));
  if (per_cpu && *per_cpu > 0) {
    record.mem = MemoryRequest{static_cast<double>(*per_cpu), MemoryPer::cpu, false};
  } else if (per_node && *per_node > 0) {
    record.mem = MemoryRequest{static_cast<double>(*per_node), MemoryPer::node, false};
  }
}

class JsonReader {
 public:
  explicit JsonReader(const Input& input) : file_(input.name) {
    try {
      root_ = json::parse(input.text);
    } catch (const json::parse_error& e) {
      throw InputError({Severity::error, "C060", file_, 0, "not JSON: " + std::string(e.what()),
                        "is the dump complete?"});
    }
    if (!at(root_, "jobs").is_array()) {
      throw InputError({Severity::error, "C060", file_, 0, "no list \"jobs\"",
                        "this reader wants the output of sacct --json"});
    }
  }

  Dump read() {
    std::vector<Record> records;
    int number_of_job = 0;
    for (const json& job : root_["jobs"]) {
      ++number_of_job;
      ++dump_.rows;
      const json& steps = at(job, "steps");
      if (steps.is_array()) {
        dump_.steps += steps.size();
        dump_.rows += steps.size();
      }
      Record record;
      if (!read_ids(job, record)) {
        ++dump_.broken;
        warn("job " + std::to_string(number_of_job) + " of the list has no readable job_id");
        continue;
      }
      read_job(job, record);
      records.push_back(std::move(record));
    }
    fold_records(std::move(records), dump_);
    return std::move(dump_);
  }

 private:
  void warn(std::string message) {
    dump_.warnings.push_back({Severity::warning, "C058", file_, 0, std::move(message), ""});
  }

  void read_job(const json& job, Record& record) {
    record.cluster = text(at(job, "cluster"));
    record.partition = text(at(job, "partition"));
    record.qos = text(at(job, "qos"));
    record.account = text(at(job, "account"));
    record.user = text(at(job, "user"));
    if (record.user.empty()) record.user = text(at(at(job, "association"), "user"));
    record.name = text(at(job, "name"));
    record.submit_line = text(at(job, "submit_line"));
    record.priority = number(at(job, "priority"));
    record.exit_code = static_cast<int>(
        number(at(at(job, "exit_code"), "return_code")).value_or(0));
    read_state(job, record);
    if (!is_known_state(record.state)) {
      warn("job " + std::to_string(record.id) + ": unknown state \"" + record.state + "\"");
    }
    const std::string killer = text(at(job, "kill_request_user"));
    if (!killer.empty() && killer.find_first_not_of("0123456789") == std::string::npos &&
        killer.size() < 11) {
      record.cancelled_by = std::stoll(killer);
    }
    read_times(job, record);
    read_sizes(job, record);
    const std::string nodes = text(at(job, "nodes"));
    if (!nodes.empty() && !nodes.starts_with("None assigned") && nodes != "(null)") {
      std::string problem;
      if (auto list = try_expand_hostlist(nodes, problem)) record.nodes = std::move(*list);
      else warn("job " + std::to_string(record.id) + ": can't read node list: " + problem);
    }
    settle_record(record, true, true, file_, dump_.warnings);
  }

  std::string file_;
  json root_;
  Dump dump_;
};

}  // namespace

Dump read_json_dump(const Input& input, const ReadOptions&) { return JsonReader(input).read(); }

}  // namespace sacct

Trace read_sacct_json_text(const Input& input, const ReadOptions& options) {
  return sacct::to_trace(sacct::read_json_dump(input, options), input.name, options);
}

std::string show_sacct_json(const Input& input, const ReadOptions& options,
                            const NormalisedJob& sink) {
  return sacct::show_dump(sacct::read_json_dump(input, options), input.name, options, sink);
}

}  // namespace fedsim
