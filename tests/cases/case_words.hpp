// What the two halves of the reader of `.case` texts share: words, pairs, times.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cases/case_reader.hpp"

namespace fedsim::cases {

using Words = std::vector<std::string>;

/// A finding without its place; the reader adds file and line.
struct Wrong {
  std::string message;
};

/// Words up to a comment.
Words words_of(std::string_view line);

struct Pair {
  std::string key;
  std::string value;
};
/// "key=value"; a word without '=' has an empty value.
Pair pair_of(const std::string& word);

int number_of(const Pair& p);
Duration seconds_of(const std::string& text);
SimTime instant_of(const std::string& text);

/// One line after "---", without its number. Throws Wrong.
Expectation read_expectation(const Words& words, const std::string& line);

}  // namespace fedsim::cases
