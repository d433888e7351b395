// slurmctld's answer to a submission, and the table of demands: both are computed once for all jobs
// that a controller can't tell apart.
#include <algorithm>

#include "fed/context.hpp"

namespace fedsim {
namespace {

/// Limits within that of every partition are all the same to the tests.
std::int64_t limit_class(const Context& ctx, ClusterId c, const JobSpec& spec) {
  constexpr std::int64_t kWithin = 60;
  if (spec.limit_s < 0) return spec.limit_s;
  const auto& list = ctx.names.partitions[c.index()].at(spec.partition.index());
  const bool within = std::all_of(list.begin(), list.end(), [&](PartitionId p) {
    const std::int64_t most = ctx.cluster(c).partitions[p.index()].spec.max_time_s;
    return most < 0 || spec.limit_s <= most;
  });
  return within ? kWithin : spec.limit_s;
}

std::vector<std::string> options_beside(const Context& ctx, const JobSpec& spec,
                                        std::int64_t limit_s) {
  std::vector<std::string> out;
  const auto text = [&](const char* option, StringId id) {
    if (id.index() != 0) out.push_back(option + std::string(ctx.trace.strings.view(id)));
  };
  text("--partition=", spec.partition);
  text("--account=", spec.account);
  if (limit_s == kUnlimited) out.emplace_back("--time=INFINITE");
  if (limit_s > 0) out.push_back("--time=" + std::to_string((limit_s + 59) / 60));
  return out;
}

Reason ask_controller(const Context& ctx, ClusterId c, const JobSpec& spec, std::int64_t limit_s) {
  const ControllerView& view = ctx.controllers[c.index()];
  Submission s;
  Reason refusal = Reason::none;
  if (!describe(view, ctx.trace.requests[spec.request], options_beside(ctx, spec, limit_s), s.job,
                refusal)) {
    return refusal;
  }
  s.held = spec.held;
  s.user = ctx.trace.strings.view(spec.user);
  s.now_s = floor_seconds(ctx.state.now);
  auto refused = create_job(view, s);
  if (!refused) refused = test_job(view, s);
  return refused ? refusal_reason(refused->text) : Reason::none;
}

}  // namespace

Reason refusal_of(const Context& ctx, ClusterId c, const JobSpec& spec) {
  if (ctx.names.partitions[c.index()].at(spec.partition.index()).empty())
    return Reason::invalid_partition;
  const std::int64_t limit_s = limit_class(ctx, c, spec);
  const DemandTable::Question question{spec.request,
                                       static_cast<std::uint32_t>(spec.partition.index()),
                                       static_cast<std::uint32_t>(spec.account.index()),
                                       limit_s,
                                       static_cast<std::uint8_t>(c.index()),
                                       spec.held};
  const auto known = ctx.demands.answers.find(question);
  if (known != ctx.demands.answers.end()) return known->second;
  const Reason answer = ask_controller(ctx, c, spec, limit_s);
  ctx.demands.answers.emplace(question, answer);
  return answer;
}

DemandTable::Verdict demand_of(const Context& ctx, ClusterId c, PartitionId p,
                               std::uint32_t request) {
  DemandTable& t = ctx.demands;
  auto& verdicts = t.by_partition[t.first_partition[c.index()] + p.index()];
  if (verdicts.size() <= request) verdicts.resize(ctx.trace.requests.size());
  DemandTable::Verdict& v = verdicts[request];
  if (!v.known) {
    v.known = true;
    v.demand = static_cast<std::uint32_t>(t.demands.size());
    t.demands.push_back(
        resolve_demand(ctx.controllers[c.index()], ctx.cluster(c), p, ctx.trace.requests[request]));
    t.demands.back().request.id = static_cast<std::uint32_t>(t.demands.size());
    v.fits_empty = t.demands.back().fits_idle;
  }
  return v;
}

}  // namespace fedsim
