// The grammar of Slurm's configuration files: see conf/lines.hpp.
//
// As in Slurm: a comment is cut off before the test for a continuation, so a comment line inside
// a continued line ends it; continued lines are joined without a blank; "\#" is a literal "#".
#include "conf/lines.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/text.hpp"

namespace fedsim::conf {

namespace {

namespace fs = std::filesystem;

/// A logical line: its text and, per character, the physical line it stands on.
struct LogicalLine {
  std::string text;
  std::vector<int> line_of;
  int first_line = 0;

  void append(std::string_view piece, int line) {
    if (line_of.empty()) first_line = line;
    text += piece;
    line_of.resize(text.size(), line);
  }
  int line_at(std::size_t i) const { return i < line_of.size() ? line_of[i] : first_line; }
};

/// Length of the run of backslashes that ends at `end`.
std::size_t backslashes_before(std::string_view text, std::size_t end) {
  std::size_t n = 0;
  while (n < end && text[end - 1 - n] == '\\') ++n;
  return n;
}

std::string_view without_comment(std::string_view text) {
  for (std::size_t i = text.find('#'); i != std::string_view::npos; i = text.find('#', i + 1)) {
    if (backslashes_before(text, i) % 2 == 0) return text.substr(0, i);
  }
  return text;
}

/// "\x" stands for x.
std::string without_escapes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

/// Cuts text into logical lines; empty ones are left out.
std::vector<LogicalLine> logical_lines(std::string_view text) {
  std::vector<LogicalLine> lines;
  LogicalLine current;
  int number = 0;
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);  // byte order mark
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    line = without_comment(line);
    while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
    const bool continued = backslashes_before(line, line.size()) % 2 == 1 && !text.empty();
    if (continued) line.remove_suffix(1);
    current.append(without_escapes(line), number);
    if (continued) continue;
    if (!trim(current.text).empty()) lines.push_back(std::move(current));
    current = LogicalLine{};
  }
  if (!trim(current.text).empty()) lines.push_back(std::move(current));
  return lines;
}

bool is_key_char(char c) {
  return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '_' || c == '.';
}

/// Takes key=value pairs off one logical line.
class PairScanner {
 public:
  explicit PairScanner(const LogicalLine& line) : line_(line) { skip_spaces(); }

  bool at_end() const { return pos_ >= line_.text.size(); }
  std::string_view rest() const { return std::string_view(line_.text).substr(pos_); }
  int line() const { return line_.line_at(pos_); }

  /// The next pair; nullopt when the text here is none, and then the position stays.
  std::optional<Pair> next() {
    const std::string_view text = line_.text;
    std::size_t i = pos_;
    while (i < text.size() && is_key_char(text[i])) ++i;
    Pair pair;
    pair.key = text.substr(pos_, i - pos_);
    i = skip_spaces_from(i);
    if (i < text.size() && std::string_view("+-*/").find(text[i]) != std::string_view::npos) ++i;
    if (pair.key.empty() || i >= text.size() || text[i] != '=') return std::nullopt;
    i = skip_spaces_from(i + 1);
    if (i >= text.size()) return std::nullopt;
    pair.line = line_.line_at(i);
    value_begin_ = i;
    value_end_ = quoted_end(i);
    quoted_ = value_end_ != std::string_view::npos;
    if (quoted_) {
      pair.value = text.substr(i + 1, value_end_ - i - 2);
    } else {
      value_end_ = i;
      while (value_end_ < text.size() && !is_space(text[value_end_])) ++value_end_;
      pair.value = text.substr(i, value_end_ - i);
    }
    pos_ = value_end_;
    skip_spaces();
    return pair;
  }

  bool quoted() const { return quoted_; }
  /// Goes back into the last value, to `offset` characters after its begin.
  void rewind_to(std::size_t offset) { pos_ = value_begin_ + offset; }

 private:
  std::size_t skip_spaces_from(std::size_t i) const {
    while (i < line_.text.size() && is_space(line_.text[i])) ++i;
    return i;
  }
  void skip_spaces() { pos_ = skip_spaces_from(pos_); }

  /// One past the closing quote of a quoted value at `i`, npos when it is none.
  std::size_t quoted_end(std::size_t i) const {
    const std::string& text = line_.text;
    if (text[i] != '"') return std::string::npos;
    const std::size_t close = text.find('"', i + 1);
    if (close == std::string::npos) return close;
    const bool ends = close + 1 == text.size() || is_space(text[close + 1]);
    return ends ? close + 1 : std::string::npos;
  }

  const LogicalLine& line_;
  std::size_t pos_ = 0;
  std::size_t value_begin_ = 0;
  std::size_t value_end_ = 0;
  bool quoted_ = false;
};

/// Reads one file and, inside it, what it includes.
class FileReader {
 public:
  FileReader(const FileSource& source, const FileGrammar& grammar, Findings& findings)
      : folder_(source.folder), grammar_(grammar), findings_(findings) {}

  void read(const std::string& text, const std::string& name, const std::string& via) {
    for (const LogicalLine& line : logical_lines(text)) {
      const Place place{name, line.first_line, via};
      if (!read_include(line, place)) read_pairs(line, place);
    }
  }

  FileText result;

 private:
  /// Files one configuration may include, all levels together.
  static constexpr int kMaxIncludes = 10000;

  bool is_record_key(std::string_view key) const {
    for (const std::string_view known : grammar_.record_keys) {
      if (iequals(key, known)) return true;
    }
    return false;
  }

  /// Follows "Include FILE"; false when the line is something else.
  bool read_include(const LogicalLine& line, const Place& place) {
    const std::string_view text = trim(line.text);
    if (!istarts_with(text, "include") || text.size() < 8 || !is_space(text[7])) return false;
    const std::string_view rest = trim(text.substr(7));
    if (rest.front() == '=') return false;
    std::size_t end = 0;
    while (end < rest.size() && !is_space(rest[end])) ++end;
    std::string name(rest.substr(0, end));
    if (name.size() > 2 && name.front() == '"' && name.back() == '"') {
      name = name.substr(1, name.size() - 2);
    }
    for (std::size_t i = name.find("%c"); i != std::string::npos; i = name.find("%c")) {
      name.replace(i, 2, cluster_name_);
    }
    include(name, place);
    return true;
  }

  void include(const std::string& name, const Place& place) {
    fs::path path = folder_ / name;  // an absolute name replaces the folder
    std::string shown = name;
    std::error_code ignored;
    if (!fs::exists(path, ignored) && fs::path(name).is_absolute()) {
      shown = fs::path(name).filename().string();
      path = folder_ / shown;
      if (fs::exists(path, ignored)) {
        findings_.note("C035", place,
                       {"Include " + name + ": read " + shown + " of this folder",
                        "the configuration seems to be a copy"});
      }
    }
    if (++includes_ > kMaxIncludes || std::find(open_.begin(), open_.end(), path) != open_.end()) {
      result.include_failed = true;
      findings_.error("C002", place,
                      {"Include " + name + ": the files include each other",
                       "take out the Include that leads back here"});
      return;
    }
    std::ifstream in(path, std::ios::binary);
    if (!fs::is_regular_file(path, ignored) || !in) {
      result.include_failed = true;
      findings_.error("C002", place,
                      {"Include " + name + ": no such file, so what it defines is missing",
                       "put " + name + " into the folder; slurmctld waits 60 s for it and stops"});
      return;
    }
    std::ostringstream text;
    text << in.rdbuf();
    open_.push_back(path);
    read(text.str(), shown, place.file + " line " + std::to_string(place.line));
    open_.pop_back();
  }

  void read_pairs(const LogicalLine& line, const Place& place) {
    PairScanner scanner(line);
    Record record{place, {}};
    while (!scanner.at_end()) {
      const int at = scanner.line();
      std::optional<Pair> pair = scanner.next();
      if (!pair) {
        report_unreadable(scanner, {place.file, at, place.via});
        break;
      }
      const std::size_t glued = scanner.quoted() ? std::string::npos : glued_key(pair->value);
      if (glued != std::string::npos) {
        findings_.error(
            "C004", record.at(*pair),
            {"\"" + pair->key + "=" + pair->value + "\": a line end is missing before \"" +
                 pair->value.substr(glued) + "\"",
             "begin a new line there; read here as if it were"});
        pair->value.resize(glued);
        scanner.rewind_to(glued);
      }
      add_pair(record, *std::move(pair));
      glued_ = glued != std::string::npos;
    }
    finish(record);
  }

  /// Appends the pair to the record, or ends the record when the pair begins a new one.
  void add_pair(Record& record, Pair pair) {
    const bool leads = is_record_key(pair.key);
    const bool in_record = !record.pairs.empty() && is_record_key(record.pairs.front().key);
    if (in_record && leads && grammar_.record_key_must_lead) {
      if (!glued_) {
        findings_.error("C004", record.at(pair),
                        {pair.key + " in the middle of a " + record.pairs.front().key + " line",
                         "begin a new line before it; read here as if it were"});
      }
      finish(record);
    } else if (!in_record && !record.pairs.empty()) {
      finish(record);
    }
    if (iequals(pair.key, "ClusterName")) cluster_name_ = to_lower(pair.value);
    if (iequals(pair.key, "Include") && !is_record_key("Include")) {
      include_with_equals(record.at(pair), pair.value);
      return;
    }
    record.pairs.push_back(std::move(pair));
  }

  void include_with_equals(const Place& place, const std::string& name) {
    findings_.error("C003", place,
                    {"Include=" + name + ": unrecognized key Include",
                     "Include takes a blank, not \"=\": Include " + name});
    include(name, place);
  }

  void finish(Record& record) {
    if (!record.pairs.empty()) {
      record.place.line = record.pairs.front().line;
      result.records.push_back(record);
    }
    record.pairs.clear();
  }

  /// Begin of "NodeName=" and the like inside an unquoted value; npos when there is none.
  std::size_t glued_key(std::string_view value) const {
    if (!grammar_.record_key_must_lead) return std::string::npos;
    const std::string low = to_lower(value);
    std::size_t first = std::string::npos;
    for (const std::string_view key : grammar_.record_keys) {
      const std::size_t i = low.find(to_lower(key) + "=", 1);
      if (i < first) first = i;
    }
    return first;
  }

  void report_unreadable(const PairScanner& scanner, const Place& place) {
    std::string rest(trim(scanner.rest()));
    if (rest.size() > 80) rest = rest.substr(0, 77) + "...";
    findings_.error("C001", place,
                    {"can't read \"" + rest + "\": no Key=Value",
                     "write Key=Value, or put # before a comment"});
  }

  fs::path folder_;
  const FileGrammar& grammar_;
  Findings& findings_;
  std::string cluster_name_;
  std::vector<fs::path> open_;  ///< the included files being read
  int includes_ = 0;
  bool glued_ = false;  ///< the pair to come was cut off a value: already reported
};

}  // namespace

FileText read_conf_text(const std::string& text, const FileSource& source,
                        const FileGrammar& grammar, Findings& findings) {
  FileReader reader(source, grammar, findings);
  reader.result.present = true;
  reader.read(text, source.name, "");
  return std::move(reader.result);
}

FileText read_conf_file(const FileSource& source, const FileGrammar& grammar, Findings& findings) {
  const fs::path path = source.folder / source.name;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  if (fs::is_directory(path, ignored)) throw FileError(path.string(), EISDIR, "read");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw FileError(path.string(), errno != 0 ? errno : EIO, "read");
  std::ostringstream text;
  text << in.rdbuf();
  return read_conf_text(text.str(), source, grammar, findings);
}

}  // namespace fedsim::conf
