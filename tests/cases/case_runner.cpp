// Runs one `.case` file: case_runner FILE [--story]. Exit code 1 and one line per finding when it
// does not come as expected.
#include <fstream>
#include <iostream>
#include <iterator>

#include "cases/case_check.hpp"
#include "fedsim/error.hpp"

namespace {

using namespace fedsim;

/// A case says which rule it shows and where that rule is written.
std::vector<std::string> check_header(const cases::Case& c, const std::string& file) {
  std::vector<std::string> out;
  const std::string name = file.substr(file.find_last_of('/') + 1);
  const std::string rule = name.substr(0, name.find('-', name.find('-') + 1));  // "FED-06"
  if (c.header.empty() || !c.header[0].starts_with(rule + ":"))
    out.push_back("line 1: write \"# " + rule + ": what the rule says\"");
  bool cites = false;
  for (const std::string& line : c.header) cites = cites || line.starts_with("source: ");
  if (!cites) out.emplace_back("no line \"# source: ...\" before the first cluster");
  return out;
}

int run_case(const std::string& file, bool story) {
  std::ifstream in(file);
  if (!in) {
    std::cerr << file << ": can't be read\n";
    return 2;
  }
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const cases::Case c = cases::read_case(text, file);
  std::vector<std::string> failures = check_header(c, file);
  for (std::string& f : cases::check_case(c)) failures.push_back(std::move(f));
  for (const std::string& f : failures) std::cerr << file << ": " << f << "\n";
  if (story || !failures.empty()) std::cerr << cases::story_of(c);
  return failures.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool story = argc == 3 && std::string(argv[2]) == "--story";
  if (argc != 2 && !story) {
    std::cerr << "usage: case_runner FILE [--story]\n";
    return 2;
  }
  try {
    return run_case(argv[1], story);
  } catch (const std::exception& e) {
    std::cerr << argv[1] << ": " << e.what() << "\n";
    return 1;
  }
}
