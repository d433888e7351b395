// What every subcommand shares: global options, output format, and how a command is registered.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace fedsim::apps {

/// Exit codes of the contract, section 3.
enum ExitCode : int {
  kOk = 0,
  kInternal = 1,
  kBadInput = 2,
  kInfeasible = 3,
  kUnresolved = 4,
  kMismatch = 5,
  kInterrupted = 130,
};

/// Global options and the outcome. stdout carries data, stderr talk.
struct Context {
  bool quiet = false;
  std::uint64_t seed = 0;
  std::string log_level = "off";
  int exit_code = kOk;
};

/// `--format` with the formats a command offers, first is the default.
void add_format(CLI::App& command, std::string& format, const std::vector<std::string>& formats);

/// A line of talk on stderr, not under --quiet.
void say(const Context& context, std::string_view line);

/// True when stderr is a terminal and neither CI nor NO_PROGRESS is set.
bool progress_wanted(const Context& context);

/// True once Ctrl-C (SIGINT) or SIGTERM came; commands with long work poll it.
bool interrupted();

void add_run(CLI::App& root, Context& context);
void add_verify(CLI::App& root, Context& context);
void add_check(CLI::App& root, Context& context);
void add_params(CLI::App& root, Context& context);
void add_trace(CLI::App& root, Context& context);
void add_plan(CLI::App& root, Context& context);
void add_report(CLI::App& root, Context& context);
void add_jobid(CLI::App& root, Context& context);
void add_explain(CLI::App& root, Context& context);
void add_verdict(CLI::App& root, Context& context);
void add_place(CLI::App& root, Context& context);
void add_mig(CLI::App& root, Context& context);

}  // namespace fedsim::apps
