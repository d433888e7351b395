// Where a job would start on partly held nodes: which nodes, CPUs, memory and devices, as
// `scontrol -d show job` gives them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fedsim/verdict.hpp"

namespace fedsim {

/// What a job holds on nodes where that is the same (`scontrol -d show job`, one line).
struct HeldNodes {
  std::string nodes;    ///< host list
  std::string cpu_ids;  ///< Slurm's abstract CPUs: with two threads core k is 2k and 2k+1
  std::int64_t memory_mib = 0;
  std::string gres;  ///< "gpu:a100:3(IDX:0-2)"
};

/// A running job: its options, which say partition and sharing, and what it holds.
struct HeldJob {
  std::vector<std::string> options;
  std::vector<HeldNodes> nodes;
};

struct PlaceAnswer {
  Verdict verdict;  ///< of the submission; a refused job is not placed
  bool started = false;
  std::string nodelist;
  std::vector<HeldNodes> held;
  std::string reason;  ///< to wait, in Slurm's word
};

/// A cluster that is asked where jobs would go. Answers depend on nothing but the arguments.
class PlaceDesk {
 public:
  PlaceDesk(const ClusterSpec& cluster, const Accounting& accounting);
  ~PlaceDesk();
  PlaceDesk(const PlaceDesk&) = delete;
  PlaceDesk& operator=(const PlaceDesk&) = delete;

  /// Replaces what is held. Throws InputError for unknown nodes and devices.
  void occupy(const std::vector<HeldJob>& jobs);
  /// `options` is what stands after "sbatch"; partitions are tried by PriorityTier. Rules: 22.05,
  /// select/cons_tres.
  PlaceAnswer place(const std::vector<std::string>& options, const std::string& user,
                    std::int64_t now_s) const;

 private:
  class Desk;
  std::unique_ptr<Desk> desk_;
};

}  // namespace fedsim
