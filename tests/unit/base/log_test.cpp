// log.hpp: off by default, levels, words.
#include "fedsim/log.hpp"

#include <gtest/gtest.h>

#include "fedsim/error.hpp"

namespace fedsim {
namespace {

/// Puts the level back, because it is one for the process.
struct LogTest : testing::Test {
  ~LogTest() override { set_log_level(LogLevel::off); }
};

TEST_F(LogTest, OffByDefault) {
  EXPECT_EQ(log_level(), LogLevel::off);
  testing::internal::CaptureStderr();
  log(LogLevel::error, "nobody asked");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(LogTest, WritesAtItsLevelAndAbove) {
  set_log_level(LogLevel::warning);
  testing::internal::CaptureStderr();
  log(LogLevel::info, "below");
  log(LogLevel::warning, "at {}");  // braces are text, not a format
  log(LogLevel::error, "above");
  log(LogLevel::off, "never");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("below"), std::string::npos);
  EXPECT_NE(text.find("at {}"), std::string::npos);
  EXPECT_NE(text.find("above"), std::string::npos);
  EXPECT_EQ(text.find("never"), std::string::npos);
}

TEST_F(LogTest, ReadsWordsInAnyCase) {
  EXPECT_EQ(parse_log_level("debug"), LogLevel::debug);
  EXPECT_EQ(parse_log_level("Warning"), LogLevel::warning);
  EXPECT_EQ(parse_log_level("off"), LogLevel::off);
  try {
    parse_log_level("loud");
    FAIL() << "loud was read";
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostics()[0].code, "C041");
    EXPECT_NE(e.diagnostics()[0].hint.find("trace, debug, info, warning, error, off"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace fedsim
