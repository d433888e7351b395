// Accounting set-up of a recorded scenario: the sacctmgr commands of setup.jsonl.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fedsim/error.hpp"
#include "fedsim/verdict.hpp"

namespace fedsim {

/// What the commands established, as far as it is modelled.
struct AccountingSetup {
  std::string federation;                        ///< its name
  std::vector<std::string> federation_clusters;  ///< in order of federation ids
  std::map<std::string, std::vector<std::string>> cluster_features;
  std::map<std::string, std::string> default_account;  ///< by user
  Accounting accounting;
  /// Settings that only count with priority/multifactor ("qos high priority=100").
  std::vector<std::string> priority_settings;
  /// Settings that influence scheduling and are not modelled ("qos low PreemptMode=CANCEL").
  std::vector<std::string> not_modelled;
};

/// Reads the file; missing is empty. Damaged lines and unknown commands go to `diagnostics`.
AccountingSetup read_accounting_setup(const std::filesystem::path& file,
                                      std::vector<Diagnostic>& diagnostics);

}  // namespace fedsim
