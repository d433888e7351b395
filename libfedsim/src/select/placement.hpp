// Where one job goes: nodes, cores, memory and devices (22.05 select/cons_tres job_test).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "select/choose.hpp"
#include "select/offer_cache.hpp"

namespace fedsim {

/// Devices of one kind that a job holds on a node.
struct DevicePick {
  std::size_t gres = 0;  ///< index of NodeHardware::gres
  std::size_t ask = 0;   ///< index of JobAsk::devices
  std::uint64_t devices = 0;
  std::int64_t count = 0;  ///< devices, parts of the one device, or a mere count
};

struct NodePlacement {
  std::uint32_t node = 0;
  CoreSet cores;
  std::int64_t cpus = 0;
  std::int64_t tasks = 0;
  std::int64_t memory_mib = 0;
  std::vector<DevicePick> devices;
};

/// In node order.
using NodePlacements = std::vector<NodePlacement>;

/// What a selection looks at beside the job.
struct SelectView {
  const ClusterHardware& hardware;
  const std::vector<NodeUse>& use;
  /// Where offers are kept, the states of the nodes they are kept by, and whose they are: nullptr,
  /// nullptr and 0 where none are.
  OfferCache* cache = nullptr;
  const std::vector<std::uint64_t>* states = nullptr;
  std::uint32_t request = 0;
};

/// Nodes, cores, memory and devices for the job among `candidates`, or nothing when it does not fit
/// now. O(candidates log candidates), and once more for each size that is left out.
std::optional<NodePlacements> place_job(const SelectView& view, const SelectRules& rules,
                                        JobAsk ask, const Bitmap& candidates);

/// Nodes that would do if nothing ran, or nothing (Slurm: SELECT_MODE_TEST_ONLY).
std::optional<std::vector<std::uint32_t>> nodes_when_idle(const SelectView& view,
                                                          const SelectRules& rules, JobAsk ask,
                                                          const Bitmap& candidates);

/// Tasks and cores on the nodes of `offers` (Slurm: dist_tasks). False when tasks and cores can't
/// be brought together.
bool lay_out(const SelectRules& rules, const JobAsk& ask, const std::vector<NodeOffer*>& offers,
             NodePlacements& out);

/// The devices of the placement (Slurm: gres_select_filter_select_and_set). False: too few.
bool pick_devices(const JobAsk& ask, const std::vector<NodeOffer*>& offers, NodePlacements& out);

}  // namespace fedsim
