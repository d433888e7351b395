// Validation, node order and options of compile().
#include <gtest/gtest.h>

#include "fedsim/model.hpp"

namespace fedsim {
namespace {

TEST(Compile, NodesInNaturalOrder) {
  ClusterSpec c;
  c.name = "a";
  PartitionSpec p;
  p.name = "batch";
  for (const char* name : {"n10", "n2", "n1"}) {
    NodeSpec n;
    n.name = name;
    c.nodes.push_back(n);
    p.nodes.push_back(name);
  }
  c.partitions.push_back(p);
  FederationSpec spec;
  spec.clusters.push_back(c);
  const auto model = compile(spec);
  EXPECT_EQ(model->clusters[0].nodes[0].name, "n1");
  EXPECT_EQ(model->clusters[0].nodes[1].name, "n2");
  EXPECT_EQ(model->clusters[0].nodes[2].name, "n10");
}

TEST(Compile, AllProblemsAtOnce) {
  ClusterSpec c;
  c.name = "a";
  PartitionSpec p;
  p.name = "batch";
  p.nodes = {"ghost"};
  c.partitions.push_back(p);
  FederationSpec spec;
  spec.clusters = {c, c};
  try {
    (void)compile(spec);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostics().size(), 5U);  // twice: no nodes, unknown node; once: same name
  }
}

TEST(Compile, SixtyFourClustersAreTooMany) {
  FederationSpec spec;
  spec.clusters.resize(64);
  try {
    (void)compile(spec);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostics().back().message, "Too many clusters in federation");
  }
}

TEST(Compile, SchedulerParameters) {
  FederationSpec spec;
  spec.clusters.push_back(machine("a", 1, 1));
  spec.clusters[0].options["SchedulerParameters"] =
      "bf_interval=5,bf_window=2880,bf_continue,bf_resolution=0";
  const auto model = compile(spec);
  const SchedulerModel& s = model->clusters[0].scheduler;
  EXPECT_EQ(s.bf_interval_s, 5);
  EXPECT_EQ(s.bf_window_s, 2880 * 60);
  EXPECT_TRUE(s.bf_continue);
  EXPECT_EQ(s.bf_resolution_s, 60);  // 0 is out of range: default kept, with a warning
  ASSERT_EQ(model->warnings.size(), 1U);
  EXPECT_EQ(model->warnings[0].code, "C113");
}

}  // namespace
}  // namespace fedsim
