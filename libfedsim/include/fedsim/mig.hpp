// Multi-Instance GPU: which instances a GPU can be cut into, and how many GPUs a demand needs.
//
// Geometry: NVIDIA MIG User Guide, "Supported MIG Profiles", and `nvidia-smi mig -lgip`, `-lgipp`.
// Seven compute slices and eight memory slices a GPU; an instance takes a run of memory slices at
// one of the starts of its profile.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fedsim {

/// One kind of instance. Sizes that the sources don't print are 0.
struct MigProfile {
  std::string name;  ///< "3g.20gb"
  int id = 0;        ///< of `nvidia-smi mig -cgi`
  int compute_slices = 0;
  int memory_slices = 0;
  int max_instances = 0;    ///< on one GPU
  std::vector<int> starts;  ///< first memory slice
  std::int64_t memory_mib = 0;
  int sm_count = 0;
  int copy_engines = 0;

  /// The extra media engines: "1g.5gb+me".
  bool media() const { return name.ends_with("+me"); }
};

struct MigGpu {
  static constexpr int kComputeSlices = 7;
  static constexpr int kMemorySlices = 8;
  std::string name;  ///< "A100-40GB"
  std::vector<MigProfile> profiles;

  /// By name, or by its compute slices alone ("3g": the largest without media engines that has so
  /// many). nullptr: there is none.
  const MigProfile* find(const std::string& profile) const;
};

/// GPUs with MIG that are known.
const std::vector<MigGpu>& mig_gpus();

/// By name, in any case, with or without "GB" and with "_" for "-"; a name that begins one only
/// ("h200"). nullptr: there is none.
const MigGpu* find_mig_gpu(const std::string& name);

/// One instance and its first memory slice.
struct MigPlacement {
  const MigProfile* profile = nullptr;
  int start = 0;
};

struct MigFit {
  bool fits = false;
  std::vector<MigPlacement> instances;  ///< by start
  std::string reason;                   ///< why not
};

/// Whether one GPU can hold the instances together. Exact; O(starts^instances), at most 7 of them.
MigFit mig_fit(const std::vector<const MigProfile*>& instances);

struct MigPlan {
  std::vector<std::vector<MigPlacement>> gpus;
  std::size_t at_least = 0;  ///< no plan needs fewer GPUs; equal to gpus.size() when proven
};

/// Layouts for a demand of (profile, count) on as few GPUs as found: exact for small demands, first
/// fit decreasing beyond. A profile fits a GPU alone, so there always is a plan.
MigPlan mig_plan(const std::vector<std::pair<const MigProfile*, int>>& demand);

}  // namespace fedsim
