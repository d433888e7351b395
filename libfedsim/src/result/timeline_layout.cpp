// Chooses the lanes of a timeline, stacks what shares one, and finds round instants for the axis.
#include "result/timeline_layout.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "result/job_times.hpp"
#include "result/number.hpp"

namespace fedsim {
namespace {

// Rows of one node lane that jobs sharing the node's CPUs are stacked in.
constexpr std::size_t kNodeSlots = 16;

std::size_t lanes_of(const ClusterModel& cluster, NodeId node) {
  const std::size_t gpus = cluster.node_class(node).gpu_type_by_index.size();
  return gpus > 0 ? gpus : 1;
}

ClusterLanes choose_lanes(const ClusterModel& cluster, ClusterId id, std::size_t budget) {
  ClusterLanes out;
  out.cluster = id;
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    const NodeId node{n};
    const std::size_t lanes = lanes_of(cluster, node);
    out.lanes_all += lanes;
    const bool fits = out.lanes_n + lanes <= budget || out.nodes.empty();
    if (!fits || out.nodes.size() < n) continue;  // whole nodes, the first ones
    out.nodes.push_back({node, out.lanes_n, cluster.node_class(node).gpu_type_by_index.size()});
    out.lanes_n += lanes;
  }
  return out;
}

// Small clusters first take what they need; what they leave is shared by the larger ones.
void share_lanes(const FederationModel& model, TimelineLayout& out) {
  std::vector<std::size_t> order(model.clusters.size());
  std::vector<std::size_t> need(model.clusters.size(), 0);
  for (std::size_t c = 0; c < order.size(); ++c) {
    order[c] = c;
    const ClusterModel& cluster = model.clusters[c];
    for (std::size_t n = 0; n < cluster.nodes.size(); ++n) need[c] += lanes_of(cluster, NodeId{n});
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return need[a] < need[b]; });
  out.clusters.resize(order.size());
  std::size_t left = kMaxLanes;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t c = order[i];
    ClusterLanes lanes = choose_lanes(model.clusters[c], ClusterId{c}, left / (order.size() - i));
    left -= std::min(left, lanes.lanes_n);
    out.lanes_n += lanes.lanes_n;
    out.lanes_all += lanes.lanes_all;
    out.clusters[c] = std::move(lanes);
  }
}

// Jobs on one node without GPUs: each takes a share of the lane, the lowest free one.
struct NodeSlots {
  std::array<SimTime, kNodeSlots> busy_until;
  NodeSlots() { busy_until.fill(kNoTime); }

  std::size_t take(std::size_t n, SimTime start, SimTime end) {
    std::size_t run = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < kNodeSlots && run < n; ++i) {
      if (busy_until[i] > start) {
        run = 0;
      } else if (++run == n) {
        first = i + 1 - n;
      }
    }
    for (std::size_t i = first; i < first + n; ++i) busy_until[i] = std::max(busy_until[i], end);
    return first;
  }
};

class BarMaker {
 public:
  BarMaker(const Result& result, TimelineLayout& out) : result_(result), out_(out) {
    slots_.resize(out.clusters.size());
    for (std::size_t c = 0; c < slots_.size(); ++c) slots_[c].resize(out.clusters[c].nodes.size());
  }

  void add(std::uint32_t row) {
    const AllocationRow& a = result_.allocation_rows[row];
    if (a.place_offset + a.nodes_n > result_.placements.size()) return;
    for (std::uint64_t i = a.place_offset; i < a.place_offset + a.nodes_n; ++i) {
      add_node(row, a, result_.placements[i]);
    }
  }

 private:
  void add_node(std::uint32_t row, const AllocationRow& a, const Placement& p) {
    ClusterLanes& cluster = out_.clusters[a.cluster.index()];
    if (p.node.index() >= cluster.nodes.size()) return;  // a lane that was left out
    const NodeLanes& lanes = cluster.nodes[p.node.index()];
    const SimTime end = a.end != kNoTime ? a.end : out_.last;
    if (lanes.gpus == 0) {
      add_share(row, a, p, end);
      return;
    }
    for (std::uint64_t mask = p.gpu_mask; mask != 0;) {
      const int first = std::countr_zero(mask);
      const int n = std::countr_one(mask >> first);
      push(cluster, {row, static_cast<double>(lanes.first_lane) + first, static_cast<double>(n),
                     a.start, end});
      if (first + n >= 64) break;
      mask &= ~((std::uint64_t{1} << (first + n)) - 1);
    }
  }

  void add_share(std::uint32_t row, const AllocationRow& a, const Placement& p, SimTime end) {
    ClusterLanes& cluster = out_.clusters[a.cluster.index()];
    const ClusterModel& model = result_.scenario.model->clusters[a.cluster.index()];
    const auto cpus = static_cast<std::size_t>(std::max(1, model.node_class(p.node).cpus));
    const std::size_t slots = std::min(cpus, kNodeSlots);
    const std::size_t asked = (p.cpus * slots + cpus - 1) / cpus;
    const std::size_t n = std::clamp<std::size_t>(asked, 1, slots);
    const std::size_t at = slots_[a.cluster.index()][p.node.index()].take(n, a.start, end);
    const double share = 1.0 / static_cast<double>(slots);
    const double lane = static_cast<double>(cluster.nodes[p.node.index()].first_lane) +
                        static_cast<double>(std::min(at, slots - n)) * share;
    push(cluster, {row, lane, static_cast<double>(n) * share, a.start, end});
  }

  void push(ClusterLanes& cluster, const Bar& bar) {
    if (bars_n_ == kMaxBars) {
      ++out_.bars_left_out;
      return;
    }
    ++bars_n_;
    cluster.bars.push_back(bar);
  }

  const Result& result_;
  TimelineLayout& out_;
  std::vector<std::vector<NodeSlots>> slots_;
  std::size_t bars_n_ = 0;
};

// Overlapping waits go to the next row; what finds none lies over the last.
void add_marks(const Result& result, TimelineLayout& out) {
  std::vector<std::array<SimTime, kRecordRows>> busy(out.clusters.size());
  for (auto& rows : busy) rows.fill(kNoTime);
  // A mark has some width however short it is; that much must be free too.
  const Duration margin = (out.last - out.first) / 150;
  std::size_t n = 0;
  for (std::size_t i = 0; i < result.record_rows.size(); ++i) {
    const RecordRow& r = result.record_rows[i];
    if (r.state != RecordState::revoked || r.submit == kNoTime) continue;
    if (n++ >= kMaxRecordMarks) {
      ++out.marks_left_out;
      continue;
    }
    auto& rows = busy[r.cluster.index()];
    std::size_t row = 0;
    while (row + 1 < kRecordRows && rows[row] > r.submit) ++row;
    const SimTime end = r.end != kNoTime ? r.end : out.last;
    rows[row] = std::max(rows[row], std::max(end, r.submit + margin));
    ClusterLanes& cluster = out.clusters[r.cluster.index()];
    cluster.record_rows_n = std::max(cluster.record_rows_n, row + 1);
    cluster.marks.push_back({static_cast<std::uint32_t>(i), row, r.submit, end});
  }
}

void choose_span(const Result& result, TimelineLayout& out) {
  SimTime first = kEndOfTime;
  for (const RecordRow& r : result.record_rows) {
    if (r.submit != kNoTime) first = std::min(first, r.submit);
  }
  const Trace& trace = *result.scenario.trace;
  if (first == kEndOfTime) first = trace.t0;
  // A recording counts from t0: the axis starts there when the first job comes soon after it.
  const SimTime last = std::max(observed_end(result), first + kSecond);
  if (trace.relative_times && trace.t0 < first && first - trace.t0 < (last - first) / 4) {
    first = trace.t0;
  }
  out.first = first;
  out.last = last;
}

// What was cut would leave the right part of the picture empty.
void end_with_bars(TimelineLayout& out) {
  SimTime last = out.first + kSecond;
  for (const ClusterLanes& cluster : out.clusters) {
    for (const Bar& bar : cluster.bars) last = std::max(last, bar.end);
  }
  out.last = std::min(out.last, last);
}

std::string utc_text(SimTime at, std::int64_t step_s, bool several_days) {
  std::string iso;
  append_iso(iso, SimTime{Duration{floor_seconds(at) * kSecond.count()}});
  if (step_s >= 86400) return iso.substr(0, 10);
  const std::string clock = iso.substr(11, step_s < 60 ? 8 : 5);
  return several_days ? iso.substr(5, 5) + " " + clock : clock;
}

}  // namespace

TimelineLayout lay_out(const Result& result) {
  TimelineLayout out;
  choose_span(result, out);
  share_lanes(*result.scenario.model, out);
  BarMaker bars(result, out);
  for (std::size_t i = 0; i < result.allocation_rows.size(); ++i) {
    bars.add(static_cast<std::uint32_t>(i));
  }
  if (out.bars_left_out > 0) end_with_bars(out);
  add_marks(result, out);
  return out;
}

std::vector<Tick> time_ticks(SimTime first, SimTime last, std::size_t most, bool relative,
                             SimTime t0) {
  constexpr std::array<std::int64_t, 24> kSteps{
      1,    2,    5,     10,    15,    30,    60,     120,    300,     600,     900,     1800,
      3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000};
  const std::int64_t origin = relative ? t0.time_since_epoch().count() : 0;
  const std::int64_t from = first.time_since_epoch().count() - origin;
  const std::int64_t to = last.time_since_epoch().count() - origin;
  std::int64_t step = kSteps.back();
  for (const std::int64_t s : kSteps) {
    if ((to - from) / (s * kSecond.count()) <= static_cast<std::int64_t>(most)) {
      step = s;
      break;
    }
  }
  const std::int64_t step_ns = step * kSecond.count();
  const bool several_days = (to - from) / kSecond.count() > 86400;
  std::vector<Tick> out;
  std::int64_t at = from / step_ns * step_ns;
  if (at < from) at += step_ns;
  for (; at <= to && out.size() < 200; at += step_ns) {
    const SimTime t{Duration{origin + at}};
    out.push_back(
        {t, relative ? clock_text(at / kSecond.count()) : utc_text(t, step, several_days)});
  }
  return out;
}

}  // namespace fedsim
