// SWF: fields, headers, unknown values, cancelled jobs, damaged lines.
#include <gtest/gtest.h>

#include "trace/readers.hpp"

namespace fedsim {
namespace {

Trace read(const std::string& text) { return read_swf_text({"test.swf", text}, {}); }

// Job, submit, wait, run, allocated, CPU, memory, requested, time, memory, status, user, group,
// application, queue.
constexpr const char* kLine = "1 100 5 60.5 4 -1 -1 8 600 -1 1 3 2 -1 7 -1 -1 -1\n";

TEST(Swf, Fields) {
  const Trace trace = read(std::string("; UnixStartTime: 1000\n; MaxProcs: 64\n") + kLine);
  ASSERT_EQ(trace.jobs.size(), 1U);
  const JobSpec& job = trace.jobs[0];
  EXPECT_EQ(job.submit, from_unix_seconds(1100));
  EXPECT_EQ(trace.t0, from_unix_seconds(1000));
  EXPECT_EQ(job.run, Duration{60'500'000'000});
  EXPECT_TRUE(job.run_is_elapsed);
  EXPECT_EQ(job.limit_s, 600);
  EXPECT_EQ(trace.requests[job.request].ntasks, 8);
  EXPECT_EQ(trace.strings.view(job.user), "u3");
  EXPECT_EQ(trace.strings.view(job.account), "g2");
  EXPECT_EQ(trace.strings.view(job.name), "q7");
}

TEST(Swf, AllocatedWhereNothingIsRequestedAndNoLimit) {
  const Trace trace = read("1 0 0 10 4 -1 -1 -1 -1 -1 1\r\n\n  2 0 0 10 4 -1 -1 0 0 -1 1\n");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.requests[trace.jobs[0].request].ntasks, 4);
  EXPECT_EQ(trace.jobs[0].limit_s, kUnset);
  EXPECT_EQ(trace.requests.size(), 1U);
}

TEST(Swf, CancelledAndUnknown) {
  const Trace trace = read(
      "1 10 30 -1 -1 -1 -1 4 60 -1 5\n"   // cancelled in the queue after 30 s
      "2 11 -1 -1 -1 -1 -1 4 60 -1 5\n"   // cancelled, nobody knows when
      "3 12 0 -1 -1 -1 -1 4 60 -1 1\n"    // no run time
      "4 13 0 50 4 -1 -1 4 60 -1 5\n"     // cancelled while it ran
      "5 14 0 50 -1 -1 -1 -1 60 -1 1\n"   // no processors
      "6 15 0 fifty 4\n");                // damaged
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[0].cancel, from_unix_seconds(40));
  EXPECT_EQ(trace.jobs[0].run, Duration{0});
  EXPECT_EQ(trace.jobs[1].outcome, Outcome::cancelled);
  EXPECT_EQ(trace.jobs[1].run, 50 * kSecond);
  EXPECT_EQ(trace.report.rows, 6U);
  ASSERT_EQ(trace.report.warnings.size(), 4U);
  EXPECT_EQ(trace.report.warnings[0].line, 6);  // damaged
  EXPECT_EQ(trace.report.warnings[1].line, 5);  // no processors
  EXPECT_TRUE(trace.report.warnings[2].message.starts_with("2 jobs without a run time"));
}

TEST(Swf, MissingSubmitIsRefusedByName) {
  try {
    read("1 -1 0 10 4 -1 -1 4\n");
    FAIL() << "not refused";
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostics()[0].line, 1);
    EXPECT_NE(std::string(e.what()).find("Submit Time"), std::string::npos);
  }
}

TEST(Swf, GuessedFromContent) {
  EXPECT_EQ(guess_format({"x", kLine}, {}), TraceFormat::swf);
  EXPECT_EQ(guess_format({"x", "; a comment\n"}, {}), TraceFormat::swf);
  EXPECT_EQ(guess_format({"x", "JobID|State\n"}, {}), TraceFormat::sacct);
  EXPECT_EQ(guess_format({"x", "{\"jobs\": []}"}, {}), TraceFormat::sacct_json);
  EXPECT_THROW(guess_format({"x", " \n"}, {}), InputError);
  ReadOptions options;
  options.format = "philly";
  EXPECT_THROW(guess_format({"x", kLine}, options), InputError);
}

TEST(Swf, ShowCountsEveryRow) {
  int shown = 0;
  const std::string summary = show_swf({"x", std::string(kLine) + "nonsense\n"}, {},
                                       [&](const std::string&) { ++shown; });
  EXPECT_EQ(shown, 1);
  EXPECT_NE(summary.find("\"rows\":2,\"jobs\":1"), std::string::npos) << summary;
  EXPECT_NE(summary.find("\"broken\":1"), std::string::npos);
}

}  // namespace
}  // namespace fedsim
