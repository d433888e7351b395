// Recorded scenarios: a folder with scenario.json, clusters/NAME/ and setup.jsonl (contract,
// section 5).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fedsim/simulation.hpp"

namespace fedsim {

/// What a recorded scenario folder says, before compile().
struct RecordedScenario {
  std::string name;
  std::string description;
  FederationSpec spec;
  Trace trace;
  RunOptions options;  ///< controller_start, driven, horizon from the folder
  std::vector<Diagnostic> warnings;
};

/// Reads a folder; never looks at what happened (runN/ except meta.json and passes.csv of run1).
/// Throws FileError, or InputError with all findings; an operation or option that is not modelled
/// is one.
RecordedScenario read_scenario(const std::filesystem::path& folder);

/// True when `folder` holds a scenario.json.
bool is_recorded_scenario(const std::filesystem::path& folder);

/// Share of records that match, of one recorded run (same rules as a record-by-record comparison of
/// state, node list, GPU indices and start within `tolerance`).
struct VerifyRow {
  std::string scenario;
  std::string run;
  std::size_t records = 0;
  std::size_t all = 0, state = 0, nodes = 0, gpus = 0, start = 0, extra = 0;
  std::vector<std::string> differences;  ///< one readable line per record that does not match
  std::string failure;                   ///< why nothing could be simulated; "" when it was
};

struct VerifyOptions {
  Duration tolerance = 3 * kSecond;  ///< largest distance of two starts that still match
  /// The controllers' passes and the submissions at their recorded instants: decisions alone are
  /// compared.
  bool driven = false;
  std::uint64_t seed = 0;
  std::function<bool(const Progress&)> progress;  ///< as RunOptions::progress
};
/// A scenario that is not modelled gives a row in which nothing matches, with the reason. Throws
/// FileError where the recording can't be read.
VerifyRow verify_run(const std::filesystem::path& scenario, const std::filesystem::path& run,
                     const VerifyOptions& options);

/// How far two recorded runs of one scenario agree: real Slurm against itself.
VerifyRow compare_recordings(const std::filesystem::path& run, const std::filesystem::path& other,
                             Duration tolerance);

}  // namespace fedsim
