// gres.conf: devices, sockets, and what happens when it disagrees with slurm.conf.
#include <gtest/gtest.h>

#include "unit/conf/folder.hpp"

namespace fedsim::conf {
namespace {

/// One node n1 of two sockets with four cores.
ConfigResult with_gres(const std::string& gres, const std::string& gres_conf,
                       const std::string& types = "gpu") {
  return read({{"slurm.conf", "ClusterName=c1\nGresTypes=" + types +
                                  "\nNodeName=n1 Sockets=2 CoresPerSocket=4 Gres=" + gres +
                                  "\nPartitionName=p Nodes=ALL Default=YES\n"},
               {"gres.conf", gres_conf}});
}

/// "type@file" of each GPU of n1.
std::string gpus(const ConfigResult& result) {
  std::string out;
  for (const GpuDeviceSpec& gpu : node(result, "n1").gpus) {
    out += (out.empty() ? "" : " ") + gpu.type + "@" + gpu.file;
  }
  return out;
}

TEST(GresConf, DevicesInFileOrderAcrossTypes) {
  const auto result = with_gres("gpu:a:2,gpu:b:2",
                                "NodeName=n1 Name=gpu Type=a File=/dev/nvidia[0,2]\n"
                                "Name=gpu Type=b File=/dev/nvidia1,/dev/nvidia3 NodeName=n1\n");
  EXPECT_EQ(gpus(result), "a@/dev/nvidia0 a@/dev/nvidia2 b@/dev/nvidia1 b@/dev/nvidia3");
  EXPECT_TRUE(result.diagnostics.empty()) << all_text(result);
}

TEST(GresConf, CoresOldNameAndSameTypeTwice) {
  const auto result = with_gres("gpu:a:1,gpu:a:1",
                                "Name=gpu Type=a File=/dev/nvidia0 Cores=0-3\n"
                                "Name=gpu Type=a File=/dev/nvidia1 CPUs=4,6-7\n");
  ASSERT_EQ(node(result, "n1").gpus.size(), 2U);
  EXPECT_EQ(node(result, "n1").gpus[0].cores, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(node(result, "n1").gpus[1].cores, (std::vector<int>{4, 6, 7}));
  EXPECT_EQ(node(result, "n1").gres, (std::vector<GresSpec>{{"gpu", "a", 2}}));
}

TEST(GresConf, CoresThatDoNotExistUnbindTheGpu) {
  const auto result = with_gres("gpu:1", "Name=gpu File=/dev/nvidia0 Cores=0-3,8-11\n");
  ASSERT_EQ(node(result, "n1").gpus.size(), 1U);
  EXPECT_TRUE(node(result, "n1").gpus[0].cores.empty());
  EXPECT_EQ(place_of(result, "C026"), "gres.conf:1");
}

TEST(GresConf, UntypedSlurmConfStaysUntyped) {
  EXPECT_EQ(gpus(with_gres("gpu:2", "Name=gpu Type=a100 File=/dev/nvidia[0-1]\n")),
            "@/dev/nvidia0 @/dev/nvidia1");
}

TEST(GresConf, TypesCompareWithoutCaseAndShowAsInGresConf) {
  const auto result = with_gres("gpu:A100:2", "Name=gpu Type=a100 File=/dev/nvidia[0-1]\n");
  EXPECT_EQ(gpus(result), "a100@/dev/nvidia0 a100@/dev/nvidia1");
  EXPECT_EQ(node(result, "n1").gres[0].type, "a100");
  EXPECT_EQ(node(result, "n1").state, "UNKNOWN");
}

TEST(GresConf, FewerDevicesDrainTheNodeInSlurmsWords) {
  const auto result = with_gres("gpu:1g.10gb:4", "Name=gpu Type=1g.10gb File=/dev/cap[1-3]\n");
  EXPECT_EQ(node(result, "n1").state, "UNKNOWN+DRAIN+INVALID_REG");
  EXPECT_EQ(node(result, "n1").reason, "gres/gpu count reported lower than configured (3 < 4)");
  EXPECT_EQ(place_of(result, "C023"), "slurm.conf:3");
  EXPECT_TRUE(result.ok());
}

TEST(GresConf, ZeroDevicesAreFewer) {
  // Only a count, a line without the type, another type, no line for the node.
  for (const char* text : {"Name=gpu Type=a Count=2\n", "Name=gpu File=/dev/nvidia[0-1]\n",
                           "Name=gpu Type=nvidia_a File=/dev/nvidia[0-1]\n", "# nothing\n"}) {
    const auto result = with_gres("gpu:a:2", text);
    EXPECT_EQ(node(result, "n1").reason, "gres/gpu count reported lower than configured (0 < 2)")
        << text;
    EXPECT_EQ(gpus(result), "a@ a@") << text;
  }
}

TEST(GresConf, WithoutTheFileSlurmConfIsBelieved) {
  const auto result = read({{"slurm.conf",
                             "ClusterName=c1\nGresTypes=gpu\n"
                             "NodeName=n[1-3] Gres=gpu:a:2\n"
                             "PartitionName=p Nodes=ALL Default=YES\n"}});
  EXPECT_EQ(gpus(result), "a@ a@");
  EXPECT_EQ(node(result, "n1").state, "UNKNOWN");
  EXPECT_EQ(place_of(result, "C022"), "slurm.conf:3");  // once for the three nodes
  EXPECT_NE(with_code(result, "C022")[0].message.find("n[1-3]"), std::string::npos);
}

TEST(GresConf, AutoDetectIsBelievedToo) {
  EXPECT_EQ(gpus(with_gres("gpu:a:2", "AutoDetect=nvml\n")), "a@ a@");
  EXPECT_EQ(gpus(with_gres("gpu:a:2", "AutoDetect=nvml\nName=gpu File=/dev/nvidia[0-1]\n")),
            "a@/dev/nvidia0 a@/dev/nvidia1");
  const auto per_node = with_gres("gpu:a:2", "AutoDetect=off\nNodeName=n1 AutoDetect=nvml\n");
  EXPECT_EQ(node(per_node, "n1").state, "UNKNOWN");
  const auto off = with_gres("gpu:a:2", "AutoDetect=nvml\nNodeName=n1 AutoDetect=off\n");
  EXPECT_EQ(node(off, "n1").state, "UNKNOWN+DRAIN+INVALID_REG");
  const auto in_line = with_gres("gpu:1", "Name=gpu File=/dev/nvidia0 AutoDetect=nvml\n");
  EXPECT_EQ(place_of(in_line, "C028"), "gres.conf:1");
}

TEST(GresConf, MoreDevicesAreLeftOut) {
  const auto result = with_gres("gpu:2", "Name=gpu File=/dev/nvidia[0-3]\n");
  EXPECT_EQ(gpus(result), "@/dev/nvidia0 @/dev/nvidia1");
  EXPECT_EQ(place_of(result, "C024"), "gres.conf:1");
}

TEST(GresConf, ContradictionsThatEndSlurmdAreErrors) {
  EXPECT_EQ(place_of(with_gres("gpu:2", "AutoDetect=nvml\nName=gpu\nName=gpu\n"), "C025"),
            "gres.conf:3");
  EXPECT_EQ(place_of(with_gres("gpu:4", "Name=gpu Count=4 File=/dev/nvidia[0-1]\n"), "C025"),
            "gres.conf:1");
  const auto mixed = with_gres("gpu:a100:2,gpu:1", "Name=gpu Type=a100 File=/dev/nvidia[0-1]\n");
  EXPECT_EQ(place_of(mixed, "C025"), "slurm.conf:3");
  EXPECT_EQ(node(mixed, "n1").gres, (std::vector<GresSpec>{{"gpu", "a100", 2}}));
  const auto stray = with_gres("gpu:1", "Name=gpu File=/dev/nvidia0\nRACK: gpu one\n");
  EXPECT_EQ(place_of(stray, "C001"), "gres.conf:2");
  EXPECT_FALSE(stray.ok());
}

TEST(GresConf, OneDeviceOfSeveralFiles) {
  EXPECT_EQ(
      gpus(with_gres("gpu:mig:1", "Name=gpu Type=mig MultipleFiles=/dev/nvidia0,/dev/cap[1-2]\n")),
      "mig@/dev/nvidia0,/dev/cap1,/dev/cap2");
}

TEST(GresConf, NamesOutsideGresTypesDoNotCount) {
  const auto result =
      with_gres("gpu:2,fpga:1", "Name=gpu File=/dev/nvidia[0-1]\nName=fpga Count=1\n");
  EXPECT_EQ(node(result, "n1").gres, (std::vector<GresSpec>{{"gpu", "", 2}}));
  EXPECT_EQ(with_code(result, "C021").size(), 2U);
  const auto none = read({{"slurm.conf", "ClusterName=c1\nNodeName=n1 Gres=gpu:2\n"}});
  EXPECT_TRUE(node(none, "n1").gres.empty());
  EXPECT_TRUE(node(none, "n1").gpus.empty());
}

TEST(GresConf, SharedAndOtherGresAreCounts) {
  const auto result = with_gres("gpu:t4:2,shard:t4:16,bw:lustre:no_consume:4G",
                                "Name=gpu Type=t4 File=/dev/tty[0-1]\n"
                                "Name=shard Count=8 File=/dev/tty0\n"
                                "Name=shard Count=8 File=/dev/tty1\n",
                                "gpu,shard,bw");
  EXPECT_EQ(node(result, "n1").gpus.size(), 2U);
  EXPECT_EQ(node(result, "n1").gres[1], (GresSpec{"shard", "t4", 16}));
  EXPECT_EQ(node(result, "n1").gres[2], (GresSpec{"bw", "lustre", std::int64_t{4} << 30}));
  EXPECT_EQ(with_code(result, "C037").size(), 1U);
  EXPECT_EQ(result.diagnostics.size(), 1U) << all_text(result);
}

TEST(GresConf, LinesForOtherNodes) {
  const auto result = read({{"slurm.conf",
                             "ClusterName=c1\nGresTypes=gpu\nNodeName=n1 Gres=gpu:1\n"
                             "NodeName=cpu1\nPartitionName=p Nodes=ALL Default=YES\n"},
                            {"gres.conf",
                             "Name=gpu File=/dev/nvidia0\n"
                             "NodeName=cpu1 Name=gpu File=/dev/nvidia1\n"
                             "NodeName=ndl[0-2] Name=gpu File=/dev/nvidia[0-3]\n"
                             "Nam=gpu\n"}});
  EXPECT_TRUE(node(result, "cpu1").gpus.empty());
  EXPECT_EQ(place_of(result, "C024"), "gres.conf:2");
  EXPECT_EQ(place_of(result, "C027"), "gres.conf:3");
  EXPECT_EQ(place_of(result, "C005"), "gres.conf:4");
}

TEST(GresConf, AutoDetectBeforeNameIsForAllNodes) {
  const auto result = with_gres("gpu:2", "AutoDetect=nvml Name=gpu File=/dev/nvidia0\n");
  EXPECT_EQ(node(result, "n1").state, "UNKNOWN");
  EXPECT_EQ(gpus(result), "@/dev/nvidia0 @");
  EXPECT_EQ(place_of(with_gres("gpu:1", "Type=a100\nName=gpu File=/dev/nvidia0\n"), "C001"),
            "gres.conf:1");
}

TEST(GresConf, OddGresEntries) {
  EXPECT_EQ(gpus(with_gres("gpu", "Name=gpu File=/dev/nvidia0\n")), "@/dev/nvidia0");
  EXPECT_EQ(node(with_gres("gpu:a:2:no_consume", ""), "n1").gres,
            (std::vector<GresSpec>{{"gpu", "a", 2}}));
  EXPECT_EQ(node(with_gres("gpu:2(S:0-1)", ""), "n1").gres,
            (std::vector<GresSpec>{{"gpu", "", 2}}));
  for (const char* bad : {"gpu:a:b:2", "gpu:4T", "gpu:1000,gpu:1000", ":2", "gpu:a:9999999P"}) {
    EXPECT_EQ(with_code(with_gres(bad, ""), "C006").size(), 1U) << bad;
  }
}

TEST(GresConf, IncludesWork) {
  const auto result = read({{"slurm.conf",
                             "ClusterName=c1\nGresTypes=gpu\nNodeName=n1 Gres=gpu:1\n"
                             "PartitionName=p Nodes=ALL Default=YES\n"},
                            {"gres.conf", "include sub/gpu.conf\n"},
                            {"sub/gpu.conf", "Name=gpu File=/dev/nvidia0"}});
  EXPECT_EQ(gpus(result), "@/dev/nvidia0");
  EXPECT_TRUE(result.diagnostics.empty()) << all_text(result);
}

}  // namespace
}  // namespace fedsim::conf
