// The runner itself: a word it does not know is an error with its line, and a wrong expectation
// fails.
#include <gtest/gtest.h>

#include <algorithm>

#include "cases/case_check.hpp"

namespace fedsim::cases {
namespace {

constexpr const char* kOneJob =
    "cluster a gpus=8\n"
    "cluster b gpus=8\n"
    "1s submit j on=a gpus=8 run=10s\n"
    "1.5s pass a main\n"
    "---\n";

std::vector<int> lines_of(const std::string& text) {
  try {
    (void)read_case(text, "x.case");
  } catch (const InputError& e) {
    std::vector<int> lines;
    for (const Diagnostic& d : e.diagnostics()) lines.push_back(d.line);
    return lines;
  }
  return {};
}

std::vector<std::string> failures_of(const std::string& expectations) {
  return check_case(read_case(kOneJob + expectations, "x.case"));
}

TEST(CaseReader, EveryUnknownWordIsAnErrorWithItsLine) {
  const std::string text =
      "cluster a gpus=8 colour=red\n"
      "1s submit j on=a colour=red\n"
      "# a comment\n"
      "2s submit k on=a --colour=red\n"
      "3s paint j\n"
      "4s hold nobody\n"
      "5s fed_state nowhere value=DRAIN\n"
      "---\n"
      "start j cluster=a colour=red\n"
      "paints j\n"
      "state j RUNNING mood=good cluster=a\n";
  std::vector<int> lines = lines_of(text);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<int>{1, 2, 4, 5, 6, 7, 9, 10, 11}));
}

TEST(CaseReader, ACaseWithoutExpectationsIsAnError) {
  EXPECT_FALSE(lines_of("cluster a gpus=8\n").empty());
}

TEST(CaseCheck, WhatHappensPasses) {
  EXPECT_TRUE(failures_of("start j cluster=a after=1.001s before=10s\n"
                          "revoke j cluster=b\n"
                          "state j COMPLETED ran=a\n"
                          "1s state j PENDING cluster=a active=a,b\n"
                          "jobid j 67108865\n")
                  .empty());
}

TEST(CaseCheck, EveryWrongExpectationFails) {
  for (const char* wrong :
       {"start j cluster=b\n", "start j\nstart j\n", "", "start j before=1s\n",
        "start j\nno revoke j cluster=b\n", "start j\nrequeue j\n", "start j\njobid j 1\n",
        "start j\nreject j Invalid partition name specified\n",
        "start j\nstate j PENDING cluster=a\n", "start j\n1s state j PENDING cluster=a active=b\n",
        "start j\n1s state j PENDING cluster=a submit=2s\n", "start j\nno record j cluster=b\n"}) {
    EXPECT_FALSE(failures_of(wrong).empty()) << wrong;
  }
}

/// FED-02: ids are 1 to 63 (slurmdbd refuses one more member, as_mysql_cluster.c, 22.05).
TEST(Federation, SixtyFourthClusterIsRefused) {
  std::string text;
  for (int i = 1; i <= 63; ++i) text += "cluster c" + std::to_string(i) + "\n";
  EXPECT_NO_THROW((void)read_case(text + "---\n", "x.case"));
  EXPECT_THROW((void)read_case(text + "cluster c64\n---\n", "x.case"), InputError);
}

}  // namespace
}  // namespace fedsim::cases
