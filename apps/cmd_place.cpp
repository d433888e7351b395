// fedsim place: where each of many jobs would start on partly held nodes. The JSON form is fixed by
// the contract, section 9.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"
#include "fedsim/place.hpp"
#include "fedsim/slurm_conf.hpp"
#include "inputs.hpp"

namespace fedsim::apps {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::string cluster, setup, user, requests;
};

class Placements {
 public:
  Placements(std::string file, PlaceDesk& desk, const Flags& flags)
      : file_(std::move(file)), desk_(desk), flags_(flags) {}

  void run(std::istream& in) {
    std::string line;
    while (std::getline(in, line)) {
      ++number_;
      if (interrupted()) throw Interrupted("interrupted");
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      const Json row = Json::parse(line, nullptr, false);
      if (!row.is_object()) throw bad("no JSON object");
      if (row.value("type", "placement") == "occupation")
        read_occupation(row);
      else
        place(row);
    }
  }

 private:
  InputError bad(std::string message) const {
    return InputError(Diagnostic{
        Severity::error, "C142", file_, number_, std::move(message),
        "one JSON object a line: occupation with id and jobs, or placement with id and options"});
  }

  std::vector<std::string> options(const Json& row) const {
    if (!row.contains("options") || !row["options"].is_array()) throw bad("no options");
    std::vector<std::string> out;
    for (const Json& word : row["options"]) {
      if (!word.is_string()) throw bad("an option that is no text");
      out.push_back(word.get<std::string>());
    }
    return out;
  }

  static std::string text(const Json& row, const char* key) {
    return row.contains(key) && row[key].is_string() ? row[key].get<std::string>() : "";
  }

  void read_occupation(const Json& row) {
    if (!row.contains("jobs") || !row["jobs"].is_array()) throw bad("an occupation without jobs");
    std::vector<HeldJob> jobs;
    for (const Json& j : row["jobs"]) {
      HeldJob job{options(j), {}};
      if (!j.contains("alloc") || !j["alloc"].is_array()) throw bad("a running job without alloc");
      for (const Json& a : j["alloc"]) {
        const bool memory = a.contains("mem") && a["mem"].is_number_integer();
        job.nodes.push_back({text(a, "nodes"), text(a, "cpu_ids"),
                             memory ? a["mem"].get<std::int64_t>() : 0, text(a, "gres")});
      }
      jobs.push_back(std::move(job));
    }
    occupations_[text(row, "id")] = std::move(jobs);
    now_held_ = "?";
  }

  void place(const Json& row) {
    const std::string held = text(row, "occupation");
    if (!held.empty() && occupations_.count(held) == 0)
      throw bad("occupation " + held + " was not given before");
    if (held != now_held_) {
      try {
        desk_.occupy(held.empty() ? std::vector<HeldJob>{} : occupations_[held]);
      } catch (const InputError& error) {
        throw bad(error.diagnostics().front().message);
      }
      now_held_ = held;
    }
    const PlaceAnswer answer = desk_.place(options(row), flags_.user, now_s_);
    Json out{{"id", row.contains("id") ? row["id"] : Json(number_)},
             {"started", answer.started},
             {"nodelist", answer.nodelist},
             {"alloc", Json::array()},
             {"reason", answer.reason}};
    for (const HeldNodes& h : answer.held)
      out["alloc"].push_back(
          {{"nodes", h.nodes}, {"cpu_ids", h.cpu_ids}, {"mem", h.memory_mib}, {"gres", h.gres}});
    if (!answer.verdict.accepted()) {
      std::string lines;
      for (const std::string& line : answer.verdict.lines)
        lines += (lines.empty() ? "" : "\n") + line;
      out["rc"] = answer.verdict.exit_code;
      out["stderr"] = lines;
    }
    std::fputs((out.dump() + "\n").c_str(), stdout);
  }

  const std::string file_;
  PlaceDesk& desk_;
  const Flags& flags_;
  std::map<std::string, std::vector<HeldJob>> occupations_;
  std::string now_held_;
  const std::int64_t now_s_ = std::chrono::duration_cast<std::chrono::seconds>(
                                  std::chrono::system_clock::now().time_since_epoch())
                                  .count();
  int number_ = 0;
};

void run(const Flags& flags) {
  const ClusterSpec cluster = read_cluster(flags.cluster);
  const Accounting accounting = flags.setup.empty() ? Accounting{} : read_accounting(flags.setup);
  PlaceDesk desk(cluster, accounting);
  if (flags.requests == "-") return Placements("stdin", desk, flags).run(std::cin);
  std::ifstream in(flags.requests);
  if (!in) throw FileError(flags.requests, errno, "read");
  Placements(flags.requests, desk, flags).run(in);
}

}  // namespace

void add_place(CLI::App& root, Context&) {
  CLI::App* command =
      root.add_subcommand("place", "Where each of many jobs would start on partly held nodes");
  auto flags = std::make_shared<Flags>();
  command->add_option("--cluster", flags->cluster, "NAME=CONFDIR, the folder of slurm.conf")
      ->required();
  command->add_option("--setup", flags->setup, "sacctmgr commands, a JSONL with argv");
  command->add_option("--user", flags->user, "Who submits");
  command
      ->add_option("FILE", flags->requests,
                   "JSONL: occupation (id, jobs) and placement (id, occupation, options); - is "
                   "stdin")
      ->required();
  command->footer(
      "Prints id, started, nodelist, alloc (nodes, cpu_ids, mem, gres) and reason for every\n"
      "placement, each alone on the nodes that its occupation leaves free.");
  command->callback([flags] { run(*flags); });
}

}  // namespace fedsim::apps
