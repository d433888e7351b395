// Reads what a real federation did: expected.csv (accounting) and commands.jsonl (refusals, in
// Slurm's words). Rules are those of the recordings' own comparison.
#include "result/recorded_run.hpp"

#include <cerrno>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fedsim/error.hpp"

namespace fedsim {
namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw FileError(path.string(), errno, "read");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The text of the last "error: " line, without sbatch's own introduction.
std::string refusal_text(const std::string& standard_error) {
  constexpr std::string_view mark = "error: ";
  constexpr std::string_view introduction = "Batch job submission failed: ";
  std::istringstream lines(standard_error);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(mark);
    if (at != std::string::npos) last = line.substr(at + mark.size());
  }
  const std::size_t at = last.find(introduction);
  if (at != std::string::npos) last.erase(at, introduction.size());
  return last;
}

void read_refusals(const std::filesystem::path& path, ComparedRun& out) {
  std::istringstream lines(read_text(path));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    const auto command = nlohmann::json::parse(line, nullptr, false);
    if (!command.is_object()) {
      throw InputError({Severity::error, "C132", path.string(), number, "not a JSON object",
                        "each line is one recorded command"});
    }
    const auto argv = command.value("argv", nlohmann::json::array());
    const bool sbatch = !argv.empty() && argv[0] == "sbatch";
    const auto label = command.find("label");
    if (!sbatch || label == command.end() || !label->is_string()) continue;
    if (label->get<std::string>().empty() || command.value("rc", 0) == 0) continue;
    out.refuse(label->get<std::string>(), refusal_text(command.value("stderr", std::string())));
  }
}

}  // namespace

void ComparedRun::add(const RecordKey& key, ComparedRecord record) {
  auto& rows = records[key];
  if (rows.empty()) keys.push_back(key);
  rows.push_back(std::move(record));
}

void ComparedRun::refuse(const std::string& label, const std::string& text) {
  if (refused.insert_or_assign(label, text).second) refused_labels.push_back(label);
}

std::optional<double> optional_seconds(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<CsvRow> read_csv_file(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  std::vector<std::string> header;
  std::vector<std::string> cells{""};
  std::vector<CsvRow> out;
  const auto end_row = [&] {
    if (header.empty()) {
      header = cells;
    } else if (cells.size() > 1 || !cells[0].empty()) {
      CsvRow row;
      for (std::size_t i = 0; i < header.size(); ++i) {
        row[header[i]] = i < cells.size() ? cells[i] : "";
      }
      out.push_back(std::move(row));
    }
    cells.assign(1, "");
  };
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      const bool doubled = c == '"' && i + 1 < text.size() && text[i + 1] == '"';
      if (c == '"' && !doubled) {
        quoted = false;
      } else {
        cells.back() += c;
        i += doubled ? 1 : 0;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      cells.emplace_back();
    } else if (c == '\n') {
      end_row();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  if (cells.size() > 1 || !cells[0].empty()) end_row();
  return out;
}

ComparedRun read_recorded_run(const std::filesystem::path& run) {
  ComparedRun out;
  read_refusals(run / "commands.jsonl", out);
  for (const CsvRow& row : read_csv_file(run / "expected.csv")) {
    const auto cell = [&row](const char* name) {
      const auto at = row.find(name);
      return at == row.end() ? std::string{} : at->second;
    };
    const std::string label = cell("label");
    if (out.refused.contains(label)) continue;
    const std::string jobid = cell("jobid");
    const std::size_t task = jobid.find('_');
    out.add({label, task == std::string::npos ? "" : jobid.substr(task + 1), cell("cluster")},
            {cell("state"), cell("nodes"), cell("gpu_idx"), optional_seconds(cell("submit")),
             optional_seconds(cell("start")), optional_seconds(cell("end"))});
  }
  return out;
}

}  // namespace fedsim
