// topology.conf: the switch tree and its findings.
#include <gtest/gtest.h>

#include "unit/conf/folder.hpp"

namespace fedsim::conf {
namespace {

ConfigResult with_topology(const std::string& topology, const std::string& plugin) {
  return read({{"slurm.conf", "ClusterName=c1\nTopologyPlugin=" + plugin +
                                  "\nNodeName=n[1-4]\nPartitionName=p Nodes=ALL Default=YES\n"},
               {"topology.conf", topology}});
}

TEST(TopologyConf, ReadsATreeInFileOrder) {
  const auto result = with_topology(
      "SwitchName=top Switches=s[1-2]\nSwitchName=s1 Nodes=n[1-2] LinkSpeed=100\n"
      "SwitchName=s2 Nodes=n[3-4]",
      "topology/tree");
  EXPECT_TRUE(result.diagnostics.empty()) << all_text(result);
  ASSERT_EQ(result.cluster.switches.size(), 3U);
  EXPECT_EQ(result.cluster.switches[0].switches, (std::vector<std::string>{"s1", "s2"}));
  EXPECT_EQ(result.cluster.switches[1].nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(result.cluster.switches[1].link_speed, 100);
}

TEST(TopologyConf, UsedOnlyWithTheTreePlugin) {
  const auto result = with_topology("SwitchName=s1 Nodes=n[1-4]\n", "topology/none");
  EXPECT_TRUE(result.cluster.switches.empty());
  EXPECT_EQ(with_code(result, "C033").size(), 1U);
}

TEST(TopologyConf, NodesThatAreUnknownTwiceOrNowhere) {
  const auto result =
      with_topology("SwitchName=s1 Nodes=n[1-2],m9\nSwitchName=s2 Nodes=n[2-3]\n", "topology/tree");
  const auto found = with_code(result, "C032");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_NE(found[0].message.find("m9"), std::string::npos);
  EXPECT_NE(found[1].message.find("n2"), std::string::npos);
  EXPECT_NE(found[2].message.find("n4"), std::string::npos);
  EXPECT_TRUE(result.ok());
}

TEST(TopologyConf, UndefinedChildrenCyclesAndDuplicatesAreErrors) {
  EXPECT_EQ(place_of(with_topology("SwitchName=s1 Nodes=n[1-4]\nSwitchName=top Switches=s1,s9\n",
                                   "topology/tree"),
                     "C031"),
            "topology.conf:2");
  EXPECT_EQ(with_code(with_topology("SwitchName=a Switches=b\nSwitchName=b Switches=a\n"
                                    "SwitchName=s Nodes=n[1-4]\n",
                                    "topology/tree"),
                      "C031")
                .size(),
            1U);
  EXPECT_EQ(
      place_of(with_topology("SwitchName=s Nodes=n[1-4]\nSwitchName=s Nodes=n1\n", "topology/tree"),
               "C031"),
      "topology.conf:2");
}

TEST(TopologyConf, MissingFileIsAnErrorAtThePlugin) {
  const auto result = read({{"slurm.conf",
                             "ClusterName=c1\nTopologyPlugin=topology/tree\n"
                             "NodeName=n1\nPartitionName=p Nodes=n1 Default=YES\n"}});
  EXPECT_EQ(place_of(result, "C030"), "slurm.conf:2");
}

}  // namespace
}  // namespace fedsim::conf
