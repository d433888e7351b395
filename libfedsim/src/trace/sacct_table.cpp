// Rows of a sacct dump: finds header and delimiter, joins rows that go over several lines, and puts
// fields with stray delimiters together again, or reports the row. Nothing is dropped in silence.
#include "trace/sacct_table.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "trace/tres.hpp"

namespace fedsim::sacct {
namespace {

constexpr std::string_view kColumnNames[kColumns] = {
    "JobID",      "JobIDRaw",  "Cluster",    "Partition",   "QOS",        "Account",  "User",
    "State",      "Submit",    "Eligible",   "Start",       "End",        "Elapsed",  "ElapsedRaw",
    "Timelimit",  "TimelimitRaw", "NCPUS",   "AllocCPUS",   "ReqCPUS",    "NNodes",   "AllocNodes",
    "ReqNodes",   "ReqMem",    "ReqTRES",    "AllocTRES",   "ReqGRES",    "AllocGRES", "NodeList",
    "JobName",    "TotalCPU",  "CPUTimeRAW", "Suspended",   "SubmitLine", "ExitCode", "Priority",
    "Constraints"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

// sacct and slurm library messages that a redirection put among the rows.
bool is_message(std::string_view line) {
  return line.starts_with("sacct: ") || line.starts_with("slurm_") ||
         line.starts_with("sacct_") || line.starts_with("srun: ");
}

std::vector<std::string_view> split_by(std::string_view text, std::string_view delimiter) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t at = text.find(delimiter);
    fields.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return fields;
    text.remove_prefix(at + delimiter.size());
  }
}

// Where a whole word JobID or JobIDRaw stands in `line`.
std::optional<std::pair<std::size_t, std::size_t>> find_job_id(std::string_view line) {
  for (std::size_t at = 0; at + 5 <= line.size(); ++at) {
    if (!iequals(line.substr(at, 5), "JobID")) continue;
    if (at > 0 && is_word(line[at - 1])) continue;
    const std::size_t length = istarts_with(line.substr(at), "JobIDRaw") ? 8 : 5;
    if (at + length < line.size() && is_word(line[at + length])) continue;
    return std::pair{at, length};
  }
  return std::nullopt;
}

// What stands between the column names of a header.
std::string delimiter_of(std::string_view header) {
  const auto id = find_job_id(header);
  if (!id) return "|";
  std::size_t begin = id->first + id->second;
  std::size_t end = begin;
  while (end < header.size() && !is_word(header[end])) ++end;
  if (end == begin || end == header.size()) {
    if (id->first == 0) return end == begin ? "|" : std::string(header.substr(begin, end - begin));
    end = begin = id->first;
    while (begin > 0 && !is_word(header[begin - 1])) --begin;
  }
  return std::string(header.substr(begin, end - begin));
}

bool is_rule(std::string_view line) {
  return line.find("---") != std::string_view::npos &&
         line.find_first_not_of("- ") == std::string_view::npos;
}

[[noreturn]] void refuse(const Input& input, int line, const char* code, std::string message,
                         std::string hint) {
  throw InputError({Severity::error, code, input.name, line, std::move(message), std::move(hint)});
}

class TableReader {
 public:
  TableReader(const Input& input, const ReadOptions& options) : input_(input), options_(options) {}

  Table read() {
    table_.index.fill(-1);
    std::size_t at = 0;
    int number = 0;
    while (at < input_.text.size()) {
      std::size_t end = input_.text.find('\n', at);
      if (end == std::string::npos) end = input_.text.size();
      line_begin_ = at;
      std::string_view line = std::string_view(input_.text).substr(at, end - at);
      at = end + 1;
      ++number;
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      take(line, number);
    }
    flush();
    if (table_.names.empty() && table_.messages > 0) {
      refuse(input_, 0, "C056", "no rows, only messages of sacct", table_.warnings[0].message);
    }
    return std::move(table_);
  }

 private:
  void warn(int line, std::string message, std::string hint = "") {
    table_.warnings.push_back(
        {Severity::warning, "C058", input_.name, line, std::move(message), std::move(hint)});
  }

  void take(std::string_view line, int number) {
    if (trim(line).empty()) return;
    if (is_message(line)) {
      ++table_.messages;
      const bool fatal = line.find("fatal") != std::string_view::npos ||
                         line.find("error") != std::string_view::npos;
      return warn(number, "message of sacct, not a row: " + std::string(line.substr(0, 200)),
                  fatal ? "the dump may be incomplete: run it again with 2> kept apart" : "");
    }
    if (table_.names.empty() && begin_table(line, number)) return;
    if (line == header_) return;  // dumps were concatenated
    if (is_rule(line)) fixed_width(number);
    take_row(line, number);
  }

  [[noreturn]] void fixed_width(int number) {
    refuse(input_, number, "C055",
           "fixed-width output of sacct: values are cut with \"+\" and can't be restored",
           "dump again with sacct -P (--parsable2)");
  }

  // Columns from the header or the options. True when `line` was the header.
  bool begin_table(std::string_view line, int number) {
    const bool header = looks_like_header(line);
    if (!header && options_.columns.empty()) {
      refuse(input_, number, "C056", "no header row: the columns are not known",
             "name them with --columns JobID,State,... (--columns xdmod for Open XDMoD's 26)");
    }
    delimiter_ = options_.delimiter;
    if (delimiter_.empty()) delimiter_ = header ? delimiter_of(line) : "|";
    if (options_.delimiter.empty() && trim(delimiter_).empty() && delimiter_ != "\t") {
      fixed_width(number);
    }
    if (header) {
      header_ = line;
      trailing_ = line.ends_with(delimiter_);
      if (trailing_) line.remove_suffix(delimiter_.size());
      for (const std::string_view name : split_by(line, delimiter_)) {
        table_.names.emplace_back(trim(name));
      }
    } else {
      const bool xdmod = iequals(options_.columns, "xdmod");
      table_.names = split_list(xdmod ? kXdmodColumns : options_.columns);
    }
    index_columns(number);
    return header;
  }

  void index_columns(int number) {
    for (std::size_t i = 0; i < table_.names.size(); ++i) {
      // "JobName%40" is what sacct -o was given, the header has the bare name; accept both.
      const std::string name = table_.names[i].substr(0, table_.names[i].find('%'));
      for (std::size_t c = 0; c < kColumns; ++c) {
        if (table_.index[c] < 0 && iequals(name, kColumnNames[c])) {
          table_.index[c] = static_cast<int>(i);
        }
      }
    }
    if (!table_.has(kJobId) && !table_.has(kJobIdRaw)) {
      refuse(input_, number, "C057", "no column JobID or JobIDRaw", "add JobID to sacct --format");
    }
    last_is_free_ = is_free_text(table_.names.back());
    starts_with_id_ = table_.index[kJobId] == 0 || table_.index[kJobIdRaw] == 0;
  }

  bool starts_row(std::string_view line) const {
    const std::string_view first = line.substr(0, line.find(delimiter_));
    if (!starts_with_id_) return pending_line_ == 0 || pending_fields() >= columns_n();
    return first.size() < line.size() + (columns_n() == 1) && plausible("JobID", first);
  }

  std::size_t columns_n() const { return table_.names.size(); }

  std::string_view pending() const {
    return std::string_view(input_.text).substr(pending_begin_, pending_end_ - pending_begin_);
  }

  std::size_t pending_fields() const { return split_by(pending(), delimiter_).size(); }

  void take_row(std::string_view line, int number) {
    const std::size_t end = line_begin_ + line.size();
    if (starts_row(line)) {
      flush();
      pending_line_ = number;
      pending_begin_ = line_begin_;
      pending_end_ = end;
      return;
    }
    const bool open = pending_line_ > 0 && (pending_fields() < columns_n() || last_is_free_);
    if (open) {
      pending_end_ = end;  // the line break belongs to a name or command line
      return;
    }
    ++table_.broken;
    warn(number, "no row of this dump: \"" + std::string(line.substr(0, 60)) + "\"",
         "a row starts with a job id");
  }

  void flush() {
    if (pending_line_ == 0) return;
    std::string_view text = pending();
    if (trailing_ && text.ends_with(delimiter_)) text.remove_suffix(delimiter_.size());
    Row row{pending_line_, split_by(text, delimiter_)};
    const std::size_t n = row.fields.size();
    if (n == columns_n() + 1 && row.fields.back().empty() && !last_is_free_) row.fields.pop_back();
    pending_line_ = 0;
    if (row.fields.size() > columns_n() && !recover(row)) row.fields.clear();
    if (row.fields.size() == columns_n()) {
      table_.rows.push_back(std::move(row));
      return;
    }
    ++table_.broken;
    warn(row.line,
         std::to_string(n) + " fields, " + std::to_string(columns_n()) + " expected: row left out",
         "put JobName last in --format, or dump with --delimiter and a rare text");
  }

  // Too many fields: some free text holds the delimiter. Which one is found by trying: the columns
  // behind it must still look like what they are.
  bool recover(Row& row) const {
    const std::size_t surplus = row.fields.size() - columns_n();
    for (std::size_t i = columns_n(); i-- > 0;) {
      if (!is_free_text(table_.names[i])) continue;
      std::vector<std::string_view> fields(row.fields.begin(),
                                           row.fields.begin() + static_cast<std::ptrdiff_t>(i));
      const std::string_view first = row.fields[i];
      const std::string_view last = row.fields[i + surplus];
      fields.emplace_back(first.data(),
                          static_cast<std::size_t>(last.data() + last.size() - first.data()));
      fields.insert(fields.end(),
                    row.fields.begin() + static_cast<std::ptrdiff_t>(i + surplus + 1),
                    row.fields.end());
      if (!all_plausible(fields)) continue;
      row.fields = std::move(fields);
      return true;
    }
    return false;
  }

  bool all_plausible(const std::vector<std::string_view>& fields) const {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (!plausible(table_.names[i], fields[i])) return false;
    }
    return true;
  }

  const Input& input_;
  const ReadOptions& options_;
  Table table_;
  std::string delimiter_;
  std::string header_;
  bool trailing_ = false;
  bool last_is_free_ = false;
  bool starts_with_id_ = false;
  std::size_t line_begin_ = 0;
  int pending_line_ = 0;
  std::size_t pending_begin_ = 0;
  std::size_t pending_end_ = 0;
};

}  // namespace

bool looks_like_header(std::string_view line) {
  return !line.empty() && !is_digit(line[0]) && find_job_id(line).has_value();
}

Table read_table(const Input& input, const ReadOptions& options) {
  return TableReader(input, options).read();
}

}  // namespace fedsim::sacct
