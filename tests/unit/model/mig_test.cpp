// MIG geometry: the valid and invalid sets of NVIDIA's tables, and plans for demands.
#include "fedsim/mig.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace fedsim {
namespace {

const MigGpu& a100() {
  return *find_mig_gpu("a100-40");
}

MigFit fit(const std::vector<std::string>& names, const MigGpu& gpu = a100()) {
  std::vector<const MigProfile*> all;
  for (const std::string& name : names) all.push_back(gpu.find(name));
  return mig_fit(all);
}

std::vector<std::string> times(int n, const char* name) {
  return std::vector<std::string>(static_cast<std::size_t>(n), name);
}

MigPlan plan(const std::vector<std::pair<std::string, int>>& demand, const MigGpu& gpu = a100()) {
  std::vector<std::pair<const MigProfile*, int>> all;
  for (const auto& [name, n] : demand) all.emplace_back(gpu.find(name), n);
  return mig_plan(all);
}

TEST(Mig, ProfilesOfTheA100) {
  std::vector<std::string> names;
  for (const MigProfile& p : a100().profiles)
    if (!p.media() && p.id != 15) names.push_back(p.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"1g.5gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"}));
  const int want[5][3] = {{1, 1, 7}, {2, 2, 3}, {3, 4, 2}, {4, 4, 1}, {7, 8, 1}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const MigProfile& p = *a100().find(names[i]);
    EXPECT_EQ(p.compute_slices, want[i][0]) << p.name;
    EXPECT_EQ(p.memory_slices, want[i][1]) << p.name;
    EXPECT_EQ(p.max_instances, want[i][2]) << p.name;
  }
  EXPECT_EQ(find_mig_gpu("a100-80")->find("7g")->name, "7g.80gb");
  EXPECT_EQ(find_mig_gpu("a100-80")->find("1g")->name, "1g.10gb");
}

TEST(Mig, GpusAreFoundByName) {
  EXPECT_EQ(find_mig_gpu("A100_80GB")->name, "A100-80GB");
  EXPECT_EQ(find_mig_gpu("h200")->name, "H200-141GB");
  EXPECT_EQ(find_mig_gpu("a100"), nullptr) << "of which size?";
  EXPECT_EQ(find_mig_gpu("v100"), nullptr);
  EXPECT_EQ(find_mig_gpu(""), nullptr);
  EXPECT_EQ(a100().find("5g"), nullptr);
}

TEST(Mig, SetsThatFit) {
  for (const auto& set : {times(7, "1g"),
                          times(2, "3g"),
                          {"4g", "3g"},
                          {"3g", "2g", "1g", "1g"},
                          {"2g", "2g", "2g", "1g"},
                          {"7g"}}) {
    const MigFit found = fit(set);
    EXPECT_TRUE(found.fits) << testing::PrintToString(set) << found.reason;
    unsigned taken = 0;
    for (const MigPlacement& i : found.instances) {
      const unsigned mine = ((1U << i.profile->memory_slices) - 1U) << i.start;
      EXPECT_EQ(taken & mine, 0U) << "a slice is given twice";
      EXPECT_NE(std::count(i.profile->starts.begin(), i.profile->starts.end(), i.start), 0);
      taken |= mine;
    }
  }
}

TEST(Mig, SetsThatDoNot) {
  EXPECT_EQ(fit({"3g", "3g", "1g"}).reason, "memory: 9 slices asked for, a GPU has 8");
  EXPECT_EQ(fit({"4g", "4g"}).reason, "compute: 8 slices asked for, a GPU has 7");
  EXPECT_FALSE(fit(times(4, "2g")).fits);
  EXPECT_FALSE(fit({"7g", "1g"}).fits);
  EXPECT_EQ(fit({"1g.5gb+me", "1g.5gb+me"}).reason, "profile: at most 1 of 1g.5gb+me on a GPU");
  // Sums that would do, at starts that do not.
  EXPECT_EQ(fit({"4g", "2g", "1g.10gb", "1g.10gb"}).fits, false);
}

TEST(Mig, PlansNeedAsFewGpusAsCanBe) {
  EXPECT_EQ(plan({{"3g", 1}, {"2g", 1}, {"1g", 2}}).gpus.size(), 1U);
  EXPECT_EQ(plan({{"1g", 7}}).gpus.size(), 1U);
  EXPECT_EQ(plan({{"3g", 3}}).gpus.size(), 2U);
  EXPECT_TRUE(plan({}).gpus.empty());
  const MigPlan large = plan({{"1g", 7000}, {"3g", 500}, {"2g", 900}});
  EXPECT_LE(large.at_least, large.gpus.size());
  EXPECT_LE(large.gpus.size(), large.at_least * 13 / 10);
}

// Every demand is met, no more and no less, by layouts that fit.
TEST(Mig, PlansMeetTheDemand) {
  std::uint64_t x = 7;
  for (const MigGpu& gpu : mig_gpus()) {
    for (int round = 0; round < 20; ++round) {
      std::vector<std::pair<std::string, int>> demand;
      for (const MigProfile& p : gpu.profiles) {
        x = x * 6364136223846793005ULL + 1442695040888963407ULL;
        demand.emplace_back(p.name, static_cast<int>((x >> 33) % 4));
      }
      const MigPlan found = plan(demand, gpu);
      EXPECT_EQ(found.at_least, found.gpus.size());
      for (const auto& [name, n] : demand) {
        int have = 0;
        for (const auto& layout : found.gpus)
          have += static_cast<int>(
              std::count_if(layout.begin(), layout.end(),
                            [&](const MigPlacement& i) { return i.profile->name == name; }));
        EXPECT_EQ(have, n) << gpu.name << " " << name;
      }
    }
  }
}

}  // namespace
}  // namespace fedsim
