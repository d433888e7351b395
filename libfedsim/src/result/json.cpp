// summary.json and manifest.json: what came out, and everything needed to get it again.
#include <array>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/mix.hpp"
#include "fedsim/result.hpp"
#include "fedsim/slurm_conf.hpp"
#include "result/number.hpp"

namespace fedsim {
namespace {

using Json = nlohmann::ordered_json;

const char* word(Fidelity f) {
  return f == Fidelity::slurm ? "slurm" : "ideal";
}

const char* word(Policy p) {
  switch (p) {
    case Policy::fcfs:
      return "fcfs";
    case Policy::easy:
      return "easy";
    case Policy::conservative:
      return "conservative";
  }
  return "";
}

std::string release_text(const SlurmRelease& r) {
  std::string month = std::to_string(r.month);
  if (month.size() < 2) month.insert(0, "0");
  return std::to_string(r.year) + "." + month;
}

std::string hash_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw FileError(path, errno, "read");
  std::uint64_t hash = 0;
  std::array<char, 1 << 16> block{};
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    hash = hash_bytes(block.data(), static_cast<std::size_t>(in.gcount()), hash);
  }
  return hex64(hash);
}

Json time_or_null(SimTime t) {
  if (t == kNoTime || t == kEndOfTime) return nullptr;
  std::string text;
  append_iso(text, t);
  return text;
}

Json options_json(const RunOptions& o) {
  Json out;
  out["fidelity"] = word(o.fidelity);
  if (o.fidelity == Fidelity::ideal) out["policy"] = word(o.policy);
  out["seed"] = o.seed;
  out["horizon"] = time_or_null(o.horizon);
  out["max_events"] = o.max_events;
  out["keep_placement"] = o.keep_placement;
  out["driven_passes"] = o.driven.size();
  if (!o.faults.empty()) {
    Json faults = Json::array();
    for (const FaultProcess& f : o.faults) faults.push_back(to_string(f));
    out["faults"] = std::move(faults);
  }
  Json starts = Json::array();
  for (const SimTime t : o.controller_start) starts.push_back(time_or_null(t));
  out["controller_start"] = std::move(starts);
  return out;
}

Json latency_json(const LatencySpec& l) {
  return {{"sibling_message_s", to_seconds(l.sibling_message)},
          {"lock_round_trip_s", to_seconds(l.lock_round_trip)},
          {"client_command_s", to_seconds(l.client_command)},
          {"launch_s", to_seconds(l.launch)},
          {"epilog_s", to_seconds(l.epilog)}};
}

// Keys that have no effect, and keys of which a part has: from the one parameter table.
Json coverage_json(Coverage coverage) {
  Json out = Json::array();
  for (const ParameterInfo& p : parameter_table()) {
    if (p.coverage != coverage) continue;
    const std::string scope = p.scope.empty() ? "" : p.scope + ".";
    out.push_back(p.file + ": " + scope + p.key + (p.note.empty() ? "" : " (" + p.note + ")"));
  }
  return out;
}

// Each finding once: the command passes on what model and trace also keep.
std::vector<std::string> warning_texts(const FederationModel& model, const Trace& trace,
                                       const WriteOptions& options) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const auto* list : {&options.warnings, &model.warnings, &trace.report.warnings}) {
    for (const Diagnostic& d : *list) {
      if (seen.insert(to_string(d)).second) out.push_back(to_string(d));
    }
  }
  return out;
}

Json clusters_json(const FederationModel& model) {
  Json out = Json::array();
  for (const ClusterModel& c : model.clusters) {
    out.push_back({{"name", c.name},
                   {"slurm", release_text(c.release)},
                   {"nodes", c.nodes.size()},
                   {"cpus", c.cpus_n},
                   {"gpus", c.gpus_n}});
  }
  return out;
}

}  // namespace

std::string summary_json(const Result& result) {
  const Summary& s = result.summary;
  const Populations& p = s.populations;
  Json out;
  out["jobs"] = p.jobs;
  out["rejected"] = p.rejected;
  out["records"] = Json::object();
  for (const auto& [state, n] : p.records) out["records"][state] = n;
  out["allocations"] = p.allocations;
  out["distinct_gpus"] = p.distinct_gpus;
  out["gpus_in_fleet"] = p.gpus_in_fleet;
  out["gpu_hours"] = s.gpu_hours;
  out["cpu_hours"] = s.cpu_hours;
  out["naive_gpu_sum"] = p.naive_gpu_sum;
  out["processes"] = p.processes;
  out["process_groups"] = p.process_groups;
  out["largest_group"] = p.largest_group;
  out["makespan_s"] = s.makespan_s;
  out["utilisation"] = s.utilisation;
  out["wait_s"] = {{"p50", s.wait_s.p50},
                   {"p90", s.wait_s.p90},
                   {"p95", s.wait_s.p95},
                   {"mean", s.wait_s.mean},
                   {"max", s.wait_s.max}};
  out["events"] = s.events;
  out["main_passes"] = s.main_passes;
  out["backfill_passes"] = s.backfill_passes;
  out["wall_s"] = s.wall_s;
  out["fingerprint"] = hex64(s.fingerprint);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string manifest_json(const Result& result, const WriteOptions& options) {
  const FederationModel& model = *result.scenario.model;
  const Trace& trace = *result.scenario.trace;
  Json out;
  out["fedsim"] = FEDSIM_VERSION;
  out["command"] = options.command;
  out["seed"] = result.scenario.options.seed;
  out["fidelity"] = word(result.scenario.options.fidelity);
  out["inputs"] = Json::array();
  for (const auto& [name, path] : options.inputs) {
    out["inputs"].push_back({{"name", name}, {"path", path}, {"hash", hash_file(path)}});
  }
  out["model_hash"] = hex64(model.hash);
  out["federation"] = model.name;
  out["federated"] = model.federated;
  out["clusters"] = clusters_json(model);
  out["latency"] = latency_json(model.latency);
  out["options"] = options_json(result.scenario.options);
  out["times"] = options.times == TimeStyle::relative ? "relative" : "iso";
  out["t0"] = time_or_null(trace.t0);
  out["trace"] = {{"jobs", trace.jobs.size()},
                  {"operations", trace.operations.size()},
                  {"rows", trace.report.rows},
                  {"folded", trace.report.folded},
                  {"rejected", trace.report.rejected}};
  out["warnings"] = Json::array();
  for (const std::string& w : warning_texts(model, trace, options)) out["warnings"].push_back(w);
  out["not_modelled"] = coverage_json(Coverage::ignored);
  out["simplified"] = coverage_json(Coverage::simplified);
  out["fingerprint"] = hex64(result.summary.fingerprint);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fedsim
