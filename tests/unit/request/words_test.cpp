// Words of requests: sizes, times, features, generic resources.
#include "request/words.hpp"

#include <gtest/gtest.h>

#include "fedsim/spec.hpp"
#include "request/features.hpp"
#include "request/gres_request.hpp"

namespace fedsim {
namespace {

TEST(Words, Sizes) {
  EXPECT_EQ(read_size_mib("4"), 4);
  EXPECT_EQ(read_size_mib("1500K"), 2);  // rounded up
  EXPECT_EQ(read_size_mib("4GB"), 4096);
  EXPECT_EQ(read_size_mib("1T"), 1048576);
  for (const char* bad : {"", "lots", "4X", "16.5G", "-4G", "4GiB", "99999999999999999999"})
    EXPECT_FALSE(read_size_mib(bad).has_value()) << bad;
}

TEST(Words, Minutes) {
  EXPECT_EQ(read_minutes("0:30"), 1);
  EXPECT_EQ(read_minutes("30:01"), 31);
  EXPECT_EQ(read_minutes("5-"), 5 * 1440);
  EXPECT_EQ(read_minutes("1-0:30"), 1470);
  EXPECT_EQ(read_minutes("-1"), kUnlimited);
  EXPECT_EQ(read_minutes("UNLIMITED"), kUnlimited);
  EXPECT_EQ(read_minutes("0"), 0);
  for (const char* bad : {"", "12h", "1.5", "1:2:3:4"})
    EXPECT_FALSE(read_minutes(bad).has_value()) << bad;
}

TEST(Words, Instants) {
  constexpr std::int64_t kNow = 1'700'000'000;  // 2023-11-14 22:13:20
  const auto at = [](const char* text) { return read_instant(text, kNow).seconds; };
  EXPECT_EQ(at("now"), kNow);
  EXPECT_EQ(at("now+60"), kNow + 60);
  EXPECT_EQ(at("now+10minutes"), kNow + 600);
  EXPECT_EQ(at("now-1hour"), kNow - 3600);
  EXPECT_EQ(at("2023-11-15"), 1'700'006'400);
  EXPECT_EQ(at("2023-11-15T08:30"), 1'700'006'400 + 30600);
  EXPECT_EQ(at("23:00"), 1'700'002'800);
  EXPECT_EQ(at("08:00"), 1'700'006'400 + 28800);  // past today: tomorrow's
  EXPECT_EQ(at("tomorrow"), 1'700'006'400);
  EXPECT_EQ(at("01/15/30"), 1'894'665'600);
  EXPECT_EQ(read_instant("bad", kNow).position, 0);
  EXPECT_EQ(read_instant("now+1fortnight", kNow).position, 4);
  for (const char* bad : {"bad", "25:00", "now+1fortnight", "2023-13-01", ""})
    EXPECT_EQ(at(bad), 0) << bad;
}

TEST(Features, TiesCountsAndBrackets) {
  const auto terms = parse_features("[a*2&b*1]&c");
  ASSERT_TRUE(terms.has_value());
  ASSERT_EQ(terms->size(), 3U);
  EXPECT_EQ((*terms)[0].tie, FeatureTie::counted_set);
  EXPECT_EQ((*terms)[0].count, 2);
  EXPECT_EQ((*terms)[2].name, "c");
  EXPECT_TRUE(is_consistent(*terms));
  EXPECT_EQ(parse_features("a,b")->front().tie, FeatureTie::all);
  EXPECT_EQ(parse_features("a&")->size(), 1U);
  EXPECT_TRUE(parse_features("")->empty());
  EXPECT_FALSE(is_consistent(*parse_features("[a&b]")));
  EXPECT_FALSE(is_consistent(*parse_features("[a*2|b]")));
  for (const char* bad : {"&a", "[a", "a]", "(a", "a*0", "*2", "[a|b]|[c|d]", "a(b)"})
    EXPECT_FALSE(parse_features(bad).has_value()) << bad;
}

TEST(GresRequest, SameNameTwiceDoesNotAddUp) {
  JobDescription job;
  job.gres_per_node = "gres:gpu:2,gres:gpu:2";
  const GresJob two = validate_gres(job, {"gpu"}, true, true);
  ASSERT_EQ(two.asks.size(), 1U);
  EXPECT_EQ(two.asks[0].per_node, 2);
  job.gres_per_node = "gres:gpu:a100:2,gres:gpu:v100:1";
  EXPECT_EQ(validate_gres(job, {"gpu"}, true, true).asks.size(), 2U);
}

TEST(GresRequest, TasksFollowGpusAndGpusTasks) {
  JobDescription job;
  job.gres_per_job = "gres:gpu:4";
  job.ntasks_per_gres = 2;
  EXPECT_EQ(validate_gres(job, {"gpu"}, true, true).verdict, GresVerdict::ok);
  EXPECT_EQ(job.num_tasks, 8);
  JobDescription tasks;
  tasks.num_tasks = 6;
  tasks.ntasks_per_gres = 2;
  const GresJob from_tasks = validate_gres(tasks, {"gpu"}, true, true);
  ASSERT_EQ(from_tasks.asks.size(), 1U);
  EXPECT_EQ(from_tasks.asks[0].per_job, 3);
  JobDescription nodes;
  nodes.gres_per_job = "gres:gpu:12";
  nodes.gres_per_node = "gres:gpu:4";
  EXPECT_EQ(validate_gres(nodes, {"gpu"}, true, true).verdict, GresVerdict::ok);
  EXPECT_EQ(nodes.min_nodes, 3);
  EXPECT_EQ(nodes.max_nodes, 3);
}

TEST(GresRequest, OldSelectPluginTakesPerNodeOnly) {
  JobDescription job;
  job.gres_per_job = "gres:gpu:4";
  EXPECT_EQ(validate_gres(job, {"gpu"}, false, true).verdict, GresVerdict::unsupported);
}

}  // namespace
}  // namespace fedsim
