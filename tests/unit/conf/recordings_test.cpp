// Real configurations against what real slurmctld made of them. The reference data is found by
// FEDSIM_SHARED or as the folder "shared" beside the repository; without it the tests are skipped.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fedsim/slurm_conf.hpp"
#include "support/paths.hpp"

namespace fedsim {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

void expect_node(const Json& want, const NodeSpec& node) {
  EXPECT_EQ(want.at("cpus"), node.cpus) << node.name;
  EXPECT_EQ(want.at("sockets"), node.sockets) << node.name;
  EXPECT_EQ(want.at("cores_per_socket"), node.cores_per_socket) << node.name;
  EXPECT_EQ(want.at("threads_per_core"), node.threads_per_core) << node.name;
  EXPECT_EQ(want.at("memory_mib"), node.memory_mib) << node.name;
  EXPECT_EQ(want.at("weight"), node.weight) << node.name;
  std::int64_t gpus = 0;
  for (const GresSpec& gres : node.gres) gpus += gres.name == "gpu" ? gres.count : 0;
  EXPECT_EQ(want.at("gpus"), gpus) << node.name;
  EXPECT_EQ(node.gpus.size(), static_cast<std::size_t>(gpus)) << node.name;
}

void expect_partition(const Json& want, const PartitionSpec& partition) {
  const auto seconds = [](std::int64_t s) { return s < 0 ? Json() : Json(s); };
  EXPECT_EQ(want.at("nodes_n"), partition.nodes.size()) << partition.name;
  EXPECT_EQ(want.at("max_time_s"), seconds(partition.max_time_s)) << partition.name;
  EXPECT_EQ(want.at("default_time_s"), seconds(partition.default_time_s)) << partition.name;
  EXPECT_EQ(want.at("default"), partition.is_default) << partition.name;
  EXPECT_EQ(want.at("priority_tier"), partition.priority_tier) << partition.name;
  EXPECT_EQ(want.at("state"), partition.state) << partition.name;
}

void expect_recorded(const Json& golden, const ClusterSpec& cluster) {
  std::size_t listed = 0;
  for (const NodeSpec& node : cluster.nodes) {
    if (node.state == "FUTURE") continue;  // not listed by slurmctld
    ++listed;
    const auto want = golden.at("nodes").find(node.name);
    ASSERT_NE(want, golden.at("nodes").end()) << node.name << " is not in the recording";
    expect_node(*want, node);
  }
  EXPECT_EQ(listed, golden.at("nodes").size());
  EXPECT_EQ(cluster.partitions.size(), golden.at("partitions").size());
  for (const PartitionSpec& partition : cluster.partitions) {
    const auto want = golden.at("partitions").find(partition.name);
    ASSERT_NE(want, golden.at("partitions").end()) << partition.name;
    expect_partition(*want, partition);
  }
}

struct Recordings : testing::Test {
  void SetUp() override {
    if (!fs::exists(test::reference_data() / "slurm-golden-conf")) {
      GTEST_SKIP() << "no reference data at " << test::reference_data();
    }
  }

  /// Compares a folder with its recording; false when slurmctld did not start with it.
  static bool compare(const fs::path& folder, const fs::path& recording) {
    SCOPED_TRACE(folder.string());
    const Json golden = Json::parse(std::ifstream(recording));
    if (!golden.value("started", false)) return false;
    expect_recorded(golden, read_config_folder(folder).cluster);
    return true;
  }
};

TEST_F(Recordings, RealConfigurations) {
  const fs::path data = test::reference_data() / "data" / "slurm-conf";
  int compared = 0;
  for (const fs::path& parent : {data, data / "cases"}) {
    for (const auto& entry : fs::directory_iterator(parent)) {
      const std::string name = entry.path().filename().string();
      if (!fs::exists(entry.path() / "slurm.conf")) continue;
      // Its nodes are in a file that was not published; the recording made them up.
      if (name == "03-file-gaps-two-types-one-node") continue;
      const std::string prefix = parent.filename() == "cases" ? "case-" : "";
      compared += compare(entry.path(),
                          test::reference_data() / "slurm-golden-conf" / (prefix + name + ".json"));
    }
  }
  EXPECT_GE(compared, 24);
}

TEST_F(Recordings, Probes) {
  int compared = 0;
  for (const auto& entry :
       fs::directory_iterator(test::reference_data() / "slurm-golden-conf" / "probes")) {
    compared += compare(entry.path(), entry.path() / "golden.json");
  }
  EXPECT_GE(compared, 30);
}

TEST_F(Recordings, ScenariosReadWithoutErrors) {
  int folders = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(test::reference_data() / "slurm-golden")) {
    if (entry.path().filename() != "slurm.conf") continue;
    const ConfigResult result = read_config_folder(entry.path().parent_path());
    EXPECT_TRUE(result.ok()) << entry.path();
    for (const Diagnostic& d : result.diagnostics) {
      EXPECT_EQ(d.severity, Severity::note) << entry.path() << "\n" << to_string(d);
    }
    ++folders;
  }
  EXPECT_GT(folders, 100);
}

}  // namespace
}  // namespace fedsim
