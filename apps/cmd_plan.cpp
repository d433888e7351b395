// fedsim plan: which clusters can hold one job, and which could start it on an idle fleet.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "fedsim/error.hpp"
#include "fedsim/plan.hpp"
#include "fedsim/slurm_conf.hpp"

namespace fedsim::apps {
namespace {

struct PlanOptions {
  std::vector<std::string> clusters;
  std::vector<std::string> machines;
  std::string portfolio;
  std::string origin;
  int gpus = 0;
  int nodes = 0;
  int tasks = 0;
  std::string format;
};

InputError usage(const std::string& message, const std::string& hint) {
  return InputError({Severity::error, "C133", "", 0, message, hint});
}

std::pair<std::string, std::string> name_value(const std::string& text, const char* option) {
  const std::size_t eq = text.find('=');
  if (eq == std::string::npos || eq == 0 || eq + 1 == text.size()) {
    throw usage(std::string(option) + " " + text + " is not NAME=VALUE",
                std::string("write ") + option + " alpha=VALUE");
  }
  return {text.substr(0, eq), text.substr(eq + 1)};
}

/// "2x8" or "2x8:a100": nodes, GPUs a node, type.
ClusterSpec machine_of(const std::string& text) {
  const auto [name, value] = name_value(text, "--machine");
  int nodes = 0;
  int gpus = 0;
  char type[32] = "";
  if (std::sscanf(value.c_str(), "%dx%d:%31s", &nodes, &gpus, type) < 2) {
    throw usage("--machine " + text + " is not NAME=NODESxGPUS[:TYPE]", "as in b=1x8:a100");
  }
  return machine(name, nodes, gpus, type);
}

FederationSpec federation_of(const PlanOptions& o) {
  FederationSpec spec;
  if (!o.clusters.empty()) {
    std::vector<std::pair<std::string, std::filesystem::path>> folders;
    for (const std::string& c : o.clusters) folders.push_back(name_value(c, "--cluster"));
    spec = read_slurm_conf(folders);
  }
  for (const std::string& m : o.machines) spec.clusters.push_back(machine_of(m));
  spec.federated = spec.clusters.size() > 1;
  if (spec.clusters.empty()) {
    throw usage("no cluster to plan for",
                "give --cluster NAME=CONFDIR or --machine NAME=NODESxGPUS");
  }
  return spec;
}

nlohmann::ordered_json to_json(const FitReport& r) {
  nlohmann::ordered_json j{{"requested", r.requested},
                           {"fleet_gpus", r.fleet_gpus},
                           {"max_domain", r.max_domain},
                           {"largest_free_block", r.largest_free_block},
                           {"shortfall", r.shortfall},
                           {"feasible", r.feasible},
                           {"code", r.code},
                           {"eligible", r.eligible},
                           {"schedulable_now", r.schedulable_now},
                           {"guaranteed", r.guaranteed}};
  for (const DestinationFit& d : r.destinations) {
    j["destinations"].push_back({{"cluster", d.cluster},
                                 {"gpus", d.gpus},
                                 {"free_gpus", d.free_gpus},
                                 {"eligible", d.eligible},
                                 {"schedulable_now", d.schedulable_now},
                                 {"refusal", d.refusal}});
  }
  return j;
}

void print_text(const FitReport& r, const std::string& advice) {
  std::printf(
      "requested %lld GPUs in one job; fleet %lld, largest domain %lld (a ceiling, not a "
      "promise)\n",
      static_cast<long long>(r.requested), static_cast<long long>(r.fleet_gpus),
      static_cast<long long>(r.max_domain));
  std::printf("%-16s %6s %6s %9s %9s  %s\n", "CLUSTER", "GPUS", "FREE", "ELIGIBLE", "FITS NOW",
              "REFUSAL AT ORIGIN");
  for (const DestinationFit& d : r.destinations) {
    std::printf("%-16s %6lld %6lld %9s %9s  %s\n", d.cluster.c_str(),
                static_cast<long long>(d.gpus), static_cast<long long>(d.free_gpus),
                d.eligible ? "yes" : "no", d.schedulable_now ? "yes" : "no", d.refusal.c_str());
  }
  if (r.feasible) {
    std::printf(
        "feasible on %zu of %zu clusters; GPUs outside: state not established by this plan\n",
        r.eligible, r.destinations.size());
  } else {
    std::printf(
        "infeasible: %s, shortfall %lld. GPUs of several clusters never add up for one job.\n",
        r.code.c_str(), static_cast<long long>(r.shortfall));
  }
  if (!advice.empty()) std::printf("remedy: %s\n", advice.c_str());
}

void plan(const PlanOptions& o, Context& context) {
  if (!o.portfolio.empty()) {
    throw usage("portfolio files are not read by this version",
                "describe one job with --gpus, --nodes and clusters with --cluster or --machine");
  }
  if (o.gpus < 1) throw usage("--gpus is missing", "how many GPUs the job needs together");
  const FederationSpec spec = federation_of(o);
  ResourceRequest request;
  request.nodes_min = request.nodes_max = o.nodes;
  request.ntasks = o.tasks;
  request.gres_per_job = {{"gpu", "", o.gpus}};
  const FitReport report = fit(*compile(spec), request);
  const std::string advice =
      remedy(report, o.origin.empty() ? spec.clusters.front().name : o.origin);
  if (o.format == "json") {
    nlohmann::ordered_json j = to_json(report);
    j["remedy"] = advice;
    std::printf("%s\n", j.dump(2).c_str());
  } else {
    print_text(report, advice);
  }
  context.exit_code = report.feasible ? kOk : kInfeasible;
}

}  // namespace

void add_plan(CLI::App& root, Context& context) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = root.add_subcommand("plan", "Which clusters can hold one job of N GPUs");
  command->add_option("portfolio", options->portfolio, "Portfolio file (later versions)");
  command->add_option("--cluster", options->clusters, "NAME=CONFDIR, a cluster's configuration");
  command->add_option("--machine", options->machines,
                      "NAME=NODESxGPUS[:TYPE], a cluster of equal nodes");
  command->add_option("--gpus", options->gpus, "GPUs that the job needs together");
  command->add_option("--nodes,-N", options->nodes,
                      "Nodes of the job; not given: as many as needed");
  command->add_option("--ntasks,-n", options->tasks, "Tasks of the job");
  command->add_option("--origin", options->origin,
                      "Cluster the job is submitted at (default: the first)");
  add_format(*command, options->format, {"text", "json"});
  command->footer(
      "Exit code 3 when no cluster can ever hold the job.\n"
      "  fedsim plan --machine a=1x8 --machine b=1x8 --gpus 12");
  command->callback([options, &context] { plan(*options, context); });
}

}  // namespace fedsim::apps
