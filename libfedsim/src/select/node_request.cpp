// The sets of nodes that are tried for one job: see node_request.hpp.
#include "select/node_request.hpp"

#include <algorithm>

namespace fedsim {
namespace {

bool has_all(const Bitmap& nodes, const std::vector<std::uint32_t>& required) {
  return std::all_of(required.begin(), required.end(),
                     [&](std::uint32_t n) { return test_bit(nodes, n); });
}

/// Tests that need no look at the nodes' state.
bool may_try(const JobAsk& ask, const Bitmap& nodes) {
  return has_all(nodes, ask.required) &&
         static_cast<std::int64_t>(count_bits(nodes)) >= ask.least_nodes();
}

/// What the job asks of one counted kind alone.
JobAsk ask_for(const JobAsk& job, std::int64_t count) {
  JobAsk ask = job;
  ask.required.clear();
  ask.min_nodes = ask.max_nodes = ask.min_cpus = count;
  if (ask.ntasks_per_node > 0) ask.num_tasks = count * ask.ntasks_per_node;
  return ask;
}

class Attempts {
 public:
  Attempts(const SelectView& view, const NodeRequest& request, BitSpan open)
      : view_(view), request_(request), open_(open), ask_(request.ask) {}

  std::optional<NodePlacements> run() {
    if (!request_.counted.empty() && !take_counted()) return std::nullopt;
    if (request_.kinds.empty() || !request_.counted.empty()) return one(ask_, request_.nodes);
    for (const Bitmap& kind : request_.kinds)
      if (auto found = one(ask_, kind)) return found;
    return std::nullopt;
  }

 private:
  std::optional<NodePlacements> one(const JobAsk& ask, BitSpan among) const {
    Bitmap nodes(among.begin(), among.end());
    and_into(nodes, open_);
    if (!may_try(ask, nodes)) return std::nullopt;
    auto found = place_job(view_, request_.rules, ask, nodes);
    if (found && static_cast<std::int64_t>(found->size()) > ask.most_nodes()) found.reset();
    return found;
  }

  /// So many nodes of each kind first, which the job then requires.
  bool take_counted() {
    Bitmap taken(request_.nodes.size(), 0);
    for (const CountedKind& kind : request_.counted) {
      Bitmap among = kind.nodes;
      if (kind.apart) subtract_from(among, taken);
      const auto found = one(ask_for(request_.ask, kind.count), among);
      if (!found) return false;
      for (const NodePlacement& p : *found) set_bit(taken, p.node);
    }
    for (const std::uint32_t n : ask_.required) set_bit(taken, n);
    ask_.required.clear();
    for_each_bit(taken,
                 [&](std::size_t n) { ask_.required.push_back(static_cast<std::uint32_t>(n)); });
    const auto n = static_cast<std::int64_t>(ask_.required.size());
    ask_.min_cpus = std::max(ask_.min_cpus, n);
    ask_.min_nodes = std::max(ask_.min_nodes, n);
    return std::max(ask_.min_nodes, ask_.wanted_nodes()) <= ask_.most_nodes();
  }

  const SelectView& view_;
  const NodeRequest& request_;
  BitSpan open_;
  JobAsk ask_;
};

}  // namespace

bool NodeRequest::possible() const {
  const auto required = static_cast<std::int64_t>(ask.required.size());
  return has_all(nodes, ask.required) && (ask.max_nodes <= 0 || required <= ask.max_nodes) &&
         ask.most_nodes() >= ask.least_nodes();
}

std::optional<NodePlacements> place(const SelectView& view, const NodeRequest& request,
                                    BitSpan open) {
  if (!request.possible()) return std::nullopt;
  return Attempts(view, request, open).run();
}

std::optional<std::vector<std::uint32_t>> nodes_when_idle(const ClusterHardware& hardware,
                                                          const NodeRequest& request) {
  if (!request.possible()) return std::nullopt;
  const SelectView view{hardware, hardware.idle};
  const auto one = [&](const JobAsk& ask, const Bitmap& among) {
    std::optional<std::vector<std::uint32_t>> found;
    if (may_try(ask, among)) found = nodes_when_idle(view, request.rules, ask, among);
    if (found && static_cast<std::int64_t>(found->size()) > ask.most_nodes()) found.reset();
    return found;
  };
  if (!request.counted.empty()) {
    const CountedKind& first = request.counted.front();
    return one(ask_for(request.ask, first.count), first.nodes);
  }
  if (request.kinds.empty()) return one(request.ask, request.nodes);
  for (const Bitmap& kind : request.kinds)
    if (auto found = one(request.ask, kind)) return found;
  return std::nullopt;
}

}  // namespace fedsim
