// machine(), with_cluster() and ok() of spec.hpp.
#include "fedsim/spec.hpp"

#include <gtest/gtest.h>

namespace fedsim {
namespace {

TEST(Spec, MachineOfCores) {
  const ClusterSpec cluster = machine("flat", 16, 1);
  EXPECT_EQ(cluster.name, "flat");
  ASSERT_EQ(cluster.nodes.size(), 16U);
  EXPECT_EQ(cluster.nodes[0].name, "n01");
  EXPECT_EQ(cluster.nodes[15].name, "n16");
  EXPECT_EQ(cluster.nodes[0].cpus, 1);
  EXPECT_TRUE(cluster.nodes[0].gpus.empty());
  ASSERT_EQ(cluster.partitions.size(), 1U);
  EXPECT_EQ(cluster.partitions[0].name, "batch");
  EXPECT_TRUE(cluster.partitions[0].is_default);
  EXPECT_EQ(cluster.partitions[0].nodes.size(), 16U);
  EXPECT_EQ(cluster.partitions[0].max_time_s, kUnlimited);
}

TEST(Spec, MachineOfGpus) {
  const ClusterSpec typed = machine("m", 2, 8, "a100");
  EXPECT_EQ(typed.nodes[1].cpus, 8);
  ASSERT_EQ(typed.nodes[1].gpus.size(), 8U);
  EXPECT_EQ(typed.nodes[1].gpus[7].type, "a100");
  EXPECT_EQ(typed.nodes[1].gres, (std::vector<GresSpec>{{"gpu", "a100", 8}}));
  EXPECT_EQ(machine("m", 1, 2, "").nodes[0].gres, (std::vector<GresSpec>{{"gpu", "", 2}}));
}

TEST(Spec, MachineRefusesWhatCannotBe) {
  EXPECT_THROW(machine("m", 0, 8), InputError);
  EXPECT_THROW(machine("m", 1, 0), InputError);
  EXPECT_THROW(machine("m", 1, 65, "a100"), InputError);
  EXPECT_NO_THROW(machine("m", 1, 1024));
}

TEST(Spec, WithClusterIsACopy) {
  FederationSpec one;
  one.clusters.push_back(machine("a", 1, 1));
  const FederationSpec two = one.with_cluster(machine("b", 1, 1));
  EXPECT_EQ(one.clusters.size(), 1U);
  EXPECT_FALSE(one.federated);
  ASSERT_EQ(two.clusters.size(), 2U);
  EXPECT_EQ(two.clusters[1].name, "b");
  EXPECT_TRUE(two.federated);
}

TEST(Spec, OkMeansNoError) {
  ConfigResult result;
  EXPECT_TRUE(result.ok());
  result.diagnostics.push_back({Severity::warning, "C005", "", 0, "", ""});
  EXPECT_TRUE(result.ok());
  result.diagnostics.push_back({Severity::error, "C001", "", 0, "", ""});
  EXPECT_FALSE(result.ok());
}

}  // namespace
}  // namespace fedsim
