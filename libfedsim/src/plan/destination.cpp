// Destinations of one job: see include/fedsim/plan.hpp.
#include <algorithm>

#include "fedsim/plan.hpp"
#include "sched/admission.hpp"
#include "sched/select.hpp"
#include "state/state.hpp"

namespace fedsim {
namespace {

std::int64_t free_gpus(const NodePool& pool) {
  std::int64_t n = 0;
  for (std::size_t i = 0; i < pool.size(); ++i) n += std::popcount(pool.free_gpus(i));
  return n;
}

DestinationFit fit_cluster(const ControllerView& view, const ClusterModel& cluster,
                           const ResourceRequest& request, const NodePool& pool,
                           std::int64_t& requested) {
  DestinationFit out;
  out.cluster = cluster.name;
  out.gpus = static_cast<std::int64_t>(cluster.gpus_n);
  out.free_gpus = free_gpus(pool);
  if (!cluster.default_partition.valid()) {
    out.refusal = std::string(reason_text(Reason::invalid_partition));
    return out;
  }
  const Demand demand = resolve_demand(view, cluster, cluster.default_partition, request);
  requested = std::max(requested, demand.gpus);
  Submission s;
  Reason refusal = demand.refusal;
  if (refusal == Reason::none && describe(view, request, {}, s.job, refusal)) {
    auto refused = create_job(view, s);
    if (!refused) refused = test_job(view, s);
    if (refused) refusal = refusal_reason(refused->text);
  }
  out.eligible = refusal == Reason::none && demand.limit == Reason::none && demand.fits_idle;
  if (refusal != Reason::none) out.refusal = std::string(reason_text(refusal));
  if (!out.eligible) return out;
  Bitmap open = demand.request.nodes;
  and_into(open, pool.usable());
  SelectScratch scratch;
  std::vector<NodeShare> shares;
  out.schedulable_now = select_nodes(cluster, pool, demand, open, scratch, shares);
  return out;
}

}  // namespace

FitReport fit(const FederationModel& model, const ResourceRequest& request, const SimState* state) {
  FitReport report;
  const Accounting nobody;
  for (std::size_t c = 0; c < model.clusters.size(); ++c) {
    const NodePool idle = state == nullptr ? NodePool(model.clusters[c]) : NodePool{};
    const NodePool& pool = state == nullptr ? idle : state->clusters[c].pool;
    const ControllerView view(model.spec->clusters[c], nobody, model.clusters[c].hardware);
    DestinationFit d = fit_cluster(view, model.clusters[c], request, pool, report.requested);
    report.fleet_gpus += d.gpus;
    report.max_domain = std::max(report.max_domain, d.gpus);
    report.largest_free_block = std::max(report.largest_free_block, d.free_gpus);
    report.eligible += d.eligible ? 1U : 0U;
    report.schedulable_now += d.schedulable_now ? 1U : 0U;
    report.destinations.push_back(std::move(d));
  }
  report.shortfall = std::max<std::int64_t>(report.requested - report.max_domain, 0);
  report.feasible = report.eligible > 0;
  report.code = report.feasible        ? "OK"
                : report.shortfall > 0 ? "EXCEEDS_EVERY_DOMAIN"
                                       : "NO_ELIGIBLE_CLUSTER";
  return report;
}

std::string remedy(const FitReport& report, const std::string& origin) {
  for (const DestinationFit& d : report.destinations) {
    if (d.cluster == origin && d.eligible) return "";
  }
  for (const DestinationFit& d : report.destinations) {
    if (d.eligible) return "sbatch -M " + d.cluster + " ...";
  }
  return "";
}

}  // namespace fedsim
