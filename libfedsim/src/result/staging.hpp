// A copy of a recorded scenario that holds what one recorded run had as inputs, and no results.
#pragma once

#include <filesystem>

namespace fedsim {

/// Folder that is removed with its content at the end of its life.
class StagedScenario {
 public:
  /// `driven`: passes and submissions happen at their recorded instants. Throws FileError,
  /// InputError.
  StagedScenario(const std::filesystem::path& scenario, const std::filesystem::path& run,
                 bool driven);
  StagedScenario(const StagedScenario&) = delete;
  StagedScenario& operator=(const StagedScenario&) = delete;
  ~StagedScenario();

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path parent_;
  std::filesystem::path folder_;
};

}  // namespace fedsim
