// fedsim report: one self-contained page from the files of a run. Nothing in it needs the network.
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "inputs.hpp"

namespace fedsim::apps {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

constexpr const char* kStyle = R"(
  :root { --ink: #1f2933; --soft: #52606d; --rule: #e4e7eb; --wash: #f5f7fa; }
  body { font: 15px/1.5 Inter, "Helvetica Neue", Helvetica, Arial, sans-serif; color: var(--ink);
         max-width: 1320px; margin: 0 auto; padding: 28px 24px 60px; background: #fff; }
  h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 36px 0 10px; }
  p { margin: 6px 0; max-width: 80ch; } .soft { color: var(--soft); }
  table { border-collapse: collapse; font-size: 14px; }
  th, td { padding: 5px 14px 5px 0; text-align: left; vertical-align: top;
           border-bottom: 1px solid var(--rule); }
  th { color: var(--soft); font-weight: 600; } td.n, th.n { text-align: right;
       font-variant-numeric: tabular-nums; }
  code { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; background: var(--wash);
         padding: 1px 5px; border-radius: 3px; overflow-wrap: anywhere; }
  .wide { overflow-x: auto; } .wide svg { max-width: 100%; height: auto; display: block; }
  details { margin: 10px 0; } summary { cursor: pointer; color: var(--soft); }
  ul { columns: 2; font-size: 13px; color: var(--soft); padding-left: 18px; }
  @media print { details { display: none; } }
)";

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw FileError(path.string(), errno, "read");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

Json read_json(const fs::path& path) {
  Json out = Json::parse(read_text(path), nullptr, false);
  if (!out.is_object()) {
    throw InputError({Severity::error, "C137", path.string(), 0, "not a JSON object",
                      "give the folder that fedsim run -o wrote"});
  }
  return out;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// The first rows of a CSV file, and how many rows it has.
struct CsvHead {
  std::vector<Cells> rows;  ///< header first
  std::size_t rows_n = 0;
};

CsvHead read_csv_head(const fs::path& path, std::size_t most) {
  const std::string text = read_text(path);
  CsvHead out;
  Cells row{""};
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;  // a doubled quote closes and opens again
    } else if (c == ',' && !quoted) {
      row.emplace_back();
    } else if (c == '\n' && !quoted) {
      if (out.rows.size() <= most) out.rows.push_back(row);
      ++out.rows_n;
      row.assign(1, "");
    } else {
      row.back() += c;
    }
  }
  if (out.rows_n > 0) --out.rows_n;
  return out;
}

std::string html_table(const std::vector<Cells>& rows, const std::vector<bool>& right) {
  std::string out = "<div class=\"wide\"><table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::string tag = r == 0 ? "th" : "td";
    out += "<tr>";
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      const bool number = c < right.size() && right[c];
      out +=
          "<" + tag + (number ? " class=\"n\"" : "") + ">" + escaped(rows[r][c]) + "</" + tag + ">";
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

double number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::string head_section(const Json& manifest, const Json& summary) {
  std::string clusters;
  for (const Json& c : manifest.value("clusters", Json::array())) {
    clusters += (clusters.empty() ? "" : "; ") + text_of(c, "name") + ": Slurm " +
                text_of(c, "slurm") + ", " + text_of(c, "nodes") + " nodes, " + text_of(c, "cpus") +
                " CPUs, " + text_of(c, "gpus") + " GPUs";
  }
  std::vector<Cells> rows{{"what", "value"},
                          {"fedsim", text_of(manifest, "fedsim")},
                          {"command", text_of(manifest, "command")},
                          {"fidelity", text_of(manifest, "fidelity")},
                          {"seed", text_of(manifest, "seed")},
                          {"clusters", clusters},
                          {"fingerprint", text_of(summary, "fingerprint")},
                          {"model hash", text_of(manifest, "model_hash")}};
  for (const Json& input : manifest.value("inputs", Json::array())) {
    rows.push_back({"input " + text_of(input, "name"),
                    text_of(input, "path") + " (hash " + text_of(input, "hash") + ")"});
  }
  return html_table(rows, {});
}

std::string populations_section(const Json& summary) {
  std::string states;
  std::int64_t records = 0;
  const Json by_state = summary.value("records", Json::object());
  for (const auto& [state, n] : by_state.items()) {
    states += (states.empty() ? "" : ", ") + n.dump() + " " + state;
    records += n.is_number_integer() ? n.get<std::int64_t>() : 0;
  }
  const auto count = [&summary](const char* key) { return text_of(summary, key); };
  std::string out = html_table(
      {{"population", "count", "meaning"},
       {"jobs", count("jobs"), "Job ids that a controller accepted; one job is one request."},
       {"rejected", count("rejected"), "Submissions that a controller refused at once."},
       {"records", std::to_string(records),
        "Queue records at origin and siblings" + (states.empty() ? "." : ": " + states + ".")},
       {"allocations", count("allocations"), "Executions that held resources from start to end."},
       {"distinct GPUs", count("distinct_gpus") + " of " + count("gpus_in_fleet"),
        "Devices that some allocation held at some time."},
       {"processes", count("processes"),
        "Application processes in " + count("process_groups") +
            " groups; a group never spans two jobs."}},
      {false, true, false});
  if (number_of(summary, "naive_gpu_sum") > number_of(summary, "distinct_gpus")) {
    out += "<p class=\"soft\">Adding up the GPUs of every queue row would show " +
           count("naive_gpu_sum") +
           ": a revoked record shows what its job asks for, though it holds nothing, and a GPU "
           "that serves one job after another is counted each time.</p>\n";
  }
  return out;
}

std::string waits_section(const Json& summary) {
  const Json wait = summary.value("wait_s", Json::object());
  std::vector<Cells> rows{{"mean", "p50", "p90", "p95", "longest"}, {}};
  for (const char* key : {"mean", "p50", "p90", "p95", "max"}) {
    rows[1].push_back(clock_text(number_of(wait, key)));
  }
  std::string out = html_table(rows, {true, true, true, true, true});
  out += "<p class=\"soft\">Wait is start minus eligible, over executions, as [days-]h:mm:ss. " +
         short_number(number_of(summary, "gpu_hours"), 2) + " GPU-hours and " +
         short_number(number_of(summary, "cpu_hours"), 2) + " CPU-hours were held; utilisation " +
         short_number(100 * number_of(summary, "utilisation"), 1) + " % over a makespan of " +
         clock_text(number_of(summary, "makespan_s")) + ".</p>\n";
  return out;
}

std::string jobs_section(const fs::path& folder, std::size_t most) {
  const CsvHead jobs = read_csv_head(folder / "jobs.csv", most);
  const Cells shown{"jobid",   "label",  "origin", "cluster", "state", "gpus",
                    "nodes_n", "submit", "start",  "end",     "wait",  "reason"};
  std::vector<Cells> rows{shown};
  std::vector<std::size_t> columns;
  for (const std::string& name : shown) {
    std::size_t c = 0;
    while (!jobs.rows.empty() && c < jobs.rows[0].size() && jobs.rows[0][c] != name) ++c;
    columns.push_back(c);
  }
  for (std::size_t r = 1; r < jobs.rows.size(); ++r) {
    Cells row;
    for (const std::size_t c : columns)
      row.push_back(c < jobs.rows[r].size() ? jobs.rows[r][c] : "");
    rows.push_back(std::move(row));
  }
  std::string out = html_table(
      rows, {true, false, false, false, false, true, true, true, true, true, true, false});
  if (jobs.rows_n > most) {
    out += "<p class=\"soft\">The first " + std::to_string(most) + " of " +
           std::to_string(jobs.rows_n) + " jobs; jobs.csv has all.</p>\n";
  }
  return out;
}

std::string list_section(const Json& manifest, const char* key, const std::string& title) {
  const Json list = manifest.value(key, Json::array());
  if (list.empty()) return "";
  std::string out =
      "<details><summary>" + title + " (" + std::to_string(list.size()) + ")</summary><ul>\n";
  for (const Json& entry : list) {
    out +=
        "<li>" + escaped(entry.is_string() ? entry.get<std::string>() : entry.dump()) + "</li>\n";
  }
  return out + "</ul></details>\n";
}

std::string page(const fs::path& folder, std::size_t jobs_shown) {
  const Json summary = read_json(folder / "summary.json");
  const Json manifest = read_json(folder / "manifest.json");
  std::string name = text_of(manifest, "federation");
  for (const Json& c : manifest.value("clusters", Json::array())) {
    if (text_of(manifest, "federation").empty())
      name += (name.empty() ? "" : " + ") + text_of(c, "name");
  }
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      escaped(name) + " - fedsim report</title>\n<style>" + kStyle +
      "</style>\n</head>\n<body>\n<h1>" + escaped(name) + "</h1>\n";
  const auto said = [&manifest](const char* key) { return escaped(text_of(manifest, key)); };
  out += "<p class=\"soft\">Simulated by fedsim " + said("fedsim") + ", fidelity " +
         said("fidelity") + ", seed " + said("seed") +
         ": a statement about the model described under <a href=\"#inputs\">what went in</a>, "
         "not about a machine.</p>\n<p><code>" +
         said("command") + "</code></p>\n";
  out += "<h2>Populations</h2>\n" + populations_section(summary);
  out += "<h2>Waiting and use</h2>\n" + waits_section(summary);
  const fs::path picture = folder / "timeline.svg";
  if (fs::exists(picture)) {
    out += "<h2>Timeline</h2>\n<div class=\"wide\">\n" + read_text(picture) + "</div>\n";
  }
  out += "<h2>Jobs</h2>\n<p class=\"soft\">Times are " +
         std::string(text_of(manifest, "times") == "relative" ? "seconds since t0" : "UTC") +
         "; wait is in seconds.</p>\n" + jobs_section(folder, jobs_shown);
  out += "<h2 id=\"inputs\">What went in</h2>\n" + head_section(manifest, summary);
  out += list_section(manifest, "warnings", "Warnings about the inputs");
  out += list_section(manifest, "simplified", "Parameters that are simplified");
  out += list_section(manifest, "not_modelled", "Parameters that are not modelled");
  return out + "</body>\n</html>\n";
}

}  // namespace

void add_report(CLI::App& root, Context& context) {
  CLI::App* command = root.add_subcommand(
      "report", "One self-contained page about a run, readable without a network");
  struct Flags {
    std::string folder;
    std::string out = "report.html";
    std::size_t jobs = 200;
  };
  auto flags = std::make_shared<Flags>();
  command->add_option("OUT", flags->folder, "Folder that fedsim run -o wrote")->required();
  command->add_option("-o,--output", flags->out, "The page to write; - is stdout")
      ->capture_default_str();
  command->add_option("--jobs", flags->jobs, "Rows of the job table")->capture_default_str();
  command->callback([flags, &context] {
    const std::string text = page(flags->folder, flags->jobs);
    if (flags->out == "-") {
      std::fwrite(text.data(), 1, text.size(), stdout);
      return;
    }
    write_file(flags->out, text);
    say(context, "wrote " + flags->out);
  });
}

}  // namespace fedsim::apps
