// The fedsim command: registers the subcommands and turns errors into the contract's exit codes.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "command.hpp"
#include "fedsim/error.hpp"
#include "fedsim/log.hpp"

namespace fedsim::apps {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;

void on_signal(int) {
  if (g_interrupted != 0) std::_Exit(kInterrupted);  // second Ctrl-C: leave at once
  g_interrupted = 1;
}

constexpr const char* kExamples = R"(Examples:
  fedsim run traces/mixed-federation -o out     replay a recorded federation and write its tables
  fedsim run --machine 1024x1 --trace load.swf --fidelity ideal --policy easy
  fedsim check /etc/slurm                       what fedsim makes of a configuration
)";

}  // namespace

void add_format(CLI::App& command, std::string& format, const std::vector<std::string>& formats) {
  format = formats.front();
  command.add_option("--format", format, "Output format on stdout")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
}

void say(const Context& context, std::string_view line) {
  if (context.quiet) return;
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fputc('\n', stderr);
}

bool progress_wanted(const Context& context) {
  return !context.quiet && isatty(STDERR_FILENO) != 0 && std::getenv("CI") == nullptr;
}

bool interrupted() {
  return g_interrupted != 0;
}

namespace {

int run_command(int argc, char** argv) {
  Context context;
  CLI::App app{"Discrete-event simulator of Slurm federations for GPU clusters", "fedsim"};
  app.set_version_flag("--version", std::string("fedsim ") + FEDSIM_VERSION);
  app.footer(kExamples);
  app.require_subcommand(1);
  app.fallthrough();
  app.add_flag("--quiet,-q", context.quiet, "No talk on stderr");
  app.add_option("--seed", context.seed, "Seed of every draw; same inputs and seed, same bytes")
      ->capture_default_str();
  app.add_option("--log", context.log_level,
                 "Log to stderr: trace, debug, info, warning, error, off")
      ->capture_default_str();
  app.parse_complete_callback([&] { set_log_level(parse_log_level(context.log_level)); });
  add_run(app, context);
  add_explain(app, context);
  add_verify(app, context);
  add_check(app, context);
  add_params(app, context);
  add_trace(app, context);
  add_plan(app, context);
  add_report(app, context);
  add_jobid(app, context);
  add_verdict(app, context);
  add_place(app, context);
  add_mig(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    app.exit(e);
    return kBadInput;
  }
  return context.exit_code;
}

}  // namespace
}  // namespace fedsim::apps

int main(int argc, char** argv) {
  using namespace fedsim;
  using namespace fedsim::apps;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  try {
    const int code = run_command(argc, argv);
    if (std::fflush(stdout) != 0) throw FileError("stdout", errno, "write");
    return code;
  } catch (const Interrupted& e) {
    std::fprintf(stderr, "fedsim: %s\n", e.what());
    return kInterrupted;
  } catch (const InputError& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return kBadInput;
  } catch (const FileError& e) {
    std::fprintf(stderr, "fedsim: %s\n", e.what());
    return kBadInput;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fedsim: %s\n", e.what());
    return kInternal;
  }
}
