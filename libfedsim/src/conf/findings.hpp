// Where a finding is, and the one collector that every reader of this room adds to.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fedsim/error.hpp"

namespace fedsim::conf {

/// A line of a configuration file, with the Include that led there.
struct Place {
  std::string file;  ///< relative to the folder
  int line = 0;
  std::string via;  ///< "slurm.conf line 2", "" for the file itself
};

/// Collects diagnostics in the order in which they are found.
class Findings {
 public:
  struct Text {
    std::string message;
    std::string hint;
  };

  void error(const char* code, const Place& place, Text text) {
    add(Severity::error, code, place, std::move(text));
  }
  void warning(const char* code, const Place& place, Text text) {
    add(Severity::warning, code, place, std::move(text));
  }
  void note(const char* code, const Place& place, Text text) {
    add(Severity::note, code, place, std::move(text));
  }

  const std::vector<Diagnostic>& all() const { return all_; }
  std::vector<Diagnostic> take() { return std::move(all_); }

 private:
  void add(Severity severity, const char* code, const Place& place, Text text) {
    if (!place.via.empty()) text.message += " (included from " + place.via + ")";
    all_.push_back(
        {severity, code, place.file, place.line, std::move(text.message), std::move(text.hint)});
  }
  std::vector<Diagnostic> all_;
};

}  // namespace fedsim::conf
