// Compares a simulated run, or another recording, with a recorded run of a real federation.
//
// A record matches when state, node list and GPU indices are equal and its start lies within the
// tolerance. Of revoked records the start is not compared: accounting leaves it empty or sets it to
// the other's start. GPU indices that the recorder did not catch are not compared either.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fedsim/result.hpp"
#include "fedsim/scenario.hpp"
#include "result/number.hpp"
#include "result/recorded_run.hpp"
#include "result/staging.hpp"

namespace fedsim {
namespace {

std::string first_word(const std::string& text) {
  return text.substr(0, text.find(' '));
}

bool same_state(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a == b : first_word(a) == first_word(b);
}

// Nothing but separators and the node's name: "n1:-", or an empty field.
bool names_no_gpu(const std::string& gpu_idx, const std::string& nodes) {
  return (gpu_idx.find_first_not_of("-:;" + nodes)) == std::string::npos;
}

bool same_gpus(const ComparedRecord& recorded, const ComparedRecord& other) {
  if (recorded.gpu_idx == other.gpu_idx) return true;
  if (recorded.gpu_idx.ends_with(":-") && names_no_gpu(other.gpu_idx, recorded.nodes)) return true;
  return recorded.gpu_idx.empty() && !recorded.nodes.empty();  // the recorder's polls missed it
}

bool same_start(const ComparedRecord& recorded, const ComparedRecord& other, double tolerance) {
  if (recorded.state.starts_with("REVOKED")) return true;
  if (!recorded.start || !other.start) return !recorded.start && !other.start;
  return std::abs(*recorded.start - *other.start) <= tolerance;
}

void sort_records(std::vector<ComparedRecord>& rows) {
  static constexpr double late = 1e18;
  std::stable_sort(rows.begin(), rows.end(), [](const ComparedRecord& a, const ComparedRecord& b) {
    return std::tuple(a.submit.value_or(0), a.start.value_or(late), a.end.value_or(late)) <
           std::tuple(b.submit.value_or(0), b.start.value_or(late), b.end.value_or(late));
  });
}

std::string describe(const ComparedRecord& r) {
  std::string start = "-";
  if (r.start) {
    start.clear();
    append_number(start, *r.start);
  }
  return r.state + " start " + start + (r.nodes.empty() ? "" : " on " + r.nodes) +
         (r.gpu_idx.empty() ? "" : " " + r.gpu_idx);
}

std::string describe(const RecordKey& key) {
  const auto& [label, task, cluster] = key;
  return label + (task.empty() ? "" : "_" + task) + " at " + cluster;
}

void compare_group(const RecordKey& key, std::vector<ComparedRecord> recorded,
                   std::vector<ComparedRecord> other, double tolerance, VerifyRow& out) {
  sort_records(recorded);
  sort_records(other);
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    ++out.records;
    if (i >= other.size()) {
      out.differences.push_back(describe(key) + ": recorded " + describe(recorded[i]) +
                                "; no such record");
      continue;
    }
    const bool state = same_state(recorded[i].state, other[i].state);
    const bool nodes = recorded[i].nodes == other[i].nodes;
    const bool gpus = same_gpus(recorded[i], other[i]);
    const bool start = same_start(recorded[i], other[i], tolerance);
    out.state += state;
    out.nodes += nodes;
    out.gpus += gpus;
    out.start += start;
    if (state && nodes && gpus && start) {
      ++out.all;
    } else {
      out.differences.push_back(describe(key) + ": recorded " + describe(recorded[i]) +
                                "; simulated " + describe(other[i]));
    }
  }
  out.extra += other.size() > recorded.size() ? other.size() - recorded.size() : 0;
}

void compare_refusals(const ComparedRun& recorded, const ComparedRun& other, VerifyRow& out) {
  for (const std::string& label : recorded.refused_labels) {
    ++out.records;
    const std::string& text = recorded.refused.at(label);
    const auto found = other.refused.find(label);
    const bool refused = found != other.refused.end();
    for (std::size_t* n : {&out.state, &out.nodes, &out.gpus, &out.start}) *n += refused;
    if (refused && (text.empty() || found->second == text)) {
      ++out.all;
      continue;
    }
    out.differences.push_back(label + ": refused with \"" + text + "\"; simulated " +
                              (refused ? "\"" + found->second + "\"" : "accepted"));
  }
  for (const auto& [label, text] : other.refused) {
    if (recorded.refused.contains(label)) continue;
    ++out.extra;
    out.differences.push_back(label + ": accepted by Slurm; simulated REJECTED \"" + text + "\"");
  }
}

void compare_runs(const ComparedRun& recorded, const ComparedRun& other, Duration tolerance,
                  VerifyRow& out) {
  for (const RecordKey& key : recorded.keys) {
    const auto found = other.records.find(key);
    compare_group(key, recorded.records.at(key),
                  found == other.records.end() ? std::vector<ComparedRecord>{} : found->second,
                  to_seconds(tolerance), out);
  }
  compare_refusals(recorded, other, out);
}

ComparedRun from_result(const Result& result) {
  const Table t = result.records();
  const std::int64_t t0 = result.scenario.trace->t0.time_since_epoch().count();
  const auto seconds = [&](const char* column, std::size_t i) -> std::optional<double> {
    const Column& c = t[column];
    if (c.is_null(i)) return std::nullopt;
    return static_cast<double>(c.int_at(i) - t0) / 1e9;
  };
  const auto text = [&](const char* column, std::size_t i) {
    return std::string(t[column].text_at(i));
  };
  ComparedRun out;
  for (std::size_t i = 0; i < t.rows(); ++i) {
    if (t["state"].text_at(i) == "REJECTED") {
      out.refuse(text("label", i), text("reason", i));
      continue;
    }
    const Column& task = t["array_task"];
    const std::string array_task = task.is_null(i) ? "" : std::to_string(task.int_at(i));
    out.add({text("label", i), array_task, text("cluster", i)},
            {text("state", i), text("nodes", i), text("gpu_idx", i), seconds("submit", i),
             seconds("start", i), seconds("end", i)});
  }
  return out;
}

VerifyRow named_row(const std::filesystem::path& run) {
  VerifyRow out;
  const auto folder = std::filesystem::absolute(run).lexically_normal();
  out.run = folder.filename().string();
  out.scenario = folder.parent_path().filename().string();
  return out;
}

// What is not modelled does not match: every record of the recording counts against the run.
VerifyRow not_simulated(const ComparedRun& recorded, VerifyRow out, std::string why) {
  for (const auto& [key, rows] : recorded.records) out.records += rows.size();
  out.records += recorded.refused.size();
  out.failure = std::move(why);
  out.differences.push_back("not simulated: " + out.failure);
  return out;
}

// The errors among the findings, with the scenario's own folder for that of the staged copy.
std::string errors_text(const InputError& error, const std::string& staged,
                        const std::string& scenario) {
  std::string out;
  for (Diagnostic d : error.diagnostics()) {
    if (d.severity != Severity::error) continue;
    const std::size_t at = d.file.find(staged);
    if (at != std::string::npos) d.file.replace(at, staged.size(), scenario);
    d.hint.clear();
    out += (out.empty() ? "" : "; ") + to_string(d);
  }
  return out;
}

Result simulate(const std::filesystem::path& folder, const VerifyOptions& options) {
  const RecordedScenario input = read_scenario(folder);
  Scenario ready;
  ready.model = compile(input.spec);
  ready.trace = std::make_shared<const Trace>(input.trace);
  ready.options = input.options;
  ready.options.seed = options.seed;
  ready.options.progress = options.progress;
  return fedsim::run(ready);
}

}  // namespace

VerifyRow compare_recordings(const std::filesystem::path& run, const std::filesystem::path& other,
                             Duration tolerance) {
  VerifyRow out = named_row(run);
  compare_runs(read_recorded_run(run), read_recorded_run(other), tolerance, out);
  return out;
}

VerifyRow verify_run(const std::filesystem::path& scenario, const std::filesystem::path& run,
                     const VerifyOptions& options) {
  VerifyRow out = named_row(run);
  const ComparedRun recorded = read_recorded_run(run);
  const StagedScenario staged(scenario, run, options.driven);
  ComparedRun simulated;
  try {
    simulated = from_result(simulate(staged.folder(), options));
  } catch (const InputError& e) {
    const std::string why = errors_text(e, staged.folder().string(), scenario.string());
    return not_simulated(recorded, std::move(out), why);
  } catch (const InternalError& e) {
    return not_simulated(recorded, std::move(out), e.what());
  }
  compare_runs(recorded, simulated, options.tolerance, out);
  return out;
}

}  // namespace fedsim
