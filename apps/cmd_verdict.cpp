// fedsim verdict: what sbatch would say to many requests on a cluster where every node is busy. The
// JSON form is fixed by the contract, section 9.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"
#include "fedsim/slurm_conf.hpp"
#include "fedsim/verdict.hpp"
#include "inputs.hpp"

namespace fedsim::apps {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::string cluster, setup, user, requests;
  bool held = false;
};

InputError bad_line(const std::string& file, int line, std::string message) {
  return InputError(Diagnostic{Severity::error, "C139", file, line, std::move(message),
                               "one JSON object a line with id and options"});
}

Json to_json(const Json& id, const Verdict& verdict) {
  std::string text;
  for (const std::string& line : verdict.lines) text += (text.empty() ? "" : "\n") + line;
  Json out{{"id", id}, {"rc", verdict.exit_code}, {"stderr", std::move(text)}};
  if (!verdict.accepted()) return out;
  Json& fields = out["fields"] = Json::object();
  for (const auto& [name, value] : verdict.fields) fields[name] = value;
  return out;
}

void judge_all(std::istream& in, const std::string& name, const SubmissionDesk& desk,
               const Flags& flags) {
  const std::int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (interrupted()) throw Interrupted("interrupted");
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Json request = Json::parse(line, nullptr, false);
    if (!request.is_object() || !request.contains("options") || !request["options"].is_array())
      throw bad_line(name, number, "no object with options");
    std::vector<std::string> options;
    for (const Json& word : request["options"]) {
      if (!word.is_string()) throw bad_line(name, number, "an option that is no text");
      options.push_back(word.get<std::string>());
    }
    const Verdict verdict = desk.judge(options, flags.user, flags.held, now);
    const Json id = request.contains("id") ? request["id"] : Json(number);
    std::fputs((to_json(id, verdict).dump() + "\n").c_str(), stdout);
  }
}

void run(const Flags& flags) {
  const ClusterSpec cluster = read_cluster(flags.cluster);
  const Accounting accounting = flags.setup.empty() ? Accounting{} : read_accounting(flags.setup);
  const SubmissionDesk desk(cluster, accounting);
  if (flags.requests == "-") return judge_all(std::cin, "stdin", desk, flags);
  std::ifstream in(flags.requests);
  if (!in) throw FileError(flags.requests, errno, "read");
  judge_all(in, flags.requests, desk, flags);
}

}  // namespace

void add_verdict(CLI::App& root, Context&) {
  CLI::App* command = root.add_subcommand(
      "verdict", "What sbatch would say to each of many requests, without a cluster");
  auto flags = std::make_shared<Flags>();
  command->add_option("--cluster", flags->cluster, "NAME=CONFDIR, the folder of slurm.conf")
      ->required();
  command->add_option("--setup", flags->setup, "sacctmgr commands, a JSONL with argv");
  command->add_option("--user", flags->user, "Who submits");
  command->add_flag("--held", flags->held, "Submit held (-H): nodes are not tested then");
  command
      ->add_option("FILE", flags->requests,
                   "JSONL: id and options (what stands after \"sbatch\"); - is stdin")
      ->required();
  command->footer(
      "Prints id, rc, stderr and, for accepted requests, fields of `scontrol show job`, as on a\n"
      "cluster whose nodes are all kept busy by job 1.");
  command->callback([flags] { run(*flags); });
}

}  // namespace fedsim::apps
