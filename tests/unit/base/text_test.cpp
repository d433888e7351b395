// base/text.hpp: numbers, sizes and times in Slurm's forms.
#include "base/text.hpp"

#include <gtest/gtest.h>

#include "fedsim/spec.hpp"

namespace fedsim {
namespace {

TEST(Text, TimeFormsOfSlurmConf) {
  EXPECT_EQ(parse_slurm_time("90"), 90 * 60);   // minutes
  EXPECT_EQ(parse_slurm_time("4:00"), 4 * 60);  // minutes:seconds, not hours
  EXPECT_EQ(parse_slurm_time("1:30"), 90);
  EXPECT_EQ(parse_slurm_time("1:00:00"), 3600);
  EXPECT_EQ(parse_slurm_time("120:00:00"), 120 * 3600);  // hours above 24
  EXPECT_EQ(parse_slurm_time("2-12"), (2 * 24 + 12) * 3600);
  EXPECT_EQ(parse_slurm_time("1-0:30"), 86400 + 30 * 60);
  EXPECT_EQ(parse_slurm_time("7-0:00:99"), 7 * 86400 + 99);
  EXPECT_EQ(parse_slurm_time("5-"), 5 * 86400);
  EXPECT_EQ(parse_slurm_time("0"), 0);
}

TEST(Text, UnlimitedTimes) {
  for (const char* text : {"UNLIMITED", "infinite", "Infinite", "-1"}) {
    EXPECT_EQ(parse_slurm_time(text), kUnlimited) << text;
  }
}

TEST(Text, UnreadableTimesAreNeverUnlimited) {
  for (const char* text : {"", "soon", "1:", ":1", "1:2:3:4", "1-2:3:4:5", "-5", "1h", "1 0", "--",
                           "2-x", "99999999999999999999"}) {
    EXPECT_FALSE(parse_slurm_time(text).has_value()) << text;
  }
}

TEST(Text, LimitsRoundUpToMinutes) {
  EXPECT_EQ(round_up_to_minute(90), 120);
  EXPECT_EQ(round_up_to_minute(120), 120);
  EXPECT_EQ(round_up_to_minute(7 * 86400 + 99), 7 * 86400 + 120);
  EXPECT_EQ(round_up_to_minute(0), 0);
  EXPECT_EQ(round_up_to_minute(kUnlimited), kUnlimited);
}

TEST(Text, FormatsTimes) {
  EXPECT_EQ(format_slurm_time(2 * 86400 + 3661), "2-01:01:01");
  EXPECT_EQ(format_slurm_time(59), "00:00:59");
  EXPECT_EQ(format_slurm_time(kUnlimited), "UNLIMITED");
  EXPECT_EQ(format_slurm_time(kUnset), "NONE");
}

TEST(Text, MemorySizes) {
  EXPECT_EQ(parse_memory_mib("500"), 500);
  EXPECT_EQ(parse_memory_mib("4G"), 4096);
  EXPECT_EQ(parse_memory_mib("4GB"), 4096);
  EXPECT_EQ(parse_memory_mib("1500K"), 2);  // rounds up
  EXPECT_EQ(parse_memory_mib("1024k"), 1);
  EXPECT_EQ(parse_memory_mib("2t"), 2 * 1024 * 1024);
  EXPECT_EQ(parse_memory_mib("0"), 0);
  for (const char* text : {"", "G", "1.5G", "-1", "4X", "4 G", "B", "GB", "9999999999999999T"}) {
    EXPECT_FALSE(parse_memory_mib(text).has_value()) << text;
  }
}

TEST(Text, CountsHaveBinarySuffixes) {
  EXPECT_EQ(parse_count("8"), 8);
  EXPECT_EQ(parse_count("1K"), 1024);
  EXPECT_EQ(parse_count("4G"), std::int64_t{4} << 30);
  for (const char* text : {"", "K", "-1", "1.5", "a100", "9999999P"}) {
    EXPECT_FALSE(parse_count(text).has_value()) << text;
  }
}

TEST(Text, Integers) {
  EXPECT_EQ(parse_int("-12"), -12);
  EXPECT_EQ(parse_int("+12"), 12);
  EXPECT_EQ(parse_int("03600"), 3600);
  for (const char* text : {"", "+", "+-1", "1x", " 1", "9223372036854775808"}) {
    EXPECT_FALSE(parse_int(text).has_value()) << text;
  }
}

TEST(Text, Booleans) {
  EXPECT_EQ(parse_bool("yes"), true);
  EXPECT_EQ(parse_bool("UP"), true);
  EXPECT_EQ(parse_bool("0"), false);
  EXPECT_FALSE(parse_bool("maybe").has_value());
  EXPECT_FALSE(parse_bool("").has_value());
}

TEST(Text, SplitsAndTrims) {
  EXPECT_EQ(split("a::b", ':'), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
  EXPECT_EQ(split_list(" a, ,b,"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(trim("\t a b \r\n"), "a b");
  EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
  EXPECT_TRUE(istarts_with("NodeName=x", "nodename"));
  EXPECT_FALSE(iequals("a", "ab"));
}

TEST(Text, EditDistanceIgnoresCase) {
  EXPECT_EQ(edit_distance("SchedulerTyp", "schedulertype"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

}  // namespace
}  // namespace fedsim
