// Dependencies (sbatch(1), --dependency) in a federation: semantics 1.10, 9.5; recordings 05c, 15.
//
// A dependent job waits at its origin alone. What depends on a job of the same origin is tested
// whenever the origin's passes look at the queue; what depends on another origin's job is tested
// there, every 30 s, and the answer travels. A singleton needs every member's answer.
#pragma once

#include "fed/context.hpp"

namespace fedsim {

/// Reads "afterok:{A}:{B},singleton" or with '?' between. `error` says what is wrong.
DependencyList parse_dependency(std::string_view text, std::string& error);

/// True when the job has to wait; it is then listed among the dependents of its origin.
bool must_wait(const Context& ctx, JobId job);
/// Before a pass: dependents of `cluster` whose conditions are met are queued. Returns the earliest
/// instant at which one is met by time alone, INT64_MAX seconds when there is none.
std::int64_t clear_dependencies(const Context& ctx, ClusterId cluster);
/// Something happened: dependents are worth another look.
void wake_dependents(const Context& ctx);
/// The 30 s test of other origins' dependents on `cluster`.
void test_remote_dependencies(const Context& ctx, ClusterId cluster);
/// Another cluster's answer on condition `which` of the job.
void on_dependency_result(const Context& ctx, JobId job, ClusterId from, std::uint32_t which);
bool is_dependent(const SimState& state, JobId job);

}  // namespace fedsim
