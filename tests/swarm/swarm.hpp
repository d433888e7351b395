// A case of the swarm test: a federation, a trace with operations and faults, and run options, all
// drawn from one seed; and what is checked while and after it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "fedsim/simulation.hpp"
#include "fedsim/spec.hpp"
#include "fedsim/trace.hpp"

namespace fedsim::swarm {

/// Numbers of one part of a case. Parts have their own, so that a change of the generator of one
/// leaves the others as they were.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t part) : seed_(seed), part_(part) {}
  /// Uniform in 0..n-1.
  std::uint32_t below(std::uint32_t n) { return bounded(next(), n); }
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::uint32_t>(high - low + 1)));
  }
  bool percent(std::uint32_t p) { return below(100) < p; }
  double fraction() { return uniform(next()); }
  template <class T>
  T pick(const std::vector<T>& list) {
    return list[below(static_cast<std::uint32_t>(list.size()))];
  }

 private:
  std::uint64_t next() { return draw(seed_, Stream::sampling, part_, n_++); }
  std::uint64_t seed_;
  std::uint64_t part_;
  std::uint64_t n_ = 0;
};

struct Case {
  std::uint64_t seed = 0;
  FederationSpec spec;
  Trace trace;
  RunOptions options;
};

Case make_case(std::uint64_t seed);
/// The case for people: clusters, jobs and operations, one a line.
std::string describe(const Case& c);

struct CheckOptions {
  std::uint64_t audit_every = 0;  ///< 0: after each event of a small case, fewer of a large one
  bool story = false;             ///< keep the story as text
  bool strict = false;            ///< jobs left behind fail the run
};

/// What a run showed. Jobs left behind are not failures: Slurm leaves some behind, too.
struct RunReport {
  std::string failure;  ///< "" when all is well
  std::uint64_t events = 0;
  bool undisturbed = false;  ///< no fault, no change of members, nothing lost
  bool recovered = false;    ///< faults, all of them over at the end, and no message lost
  std::vector<std::string> left_behind;
  std::string story;
};
RunReport run_case(const Case& c, const CheckOptions& options);

/// A smaller case that fails in the same way: fewer operations, jobs and clusters, plainer jobs.
Case shrink(const Case& c, const CheckOptions& options);

}  // namespace fedsim::swarm
