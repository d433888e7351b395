// What sbatch and slurmctld say to a submission, without running it: accepted and waiting, accepted
// although it can't run as things are, or refused, in Slurm's own words.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fedsim/spec.hpp"

namespace fedsim {

/// Users, accounts and QOS as sacctmgr set them up.
struct Accounting {
  struct User {
    std::vector<std::string> accounts;  ///< first is the default
    std::vector<std::string> qos;       ///< empty: "normal"
    std::string default_qos;
  };
  struct Qos {
    std::map<std::string, std::int64_t> max_tres_per_job;  ///< "cpu", "gres/gpu", "mem" (MiB) ...
    std::int64_t max_wall_s = kUnset;
    bool deny_on_limit = false;
  };
  std::map<std::string, User> users;
  std::set<std::string> accounts;
  std::map<std::string, Qos> qos{{"normal", {}}};

  bool empty() const { return users.empty() && accounts.empty(); }
};

/// Reads a JSONL of sacctmgr commands (`argv`, `rc`). Throws InputError.
Accounting read_accounting(const std::filesystem::path& file);

/// The answer to one submission.
struct Verdict {
  int exit_code = 0;               ///< of sbatch
  std::vector<std::string> lines;  ///< what sbatch prints on stderr, in order
  /// For accepted jobs: fields of `scontrol show job` under their names, every node being busy.
  std::vector<std::pair<std::string, std::string>> fields;

  bool accepted() const { return exit_code == 0; }
  /// Value of a field, "" when there is none.
  const std::string& field(const std::string& name) const;
};

/// A cluster that is asked about submissions. Answers depend on nothing but the arguments.
class SubmissionDesk {
 public:
  SubmissionDesk(const ClusterSpec& cluster, const Accounting& accounting);
  ~SubmissionDesk();
  SubmissionDesk(const SubmissionDesk&) = delete;
  SubmissionDesk& operator=(const SubmissionDesk&) = delete;

  /// `options` is what stands after "sbatch"; `now_s` the wall clock (UTC) for --begin. Rules:
  /// 22.05, sbatch(1), slurm.conf(5); order of the tests and texts as recorded on real Slurm.
  Verdict judge(const std::vector<std::string>& options, const std::string& user, bool held,
                std::int64_t now_s) const;

 private:
  class Desk;
  std::unique_ptr<const Desk> desk_;
};

}  // namespace fedsim
