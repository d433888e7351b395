// Generic resources of one job: the lists of --gres, --gpus and their relatives as one record per
// name and type, and the rules that tie them to tasks, nodes and sockets (22.05
// gres_job_state_validate; 2.3 and 13.2 of the semantics page "GRES validation").
//
// sbatch applies the rules to its own description and so does slurmctld to what it received.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "request/sbatch.hpp"

namespace fedsim {

/// What a job asks of one generic resource. 0 where nothing was said.
struct GresAsk {
  std::string name;
  std::string type;  ///< "" for any
  std::int64_t per_job = 0;
  std::int64_t per_node = 0;
  std::int64_t per_socket = 0;
  std::int64_t per_task = 0;
  std::int64_t cpus_per = 0;
  std::int64_t memory_per_mib = 0;
  std::int64_t tasks_per = kUnset;
  std::int64_t total = 0;  ///< most that the counts above are known to come to
};

enum class GresVerdict : std::uint8_t {
  ok,
  invalid,       ///< "Invalid generic resource (gres) specification"
  invalid_type,  ///< "Invalid GRES specification (with and without type identification)"
  unsupported,   ///< "Requested operation not supported on this system"
};

struct GresJob {
  std::vector<GresAsk> asks;
  GresVerdict verdict = GresVerdict::ok;
  std::vector<std::string> errors;  ///< Slurm's texts, in order, without the program's name
};

/// Reads the lists of `job` and applies the rules; counts that follow from them are set in `job`.
/// `in_controller` leaves out the one test that only the command makes.
GresJob validate_gres(JobDescription& job, const std::set<std::string>& gres_types, bool cons_tres,
                      bool in_controller);

/// Whether a list ("gres:gpu:a100:2,gres:shard:4") has the form that slurmctld accepts.
bool is_gres_list(const std::string& list, const std::set<std::string>& gres_types);

/// Slurm's text for a verdict; "" for ok.
const char* text_of(GresVerdict verdict);

}  // namespace fedsim
