// Civil time: dates, written forms, offsets and the two readings of an hour that occurs twice.
#include "trace/civil.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "fedsim/error.hpp"

namespace fedsim {
namespace {

TEST(Civil, KnownDates) {
  EXPECT_EQ(civil_seconds({1970, 1, 1, 0, 0, 0}), 0);
  EXPECT_EQ(civil_seconds({2000, 2, 29, 12, 0, 0}), 951825600);
  EXPECT_EQ(civil_seconds({2026, 3, 1, 8, 0, 0}), 1772352000);
  EXPECT_EQ(civil_seconds({1969, 12, 31, 23, 59, 59}), -1);
  for (const std::int64_t t : {0L, 951825600L, 1772352000L, -86401L, 4102444800L}) {
    EXPECT_EQ(parse_written_time(format_civil(t))->seconds, t);
  }
}

TEST(Civil, WrittenForms) {
  EXPECT_EQ(parse_written_time("1652870000")->offset_s, 0);
  EXPECT_FALSE(parse_written_time("2026-03-01T08:00:00")->offset_s);
  EXPECT_EQ(parse_written_time("2026-03-01T08:00:00+0100")->offset_s, 3600);
  EXPECT_EQ(parse_written_time("2026-03-01 08:00:00.123-05:30")->offset_s, -19800);
  EXPECT_EQ(parse_written_time("2026-03-01T08:00:00Z")->offset_s, 0);
  for (const char* bad : {"", "Unknown", "2026-13-01T08:00:00", "2026-03-01", "12345678",
                          "2026-03-01T08:00:00 CET"}) {
    EXPECT_FALSE(parse_written_time(bad)) << bad;
  }
}

TEST(Zone, FixedOffsets) {
  EXPECT_EQ(Zone::parse("+01:00").instants(3600), (std::vector<std::int64_t>{0}));
  EXPECT_EQ(Zone::parse("UTC").offset_at(0), 0);
  EXPECT_EQ(Zone::parse("-0530").offset_at(0), -19800);
  EXPECT_THROW(Zone::parse("Europe/Atlantis"), InputError);
  EXPECT_THROW(Zone::parse("../etc/passwd"), InputError);
}

// 2025-10-26 in Oslo: 03:00 CEST is 02:00 CET; 02:50 is 00:50 or 01:50 UTC.
TEST(Zone, HourThatOccursTwice) {
  if (!std::filesystem::exists("/usr/share/zoneinfo/Europe/Oslo")) GTEST_SKIP() << "no tzdata";
  const Zone oslo = Zone::parse("Europe/Oslo");
  const std::int64_t local = civil_seconds({2025, 10, 26, 2, 50, 0});
  EXPECT_EQ(oslo.instants(local), (std::vector<std::int64_t>{1761439800, 1761443400}));
  EXPECT_EQ(oslo.instants(civil_seconds({2025, 7, 1, 12, 0, 0})).size(), 1U);
  // 2025-03-30 02:30 does not occur; read with the offset before the change (01:30 UTC).
  EXPECT_EQ(oslo.instants(civil_seconds({2025, 3, 30, 2, 30, 0})),
            (std::vector<std::int64_t>{civil_seconds({2025, 3, 30, 1, 30, 0})}));
}

}  // namespace
}  // namespace fedsim
