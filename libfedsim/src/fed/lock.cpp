// The start lock at the origin, fed_mgr_job_lock: semantics 1.6 points 1 to 3.
#include "fed/context.hpp"

namespace fedsim {

bool ask_lock(const Context& ctx, ClusterId cluster, JobId job) {
  JobLive& live = ctx.state.jobs[job.index()];
  if (!ctx.model.federated) return true;
  const auto me = static_cast<std::uint8_t>(cluster.index());
  const bool busy = live.lock_busy_until != kNoTime && ctx.state.now < live.lock_busy_until &&
                    live.lock_asker != me;
  if (busy || (live.lock != JobLive::kFree && live.lock != me)) {
    tell(ctx, StoryKind::lock_denied, cluster, job, ctx.state.job_rows[job.index()].origin);
    return false;
  }
  live.lock = me;
  live.lock_asker = me;
  tell(ctx, StoryKind::lock, cluster, job, ctx.state.job_rows[job.index()].origin);
  return true;
}

void give_lock_back(const Context& ctx, ClusterId cluster, JobId job) {
  if (!ctx.model.federated) return;
  JobLive& live = ctx.state.jobs[job.index()];
  if (live.lock != cluster.index()) return;
  live.lock = JobLive::kFree;
  // Lock and unlock travel to the origin and back; the origin itself holds the lock for no time.
  const bool remote = ctx.state.job_rows[job.index()].origin != cluster;
  live.lock_busy_until =
      remote && ctx.slurm() ? ctx.state.now + ctx.model.latency.lock_round_trip : kNoTime;
}

}  // namespace fedsim
