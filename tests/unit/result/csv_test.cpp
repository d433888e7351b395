// CSV text: quoting, times, numbers.
#include <gtest/gtest.h>

#include "fedsim/result.hpp"
#include "result/number.hpp"

namespace fedsim {
namespace {

Table one_of_each() {
  return Table("t", {{"n", ColumnType::int64, "", true, ""},
                     {"x", ColumnType::float64, "", true, ""},
                     {"b", ColumnType::boolean, "", false, ""},
                     {"s", ColumnType::text, "", true, ""},
                     {"at", ColumnType::time, "", true, ""},
                     {"d", ColumnType::duration, "", true, ""}});
}

void push(Table& t, const char* text, SimTime time, std::int64_t duration_ns) {
  t.column(0).push_int(-7);
  t.column(1).push_float(0.1);
  t.column(2).push_bool(true);
  t.column(3).push_text(text);
  t.column(4).push_time(time);
  t.column(5).push_int(duration_ns);
}

TEST(Csv, WritesEachType) {
  Table t = one_of_each();
  push(t, "a1", from_unix_seconds(105), 5'266'000'000);
  t.column(0).push_null();
  t.column(1).push_null();
  t.column(2).push_bool(false);
  t.column(3).push_null();
  t.column(4).push_null();
  t.column(5).push_null();
  EXPECT_EQ(to_csv(t, TimeStyle::relative, from_unix_seconds(100)),
            "n,x,b,s,at,d\n-7,0.1,true,a1,5,5.266\n,,false,,,\n");
}

TEST(Csv, QuotesAsRfc4180) {
  Table t("t", {{"s", ColumnType::text, "", false, ""}});
  for (const char* s : {"a,b", "say \"hi\"", "two\nlines", "plain;text", "n[1-2,4]"}) {
    t.column(0).push_text(s);
  }
  EXPECT_EQ(to_csv(t, TimeStyle::iso, {}),
            "s\n\"a,b\"\n\"say \"\"hi\"\"\"\n\"two\nlines\"\nplain;text\n\"n[1-2,4]\"\n");
}

std::string seconds(std::int64_t ns) {
  std::string out;
  append_seconds(out, ns);
  return out;
}

std::string iso(SimTime t) {
  std::string out;
  append_iso(out, t);
  return out;
}

TEST(Numbers, SecondsAreExactAndShort) {
  EXPECT_EQ(seconds(0), "0");
  EXPECT_EQ(seconds(5'000'000'000), "5");
  EXPECT_EQ(seconds(5'266'000'000), "5.266");
  EXPECT_EQ(seconds(1), "0.000000001");
  EXPECT_EQ(seconds(-500'000'000), "-0.5");
  EXPECT_EQ(seconds(-1'000'000'000), "-1");
  EXPECT_EQ(seconds(INT64_MAX), "9223372036.854775807");
  EXPECT_EQ(seconds(INT64_MIN), "-9223372036.854775808");
}

TEST(Numbers, InstantsAreIso8601) {
  EXPECT_EQ(iso(from_unix_seconds(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(iso(from_unix_seconds(1'767'225'600)), "2026-01-01T00:00:00Z");
  EXPECT_EQ(iso(from_unix_seconds(1'709'251'199) + Duration{266'000'000}),
            "2024-02-29T23:59:59.266Z");
  EXPECT_EQ(iso(from_unix_seconds(-1)), "1969-12-31T23:59:59Z");
  EXPECT_EQ(iso(from_unix_seconds(0) - Duration{1}), "1969-12-31T23:59:59.999999999Z");
}

TEST(Numbers, ClockTextIsSlurms) {
  EXPECT_EQ(clock_text(0), "0:00");
  EXPECT_EQ(clock_text(65), "1:05");
  EXPECT_EQ(clock_text(3723), "1:02:03");
  EXPECT_EQ(clock_text(2 * 86400), "2-00:00:00");
  EXPECT_EQ(hex64(0x0123456789abcdefULL), "0123456789abcdef");
}

}  // namespace
}  // namespace fedsim
