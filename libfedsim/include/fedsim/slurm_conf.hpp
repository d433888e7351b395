// Reading slurm.conf, gres.conf and topology.conf.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fedsim/spec.hpp"

namespace fedsim {

/// Reads CONFDIR/slurm.conf with its includes, gres.conf and topology.conf where present. Never
/// throws for what the files say: findings are in the result. Throws FileError when slurm.conf
/// itself can't be read.
ConfigResult read_config_folder(const std::filesystem::path& folder);

/// Reads several folders, in the order given, into one federation (federated when more than one).
/// Throws InputError with the findings of all folders when any has an error.
FederationSpec read_slurm_conf(
    const std::vector<std::pair<std::string, std::filesystem::path>>& folders);

enum class Coverage { modelled, simplified, ignored };

/// One row of the parameter table (`fedsim params`).
struct ParameterInfo {
  std::string file;   ///< "slurm.conf", "gres.conf", "topology.conf"
  std::string scope;  ///< "", "NodeName", "PartitionName", "SchedulerParameters", ...
  std::string key;    ///< Slurm's spelling
  Coverage coverage = Coverage::ignored;
  std::string note;  ///< one clause: what is modelled or left out
};

/// Every known key; one generated page of the docs and `fedsim params` print it.
const std::vector<ParameterInfo>& parameter_table();

/// Expands "n[1-3,7],x" in Slurm's order. Throws InputError (C020) on unbalanced or reversed
/// ranges.
std::vector<std::string> expand_hostlist(const std::string& text);

/// Compresses names to Slurm's form ("n[1-3,7]"), consecutive numbers of equal prefix and width
/// joined.
std::string compress_hostlist(const std::vector<std::string>& names);

}  // namespace fedsim
