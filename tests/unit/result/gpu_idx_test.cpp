// GPU indices in the form of the recordings; expected texts are those of real expected.csv files.
#include "result/gpu_idx.hpp"

#include <gtest/gtest.h>

#include "support/result_fixture.hpp"

namespace fedsim {
namespace {

using test::devices;
using test::make_cluster;
using test::place;

ResourceRequest asks(const std::string& type, std::int64_t n = 1) {
  ResourceRequest r;
  r.gres_per_node.push_back({"gpu", type, n});
  return r;
}

std::string text(const ClusterModel& c, const std::vector<Placement>& p,
                 const std::string& type = "") {
  return gpu_idx(c, p, gpu_types_asked(c, asks(type)));
}

TEST(IndexRanges, JoinsNeighbours) {
  EXPECT_EQ(index_ranges(0), "");
  EXPECT_EQ(index_ranges(0b1), "0");
  EXPECT_EQ(index_ranges(0b11), "0-1");
  EXPECT_EQ(index_ranges(0b1101'0111), "0-2,4,6-7");
  EXPECT_EQ(index_ranges(std::uint64_t{1} << 63), "63");
  EXPECT_EQ(index_ranges(~std::uint64_t{0}), "0-63");
}

TEST(GpuIdx, OneNode) {
  const ClusterModel c = make_cluster("alpha", 2, devices(8));
  EXPECT_EQ(text(c, {place(0, 0x3F)}), "a1:gpu:a100[0-5]");
  EXPECT_EQ(text(c, {place(0, 0x10)}), "a1:gpu:a100[4]");
  EXPECT_EQ(text(c, {place(1, 0b1100'1100)}), "a2:gpu:a100[2-3,6-7]");
}

TEST(GpuIdx, EqualNeighboursAreJoined) {
  const ClusterModel c = make_cluster("n", 12, devices(8));
  EXPECT_EQ(text(c, {place(0, 0xFF), place(1, 0xFF)}), "n[1-2]:gpu:a100[0-7]");
  EXPECT_EQ(
      text(c, {place(0, 0xFF), place(1, 0xFF), place(2, 0xFF), place(10, 0xFF), place(11, 0xFF)}),
      "n[1-3,11-12]:gpu:a100[0-7]");
  EXPECT_EQ(text(c, {place(1, 0xFF), place(4, 0xFF)}), "n[2,5]:gpu:a100[0-7]");
}

TEST(GpuIdx, DifferentNodesStandApart) {
  const ClusterModel c = make_cluster("s", 6, devices(8));
  EXPECT_EQ(text(c, {place(3, 0x1E), place(4, 0x1E)}), "s[4-5]:gpu:a100[1-4]");
  EXPECT_EQ(text(c, {place(0, 0b1011), place(4, 0xF)}), "s1:gpu:a100[0-1,3];s5:gpu:a100[0-3]");
}

// scontrol joins nodes only when also the CPU ids are the same.
TEST(GpuIdx, OtherCpusKeepEqualGpusApart) {
  const ClusterModel c = make_cluster("a", 2, devices(8));
  Placement first = place(0, 0xF, 8);
  Placement second = place(1, 0xF, 8);
  first.cpu_key = 1;
  second.cpu_key = 2;
  EXPECT_EQ(text(c, {first, second}), "a1:gpu:a100[0-3];a2:gpu:a100[0-3]");
  second.cpu_key = 1;
  EXPECT_EQ(text(c, {first, second}), "a[1-2]:gpu:a100[0-3]");
  second.cpus = 7;
  EXPECT_EQ(text(c, {first, second}), "a1:gpu:a100[0-3];a2:gpu:a100[0-3]");
}

TEST(GpuIdx, UntypedRequestListsEveryTypeOfTheNode) {
  const ClusterModel c =
      make_cluster("n", 2, {"a100", "a100", "a100", "a100", "v100", "v100", "v100", "v100"});
  EXPECT_EQ(text(c, {place(1, 0b111)}), "n2:gpu:a100[0-2],gpu:v100[]");
  EXPECT_EQ(text(c, {place(1, 0b1'0000)}), "n2:gpu:a100[],gpu:v100[4]");
  EXPECT_EQ(text(c, {place(1, 0xFF)}), "n2:gpu:a100[0-3],gpu:v100[4-7]");
}

TEST(GpuIdx, TypedRequestListsItsTypes) {
  const ClusterModel c = make_cluster("n", 2, {"a100", "a100", "v100", "v100"});
  EXPECT_EQ(text(c, {place(1, 0b100)}, "v100"), "n2:gpu:v100[2]");
  ResourceRequest both;
  both.gres_per_job = {{"gpu", "a100", 1}, {"gpu", "v100", 1}};
  EXPECT_EQ(gpu_idx(c, std::vector{place(1, 0b101)}, gpu_types_asked(c, both)),
            "n2:gpu:a100[0],gpu:v100[2]");
}

TEST(GpuIdx, UntypedDevicesAndNoDevices) {
  const ClusterModel untyped = make_cluster("n", 2, devices(4, ""));
  EXPECT_EQ(text(untyped, {place(0, 0xF)}), "n1:gpu[0-3]");
  const ClusterModel plain = make_cluster("n", 2, {});
  EXPECT_EQ(text(plain, {place(0, 0)}), "");
  const ClusterModel c = make_cluster("n", 2, devices(4));
  EXPECT_EQ(text(c, {place(0, 0)}), "");
  EXPECT_EQ(text(c, {place(0, 1), place(1, 0)}), "n1:gpu:a100[0];n2:-");
}

TEST(NodeList, IsCompressed) {
  const ClusterModel c = make_cluster("n", 3, {});
  EXPECT_EQ(node_list(c, {}), "");
  EXPECT_EQ(node_list(c, std::vector{place(2, 0)}), "n3");
  EXPECT_EQ(node_list(c, std::vector{place(0, 0), place(1, 0), place(2, 0)}), "n[1-3]");
}

}  // namespace
}  // namespace fedsim
