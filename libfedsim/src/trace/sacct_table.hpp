// From the text of a sacct dump to rows of fields: header, delimiter, rows over several lines.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fedsim/trace.hpp"
#include "trace/input.hpp"

namespace fedsim::sacct {

/// Columns that the reader looks at; every other column is kept out of the way.
enum Column {
  kJobId, kJobIdRaw, kCluster, kPartition, kQos, kAccount, kUser, kState, kSubmit, kEligible,
  kStart, kEnd, kElapsed, kElapsedRaw, kTimelimit, kTimelimitRaw, kNCpus, kAllocCpus, kReqCpus,
  kNNodes, kAllocNodes, kReqNodes, kReqMem, kReqTres, kAllocTres, kReqGres, kAllocGres, kNodeList,
  kJobName, kTotalCpu, kCpuTimeRaw, kSuspended, kSubmitLine, kExitCode, kPriority, kConstraints,
  kColumns
};

/// One row's text. Views point into the input or the table's joined texts.
struct Row {
  int line = 0;
  std::vector<std::string_view> fields;
};

/// Rows of a dump and what was met on the way.
struct Table {
  std::vector<std::string> names;         ///< all columns, as named
  std::array<int, kColumns> index{};      ///< position of each known column, -1 when absent
  std::vector<Row> rows;
  std::size_t broken = 0;                 ///< rows that could not be recovered (each has a warning)
  std::size_t messages = 0;               ///< lines of sacct's own talk
  std::vector<Diagnostic> warnings;

  std::string_view get(const Row& row, Column column) const {
    const int i = index[column];
    return i < 0 ? std::string_view{} : row.fields[static_cast<std::size_t>(i)];
  }
  bool has(Column column) const { return index[column] >= 0; }
};

/// Reads the text. Throws InputError for what can't be a sacct -P dump (C055 fixed width, C056 no
/// header and no column names, C057 no job id column).
Table read_table(const Input& input, const ReadOptions& options);

/// True when the first line is a header of sacct -P or -p.
bool looks_like_header(std::string_view line);

/// The 26 columns of Open XDMoD's sacct call, for `--columns xdmod`.
extern const char* const kXdmodColumns;

/// True when a value may stand in a column of this name: times, numbers, states. Free text always.
bool plausible(std::string_view column, std::string_view value);
bool is_free_text(std::string_view column);

}  // namespace fedsim::sacct
