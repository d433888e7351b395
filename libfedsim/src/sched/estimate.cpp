// Estimated starts: see estimate.hpp.
#include "sched/estimate.hpp"

#include "sched/admission.hpp"
#include "sched/will_run.hpp"

namespace fedsim {
namespace {

/// What waits before the job, as if the partition ran it one after the other on all its CPUs.
std::int64_t queue_penalty_s(const PassView& v, const StartQuestion& q) {
  const PartitionModel& part = v.model.partitions[q.partition.index()];
  std::int64_t cpus = 0;
  std::int64_t nodes = 0;
  for (std::size_t n = 0; n < v.model.nodes.size(); ++n) {
    if (!test_bit(part.nodes, n)) continue;
    cpus += v.model.node_class(NodeId{n}).cpus;
    ++nodes;
  }
  if (cpus == 0) return 0;
  std::int64_t cpu_minutes = 0;
  for (const QueueEntry& e : v.own().queue) {
    const RecordLive& live = v.state.records[e.record];
    if (!live.queued || e.partition != q.partition.index() || live.priority < q.priority) continue;
    const Demand& d = v.demand(e);
    const std::int64_t width =
        std::max<std::int64_t>(d.min_cpus, std::int64_t{d.min_nodes} * (cpus / nodes));
    const std::int64_t limit = v.limit_s(e);
    constexpr std::int64_t kYearMinutes = 365 * 24 * 60;
    cpu_minutes += width * (limit < 0 ? kYearMinutes : limit / 60);
  }
  return cpu_minutes / cpus * 60;
}

}  // namespace

std::int64_t estimate_start(const PassView& v, const StartQuestion& q) {
  const Demand& d = v.demands[q.demand];
  PassScratch& s = v.scratch;
  Bitmap open = v.own().pool.usable();
  and_into(open, d.request.nodes);
  s.job_nodes = open;
  std::int64_t start = v.now_s;
  if (!select_nodes(v.model, v.own().pool, d, s.job_nodes, s.select, s.shares)) {
    BackfillSettings set;
    set.resolution_s = std::max<std::int64_t>(v.model.scheduler.bf_resolution_s, 1);
    set.relevant = v.model.release >= SlurmRelease{25, 5};
    FreeBy free_by(v);
    const FreeBy::Shape shape = free_by.shape_of(q.demand);
    start = will_run(v, set, free_by, {d, shape, open, v.now_s, 0});
    if (start == kNever) return kNever;
  }
  return std::max(start, v.now_s) + queue_penalty_s(v, q);
}

}  // namespace fedsim
