// Swarm test: random federations under random operations and faults. Long form:
//   federation_swarm --seed 1 --runs 1000000 --events 10000000 [--audit-every K] [--verbose]
//
// A failure prints the command line that replays it; --shrink makes it small first, --keep-going
// goes on with the next seed, --strict also fails jobs that a federation without losses left
// behind.
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "swarm.hpp"

namespace {

using fedsim::swarm::Case;
using fedsim::swarm::CheckOptions;
using fedsim::swarm::RunReport;

struct Arguments {
  std::uint64_t seed = 1;
  std::uint64_t runs = 1000;
  std::uint64_t events = UINT64_MAX;
  CheckOptions check;
  bool verbose = false;
  bool shrink = false;
  bool keep_going = false;
  bool good = true;
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto number = [&](std::uint64_t& target) {
      char* end = nullptr;
      if (++i < argc) target = std::strtoull(argv[i], &end, 10);
      if (i >= argc || end == argv[i] || *end != '\0') a.good = false;
    };
    if (word == "--seed") {
      number(a.seed);
    } else if (word == "--runs") {
      number(a.runs);
    } else if (word == "--events") {
      number(a.events);
    } else if (word == "--audit-every") {
      number(a.check.audit_every);
    } else if (word == "--verbose") {
      a.verbose = true;
    } else if (word == "--shrink") {
      a.shrink = true;
    } else if (word == "--keep-going") {
      a.keep_going = true;
    } else if (word == "--strict") {
      a.check.strict = true;
    } else {
      a.good = false;
    }
  }
  return a;
}

void print_failure(const Arguments& a, const char* command, const Case& failed,
                   const std::string& failure) {
  std::cout << "FAILED: " << failure << "\nreplay: " << command << " --seed " << failed.seed
            << " --runs 1";
  if (a.check.audit_every != 0) std::cout << " --audit-every " << a.check.audit_every;
  if (a.check.strict) std::cout << " --strict";
  std::cout << "\n";
  if (!a.shrink && !a.verbose) return;
  const Case shown = a.shrink ? shrink(failed, a.check) : failed;
  CheckOptions told = a.check;
  told.story = true;
  const RunReport again = run_case(shown, told);
  std::cout << describe(shown) << again.failure << "\n" << (a.verbose ? again.story : "");
}

/// What to say if the process is killed by a signal: a handler may only write bytes.
std::string last_words;

extern "C" void on_crash(int signal) {
  const ssize_t written = ::write(STDERR_FILENO, last_words.data(), last_words.size());
  (void)written;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Totals of all runs.
struct Totals {
  std::uint64_t runs = 0, events = 0, failures = 0;
  std::map<std::string, std::uint64_t> left_behind;  ///< by what kind of run left them
};

void count_left_behind(const RunReport& r, const Arguments& a, std::uint64_t seed, Totals& t) {
  const char* kind = r.undisturbed ? "undisturbed" : r.recovered ? "recovered" : "with losses";
  t.left_behind[kind] += r.left_behind.size();
  if (!a.verbose) return;
  for (const std::string& who : r.left_behind)
    std::cout << "seed " << seed << " (" << kind << "): " << who << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments a = parse(argc, argv);
  if (!a.good) {
    std::cerr << "usage: " << argv[0]
              << " [--seed N] [--runs N] [--events N] [--audit-every K] [--verbose] [--shrink]"
                 " [--keep-going] [--strict]\n";
    return 2;
  }
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGTERM}) std::signal(signal, on_crash);
  Totals t;
  for (std::uint64_t seed = a.seed; t.runs < a.runs && t.events < a.events; ++seed) {
    last_words = std::string("killed; replay: ") + argv[0] + " --seed " + std::to_string(seed) +
                 " --runs 1\n";
    const Case c = fedsim::swarm::make_case(seed);
    const RunReport r = run_case(c, a.check);
    ++t.runs;
    t.events += r.events;
    count_left_behind(r, a, seed, t);
    if (r.failure.empty()) continue;
    ++t.failures;
    print_failure(a, argv[0], c, r.failure);
    if (!a.keep_going) break;
  }
  std::cout << t.runs << " runs, " << t.events << " events, " << t.failures << " failures\n";
  for (const auto& [kind, n] : t.left_behind)
    std::cout << "jobs left behind, " << kind << ": " << n << "\n";
  return t.failures == 0 ? 0 : 1;
}
