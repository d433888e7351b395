// Scanning the Standard Workload Format (SWF 2.2): 18 numbers a line, comments start with ';'.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace fedsim::swf {

enum Field {
  kJob = 0, kSubmit, kWait, kRun, kAllocated, kCpuUsed, kMemUsed, kRequested, kRequestedTime,
  kRequestedMem, kStatus, kUser, kGroup, kApplication, kQueue, kPartition, kPreceding, kThinkTime,
  kFields
};

/// One data line. Missing trailing fields are -1, SWF's "not known".
struct Line {
  std::array<std::int64_t, kFields> value{};
  std::int64_t submit_ns = 0;  ///< fraction of a second of field 2
  std::int64_t run_ns = 0;     ///< fraction of a second of field 4
  int number = 0;              ///< 1-based line of the file
  int fields = 0;              ///< how many the line has
  bool readable = true;
};

/// Walks over the data lines of a text; header comments are collected on the way.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}
  /// The next data line; false at the end.
  bool next(Line& line);
  /// Value of a header comment seen so far ("; UnixStartTime: 123"), 0 when absent.
  std::int64_t header_number(std::string_view key) const;

 private:
  void comment(std::string_view line);
  std::string_view text_;
  std::size_t at_ = 0;
  int line_number_ = 0;
  std::string headers_;
};

}  // namespace fedsim::swf
