// Values of sacct fields: TRES lists, memory requests, durations, states (sacct(1)).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace fedsim {

/// "cpu=8,gres/gpu=2,gres/gpu:a100=2,mem=32G,node=1". GPUs: the untyped entry is the total and
/// typed entries are its parts; what no type covers is under "".
struct Tres {
  bool given = false;                       ///< the field is not empty
  std::optional<std::int64_t> cpu, node, billing, energy;
  std::optional<double> mem_mib;
  std::int64_t gpus = 0;
  std::map<std::string, std::int64_t> gpu_types;
  bool readable = true;
};
Tres parse_tres(std::string_view text);

enum class MemoryPer { job, node, cpu };

/// ReqMem: value in MiB and its scope. `whole` is Slurm's 0n or 0c: all memory of the node.
struct MemoryRequest {
  double mib = 0;
  MemoryPer per = MemoryPer::job;
  bool whole = false;
};
/// "4Gc", "4Gn", "4G", "1.50G", "500"; nullopt for "" and for anything unreadable.
std::optional<MemoryRequest> parse_req_mem(std::string_view text);

/// Memory with unit K, M, G, T or P, decimals allowed; MiB when there is no unit.
std::optional<double> parse_memory_decimal(std::string_view text);

/// "[D-]HH:MM:SS[.fff]", "MM:SS[.fff]" or plain seconds; a leading minus is kept. Seconds; nullopt
/// above `most` (CPU seconds of a large job are more than any clock shows).
std::optional<double> parse_elapsed(std::string_view text, double most);

/// True for a state that sacct prints (base word).
bool is_known_state(std::string_view word);

}  // namespace fedsim
