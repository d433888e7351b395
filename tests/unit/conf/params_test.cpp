// The parameter table: no key twice, all keys found in any case.
#include "conf/params.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "base/text.hpp"

namespace fedsim::conf {
namespace {

TEST(Params, EveryKeyOnceAndFound) {
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (const ParameterInfo& row : parameter_table()) {
    EXPECT_TRUE(seen.emplace(row.file, row.scope, to_lower(row.key)).second) << row.key;
    const Parameter* found = find_parameter(row.file, row.scope, to_upper(row.key));
    ASSERT_NE(found, nullptr) << row.key;
    EXPECT_EQ(found->key, row.key);
  }
  EXPECT_GT(seen.size(), 400U);
}

TEST(Params, IgnoredRowsSayWhatThatMeans) {
  for (const ParameterInfo& row : parameter_table()) {
    if (row.coverage == Coverage::ignored) {
      EXPECT_FALSE(row.note.empty()) << row.key;
    }
  }
}

TEST(Params, WhatTheModelHoldsIsModelled) {
  for (const char* key : {"SchedulerType", "SelectType", "PriorityType", "EnforcePartLimits",
                          "KillWait", "OverTimeLimit", "MinJobAge", "DefMemPerCPU"}) {
    const Parameter* row = find_parameter("slurm.conf", "", key);
    ASSERT_NE(row, nullptr) << key;
    EXPECT_EQ(row->role, Role::modelled) << key;
  }
  EXPECT_EQ(find_parameter("slurm.conf", "SchedulerParameters", "bf_window")->role, Role::modelled);
}

TEST(Params, NearestKey) {
  EXPECT_EQ(nearest_key("slurm.conf", "", "SchedulerTyp"), "SchedulerType");
  EXPECT_EQ(nearest_key("slurm.conf", "NodeName", "RealMemry"), "RealMemory");
  EXPECT_EQ(nearest_key("slurm.conf", "NodeName", "Colour"), "");
}

TEST(Params, ValuesFitTheirKind) {
  EXPECT_TRUE(value_fits(ValueKind::number, "03600"));
  EXPECT_TRUE(value_fits(ValueKind::number, "INFINITE"));
  EXPECT_FALSE(value_fits(ValueKind::number, "12x"));
  EXPECT_TRUE(value_fits(ValueKind::time, "7-0"));
  EXPECT_FALSE(value_fits(ValueKind::time, "week"));
  EXPECT_TRUE(value_fits(ValueKind::boolean, "No"));
  EXPECT_FALSE(value_fits(ValueKind::boolean, "perhaps"));
  EXPECT_FALSE(value_fits(ValueKind::real, ""));
}

}  // namespace
}  // namespace fedsim::conf
