// Accounting dumps: from records to jobs (sibling, requeue, repeated rows folded), and the reader.
#include "trace/sacct.hpp"

#include <algorithm>
#include <unordered_map>

#include "trace/readers.hpp"

namespace fedsim::sacct {
namespace {

// Records of one job share this. A federated id is the same job on every cluster.
std::string key_of(const Record& r) {
  std::string key = r.fed_cluster() > 0 ? std::string() : r.cluster;
  key += '|' + std::to_string(r.id) + '|' + std::to_string(r.array_task);
  if (r.is_bracket) key += '[' + std::to_string(r.tasks.front());
  key += '|' + std::to_string(r.het_offset);
  return key;
}

bool same_execution(const Record& a, const Record& b) {
  const auto epoch = [](const std::optional<Instant>& i) { return i ? i->epoch : -1; };
  return a.cluster == b.cluster && a.state == b.state && epoch(a.submit) == epoch(b.submit) &&
         epoch(a.start) == epoch(b.start) && epoch(a.end) == epoch(b.end);
}

std::int64_t order_time(const Record& r) {
  if (r.submit) return r.submit->epoch;
  return r.start ? r.start->epoch : 0;
}

// A copy of a federated job that did not run: revoked, or refused by a sibling whose nodes can
// never hold it (that one keeps a FAILED record), while the job ran elsewhere.
bool is_sibling_copy(const Record& r, bool job_ran) {
  if (r.ran) return false;
  return r.state == "REVOKED" || (job_ran && r.fed_cluster() > 0 && r.state == "FAILED");
}

Job fold_group(std::vector<Record>& group, Dump& dump) {
  Job job;
  dump.folded += group.size() - 1;
  const bool job_ran =
      std::any_of(group.begin(), group.end(), [](const Record& r) { return r.ran; });
  std::vector<Record> runs;
  for (Record& r : group) {
    const bool repeated = std::any_of(runs.begin(), runs.end(),
                                      [&](const Record& o) { return same_execution(o, r); });
    if (repeated) continue;
    const bool listed = std::find(job.siblings.begin(), job.siblings.end(), r.cluster) !=
                        job.siblings.end();
    if (is_sibling_copy(r, job_ran) && !listed) job.siblings.push_back(r.cluster);
    runs.push_back(std::move(r));
  }
  // Which record stands for the job: the last execution; a copy only when there is nothing else.
  std::stable_sort(runs.begin(), runs.end(), [&](const Record& a, const Record& b) {
    const bool a_copy = is_sibling_copy(a, job_ran);
    const bool b_copy = is_sibling_copy(b, job_ran);
    if (a_copy != b_copy) return a_copy;
    return order_time(a) < order_time(b);
  });
  for (const Record& r : runs) {
    if (r.ran) job.run_seconds.push_back(r.elapsed_s.value_or(0));
    if (r.submit && (!job.first_submit || r.submit->epoch < job.first_submit->epoch)) {
      job.first_submit = r.submit;
    }
  }
  job.last = std::move(runs.back());
  job.revoked_only = job.last.state == "REVOKED" && !job.last.ran;
  return job;
}

}  // namespace

void fold_records(std::vector<Record> records, Dump& dump) {
  std::unordered_map<std::string, std::size_t> place;
  std::vector<std::vector<Record>> groups;
  for (Record& r : records) {
    const auto [found, added] = place.emplace(key_of(r), groups.size());
    if (added) groups.emplace_back();
    groups[found->second].push_back(std::move(r));
  }
  dump.jobs.reserve(groups.size());
  for (std::vector<Record>& group : groups) dump.jobs.push_back(fold_group(group, dump));
}

Dump read_dump(const Input& input, const ReadOptions& options) {
  const Table table = read_table(input, options);
  Dump dump;
  dump.broken = table.broken;
  dump.messages = table.messages;
  dump.rows = table.rows.size() + table.broken;
  dump.warnings = table.warnings;
  fold_records(parse_records(table, input, options, dump), dump);
  std::stable_sort(dump.warnings.begin(), dump.warnings.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.line < b.line; });
  return dump;
}

}  // namespace fedsim::sacct

namespace fedsim {

Trace read_sacct_text(const Input& input, const ReadOptions& options) {
  const sacct::Dump dump = sacct::read_dump(input, options);
  // Without instants of submission there is nothing to replay; showing such a dump still works.
  const auto submitted = [](const sacct::Job& j) { return j.first_submit.has_value(); };
  if (!dump.jobs.empty() && std::none_of(dump.jobs.begin(), dump.jobs.end(), submitted)) {
    throw InputError({Severity::error, "C057", input.name, 0, "no column Submit with a time in it",
                      "add Submit to sacct --format; fedsim trace sacct-fields prints all fields"});
  }
  return sacct::to_trace(dump, input.name, options);
}

Trace read_sacct(const std::filesystem::path& path, const ReadOptions& options) {
  return read_sacct_text(read_input(path), options);
}

std::string show_sacct(const Input& input, const ReadOptions& options, const NormalisedJob& sink) {
  return sacct::show_dump(sacct::read_dump(input, options), input.name, options, sink);
}

}  // namespace fedsim
