// What one node can give to one job: its free cores, CPUs and devices, cut to what the job's task
// layout can use (22.05 select/cons_tres).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "model/hardware.hpp"
#include "select/ask.hpp"

namespace fedsim {

inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

/// Devices of one kind that a node offers, by the socket they are near.
struct DeviceOffer {
  std::size_t ask = 0;  ///< index of JobAsk::devices
  const GresHardware* hardware = nullptr;
  std::size_t gres = 0;  ///< index of NodeHardware::gres
  std::int64_t total = 0;
  std::int64_t anywhere = 0;  ///< near every socket alike
  std::int64_t most = 0;      ///< a job may get here; 0: no limit
  bool has_places = false;    ///< devices, not a count
  std::array<std::int64_t, kMostSockets> near{};
  std::uint64_t devices_anywhere = 0;
  std::array<std::uint64_t, kMostSockets> devices_near{};
};

struct NodeOffer {
  std::uint32_t node = 0;
  const NodeHardware* hardware = nullptr;
  const NodeUse* use = nullptr;
  CoreSet cores;
  CoreSet all_cores;  ///< before any attempt cut them
  std::int64_t cpus = 0;
  std::int64_t free_cpus = 0;  ///< before tasks were looked at (for least loaded nodes)
  std::int64_t gpus = 0;
  std::int64_t size = 0;         ///< CPUs and GPUs, by which nodes are left out
  std::int64_t least_cores = 0;  ///< that devices need under enforce-binding
  std::int64_t weight = 0;
  std::int64_t usable = 0;  ///< CPUs after the cut of this attempt
  std::vector<DeviceOffer> devices;
};

/// Whether use is looked at.
enum class Moment : std::uint8_t { now, ever };

/// Usable CPUs per core for the job.
std::int64_t cpus_per_core(const SelectRules& rules, const JobAsk& ask, const NodeHardware& node);

/// Least CPUs that the job's devices need on a node, and in all (--cpus-per-gpu).
struct DeviceCpus {
  std::int64_t per_node = 0;
  std::int64_t in_all = 0;
};
DeviceCpus cpus_for_devices(const JobAsk& ask, std::int64_t nodes, std::int64_t tasks);
/// The same before nodes are known: the least of them.
DeviceCpus cpus_for_devices(const JobAsk& ask);

/// What the node can give, or nothing. `cores` are those free for the job.
std::optional<NodeOffer> offer_of(const SelectRules& rules, const JobAsk& ask,
                                  const NodeHardware& node, const NodeUse& use, CoreSet cores,
                                  Moment moment);

/// Fills `out.devices`; false when the node lacks one kind. May take cores away that
/// enforce-binding leaves without devices. Sockets the devices need are added to `needed`.
bool offer_devices(const JobAsk& ask, Moment moment, NodeOffer& out, std::uint64_t& needed);

/// Takes away what CPUs and memory leave unusable; sets the GPUs of the offer. False: too little.
bool limit_devices(const JobAsk& ask, std::int64_t memory_mib, NodeOffer& out,
                   std::int64_t& near_gpus);

/// Cuts the offer to what tasks can use: `out.usable` and `out.cores`. `local_only` is Slurm's
/// first attempt, cores near the devices alone. `missing` is what --gpus still lacks, by ask.
void cut_to_tasks(const SelectRules& rules, const JobAsk& ask, bool local_only,
                  const std::vector<std::int64_t>& taken, NodeOffer& out);

}  // namespace fedsim
