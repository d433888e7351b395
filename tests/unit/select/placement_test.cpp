// place_job: nodes, cores and devices on small clusters; what is said of 22.05 was seen on it.
#include "select/placement.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace fedsim {
namespace {

/// Nodes of two sockets; every method returns the cluster, so that a test reads as one sentence.
class Cluster {
 public:
  Cluster& add(int cores_per_socket, int gpus = 0, std::int64_t weight = 1) {
    NodeHardware node;
    node.name = "n" + std::to_string(hardware.nodes.size() + 1);
    node.sockets = 2;
    node.cores_per_socket = cores_per_socket;
    node.memory_mib = 64000;
    node.weight = weight;
    NodeUse held;
    if (gpus > 0) {
      GresHardware gpu;
      gpu.name = "gpu";
      for (int i = 0; i < gpus; ++i)
        gpu.devices.push_back({"a100", std::uint64_t{1} << (i * 2 / gpus), 1});
      node.gres.push_back(gpu);
      held.gres.push_back({0, std::vector<std::int64_t>(gpu.devices.size()), 0});
    }
    hardware.nodes.push_back(node);
    use.push_back(held);
    return *this;
  }

  Cluster& hold(std::size_t node, int first, int cores, std::size_t partition = 0) {
    NodeShare share;
    share.cores.set(first, cores);
    share.partition = static_cast<std::uint32_t>(partition);
    fedsim::hold(hardware.nodes[node], share, use[node]);
    return *this;
  }

  Cluster& switches(const std::vector<std::vector<std::string>>& leaves) {
    std::vector<SwitchSpec> specs;
    SwitchSpec top{"top", {}, {}, kUnset};
    for (const auto& leaf : leaves) {
      specs.push_back({"leaf" + std::to_string(specs.size()), leaf, {}, kUnset});
      top.switches.push_back(specs.back().name);
    }
    specs.push_back(top);
    std::vector<std::string> names;
    for (const NodeHardware& n : hardware.nodes) names.push_back(n.name);
    hardware.switches = SwitchTree(specs, names);
    return *this;
  }

  std::optional<NodePlacements> place(const JobAsk& ask, const SelectRules& rules = {}) const {
    return place_job({hardware, use}, rules, ask, everywhere());
  }

  /// Both share their cores, in two rows.
  static ClusterHardware two_partitions() {
    ClusterHardware out;
    out.tiers = {1, 1};
    out.rows = {2, 2};
    return out;
  }

  Bitmap everywhere() const {
    Bitmap all(1, 0);
    for (std::size_t i = 0; i < hardware.nodes.size(); ++i) set_bit(all, i);
    return all;
  }

  ClusterHardware hardware = two_partitions();
  std::vector<NodeUse> use;
};

JobAsk tasks(std::int64_t n, std::int64_t nodes = 1) {
  JobAsk ask;
  ask.num_tasks = ask.min_cpus = n;
  ask.min_nodes = nodes;
  ask.memory_mib = 100;
  return ask;
}

JobAsk gpus(std::int64_t per_job, std::int64_t per_node, std::int64_t n = 1) {
  JobAsk ask = tasks(n);
  ask.num_tasks = 0;  // -n is not given
  DeviceAsk gpu;
  gpu.name = "gpu";
  gpu.per_job = per_job;
  gpu.per_node = per_node;
  gpu.tasks_per = 0;
  ask.devices.push_back(gpu);
  return ask;
}

/// "0:4 2:1": node and CPUs of each.
std::string shape(const std::optional<NodePlacements>& got) {
  if (!got) return "waits";
  std::string out;
  for (const NodePlacement& p : *got)
    out += (out.empty() ? "" : " ") + std::to_string(p.node) + ":" + std::to_string(p.cpus);
  return out;
}

TEST(PlaceJob, TheSmallestRunOfNodesThatIsEnough) {
  Cluster c;
  c.add(8).add(2).add(2).add(8);
  EXPECT_EQ(shape(c.place(tasks(3))), "1:3");
  EXPECT_EQ(shape(c.place(tasks(8, 2))), "0:7 1:1");
  EXPECT_EQ(shape(c.place(tasks(20))), "0:16 1:4") << "all are one run, taken from its start";
  EXPECT_EQ(shape(c.place(tasks(41))), "waits");
}

TEST(PlaceJob, LightNodesFirst) {
  Cluster c;
  c.add(8, 0, 5).add(8, 0, 1).add(4, 0, 9);
  EXPECT_EQ(shape(c.place(tasks(2))), "1:2");
  EXPECT_EQ(shape(c.place(tasks(18))), "0:2 1:16");
}

TEST(PlaceJob, SixteenTasksOnThreeNodesAreFourteenOneOne) {
  Cluster c;
  c.add(8).add(8).add(8);
  EXPECT_EQ(shape(c.place(tasks(16, 3))), "0:14 1:1 2:1");
}

TEST(PlaceJob, HeldCoresAndRowsOfOverSubscribe) {
  Cluster c;
  c.add(4).hold(0, 0, 6);
  EXPECT_EQ(shape(c.place(tasks(3))), "waits");
  const auto rest = c.place(tasks(2));
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->front().cores.count(0, 6), 0) << "no core is given twice";

  c.use[0].one_row_jobs = 0;  // it is of a partition that shares too
  SelectRules force;
  force.shares_cores = true;
  force.rows = 2;
  EXPECT_EQ(shape(c.place(tasks(8), force)), "0:8") << "a second row is free";
  SelectRules other = force;
  other.partition = 1;
  EXPECT_EQ(shape(c.place(tasks(8), other)), "0:8") << "rows are of one partition";
}

TEST(PlaceJob, MemoryAndExclusiveNodes) {
  Cluster c;
  c.add(4).add(4).hold(0, 0, 1);
  c.use[1].memory_mib = 60000;
  JobAsk ask = tasks(1);
  ask.memory_mib = 5000;
  EXPECT_EQ(shape(c.place(ask)), "0:1");
  ask.whole_nodes = true;
  ask.exclusive_given = true;
  EXPECT_EQ(shape(c.place(ask)), "waits") << "one holds cores, the other memory";
  c.use[1].memory_mib = 0;
  EXPECT_EQ(shape(c.place(ask)), "1:8");

  SelectRules no_memory;
  no_memory.memory = false;
  JobAsk big = tasks(1);
  big.memory_mib = 64000;
  c.use[0].memory_mib = c.use[1].memory_mib = 60000;
  EXPECT_EQ(shape(c.place(big)), "waits");
  EXPECT_NE(shape(c.place(big, no_memory)), "waits");
}

TEST(PlaceJob, LeastLoadedNodes) {
  Cluster c;
  c.add(4).add(4).add(4).hold(0, 0, 2).hold(1, 0, 1);
  EXPECT_EQ(shape(c.place(tasks(1))), "0:1") << "best fit fills";
  SelectRules lln;
  lln.least_loaded = true;
  EXPECT_EQ(shape(c.place(tasks(1), lln)), "2:1");
}

TEST(PlaceJob, TheSwitchWithEnoughNodes) {
  Cluster c;
  c.add(2).add(2).add(2).add(2).switches({{"n1", "n3"}, {"n2", "n4"}}).hold(0, 0, 4);
  EXPECT_EQ(shape(c.place(tasks(8, 2))), "1:4 3:4");
  EXPECT_EQ(shape(c.place(tasks(12, 3))), "1:4 2:4 3:4");
  EXPECT_EQ(shape(c.place(tasks(4, 4))), "waits");
}

TEST(PlaceJob, GpusOfTheSocketFirst) {
  Cluster c;
  c.add(8, 8).add(8, 8);
  const auto nine = c.place(gpus(9, 0));
  ASSERT_TRUE(nine);
  ASSERT_EQ(nine->size(), 2U);
  EXPECT_EQ((*nine)[0].devices[0].devices, 0x1FU) << "5 and 4";
  EXPECT_EQ((*nine)[1].devices[0].devices, 0x0FU);

  JobAsk both = gpus(0, 2);
  both.cpus_per_task = both.min_cpus = 12;
  const auto spread = c.place(both);
  ASSERT_TRUE(spread);
  EXPECT_EQ((*spread)[0].devices[0].devices, 0x11U) << "one GPU of each socket in use";
}

TEST(PlaceJob, NoDeviceIsGivenTwice) {
  Cluster c;
  c.add(8, 8);
  std::uint64_t all = 0;
  int jobs = 0;
  for (; const auto got = c.place(gpus(0, 3)); ++jobs) {
    const NodePlacement& p = got->front();
    EXPECT_EQ(std::popcount(p.devices[0].devices), 3);
    EXPECT_EQ(all & p.devices[0].devices, 0U);
    all |= p.devices[0].devices;
    c.use[0].gres[0].devices = all;
    for (std::size_t d = 0; d < 8; ++d) c.use[0].gres[0].parts[d] = (all >> d) & 1U;
    const CoreSet cores = p.cores;
    EXPECT_FALSE(c.use[0].held.overlaps(cores));
    if (c.use[0].partitions.empty()) c.use[0].partitions.push_back({0, {CoreSet{}}});
    c.use[0].partitions[0].rows[0] |= cores;
  }
  EXPECT_EQ(jobs, 2);
}

TEST(PlaceJob, EightAndEightNeverMakeTwelveOnOneNode) {
  Cluster c;
  c.add(8, 8).add(8, 8);
  JobAsk one = gpus(0, 12);
  EXPECT_FALSE(c.place(one));
  EXPECT_FALSE(nodes_when_idle({c.hardware, c.use}, {}, one, c.everywhere()));
  const auto idle = nodes_when_idle({c.hardware, c.use}, {}, gpus(12, 0), c.everywhere());
  ASSERT_TRUE(idle);
  EXPECT_EQ(*idle, (std::vector<std::uint32_t>{0, 1}));
}

}  // namespace
}  // namespace fedsim
