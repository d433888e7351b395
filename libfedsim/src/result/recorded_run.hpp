// One recorded run of a scenario (runN/): what accounting saw, and what was refused.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace fedsim {

/// A record as either side states it; instants in seconds from t0.
struct ComparedRecord {
  std::string state;
  std::string nodes;
  std::string gpu_idx;
  std::optional<double> submit;
  std::optional<double> start;
  std::optional<double> end;
};

/// Label, array task, cluster.
using RecordKey = std::tuple<std::string, std::string, std::string>;

struct ComparedRun {
  std::vector<RecordKey> keys;  ///< in order of first appearance
  std::map<RecordKey, std::vector<ComparedRecord>> records;
  std::vector<std::string> refused_labels;     ///< in order of submission
  std::map<std::string, std::string> refused;  ///< label -> Slurm's text, "" when not recorded

  void add(const RecordKey& key, ComparedRecord record);
  void refuse(const std::string& label, const std::string& text);
};

/// Rows of a CSV file with a header, quoted as in RFC 4180. Throws FileError.
using CsvRow = std::map<std::string, std::string>;
std::vector<CsvRow> read_csv_file(const std::filesystem::path& path);

/// Reads expected.csv and commands.jsonl of a run folder. Throws FileError or InputError.
ComparedRun read_recorded_run(const std::filesystem::path& run);

/// Number of seconds, nullopt when empty.
std::optional<double> optional_seconds(const std::string& text);

}  // namespace fedsim
