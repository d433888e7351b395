// The grammar shared by slurm.conf, gres.conf and topology.conf: comments, continuation lines,
// Include, and lines of key=value pairs (slurm.conf(5), top of the page).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "conf/findings.hpp"

namespace fedsim::conf {

/// One key=value. `line` is where the value begins, which a continued line needs.
struct Pair {
  std::string key;
  std::string value;
  int line = 0;
};

/// The pairs of one record: a whole logical line, or one pair of a line of plain options.
struct Record {
  Place place;
  std::vector<Pair> pairs;

  /// The pair's own line in the record's file.
  Place at(const Pair& pair) const { return {place.file, pair.line, place.via}; }
};

/// What differs between the files.
struct FileGrammar {
  /// Keys that begin a record which takes the rest of its line ("NodeName"); a line that begins
  /// with any other key is cut into one record a pair.
  std::vector<std::string_view> record_keys;
  /// True: such a key inside another record means that a line end is missing before it.
  bool record_key_must_lead = true;
};

struct FileSource {
  std::filesystem::path folder;  ///< of slurm.conf; Include is relative to it
  std::string name;              ///< "slurm.conf"
};

/// What a file says, includes followed in place.
struct FileText {
  bool present = false;         ///< false: the file is not there
  bool include_failed = false;  ///< some Include could not be read: the rest is incomplete
  std::vector<Record> records;
};

/// Reads the file. A missing file is no finding; `present` says so. Throws FileError when it is
/// there but can't be read.
FileText read_conf_file(const FileSource& source, const FileGrammar& grammar, Findings& findings);

/// The same for text in memory (tests, fuzzing); Include is looked up in `source.folder`.
FileText read_conf_text(const std::string& text, const FileSource& source,
                        const FileGrammar& grammar, Findings& findings);

}  // namespace fedsim::conf
