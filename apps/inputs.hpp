// From command-line words to a scenario that can run: recorded folders, clusters, machines, traces,
// --set.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "command.hpp"
#include "fedsim/result.hpp"
#include "fedsim/simulation.hpp"

namespace fedsim::apps {

/// What the user wrote, as it stands.
struct StudyFlags {
  std::string study;
  std::vector<std::string> clusters;  ///< NAME=CONFDIR
  std::string machine;                ///< NODESxUNITS
  std::vector<std::string> traces;    ///< FILE or CLUSTER=FILE
  std::string from, delimiter, columns, zone;
  std::string fidelity = "slurm";
  std::string policy;
  std::vector<std::string> sets;  ///< KEY=VALUE
  std::string horizon;
  std::vector<std::string> faults;
};

/// Declares the options above on a command.
void add_study_flags(CLI::App& command, StudyFlags& flags);

/// A scenario ready to run, and what went into it.
struct Study {
  std::string name;
  Scenario scenario;
  std::map<std::string, std::string> inputs;  ///< name -> path, for the manifest's hashes
  std::vector<Diagnostic> warnings;
};

/// Reads everything that the flags name. Throws InputError or FileError.
Study build_study(const StudyFlags& flags, const Context& context);

/// The cluster of one "NAME=CONFDIR". Throws InputError or FileError.
ClusterSpec read_cluster(const std::string& word);

/// "80ms", "5s", "2m", "3h", "1d", a number of seconds, or [D-]HH:MM:SS. Throws InputError (C134)
/// naming `option`.
Duration parse_duration(const std::string& text, const std::string& option);

/// Polls Ctrl-C, and shows how far the run is when stderr is a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(const Context& context) : shown_(progress_wanted(context)) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }
  /// False once the user asked to stop.
  bool operator()(const Progress& progress);
  void clear();

 private:
  bool shown_;
  bool drawn_ = false;
};

/// Warnings on stderr, the first `most` of them, not under --quiet. Notes are for the manifest
/// only.
void say_warnings(const Context& context, const std::vector<Diagnostic>& warnings,
                  std::size_t most);

/// Columns as wide as their longest cell; `right` marks columns of numbers. First row is the
/// header.
std::string text_table(const std::vector<std::vector<std::string>>& rows,
                       const std::vector<bool>& right);

/// "1.5", "72.6": at most `digits` decimals, no trailing zeros.
std::string short_number(double value, int digits);

/// Slurm's form of a length: "0:31", "2:00:00", "1-00:00:00".
std::string clock_text(double seconds);

}  // namespace fedsim::apps
