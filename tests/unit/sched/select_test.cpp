// Node choice and GPU indices.
#include <gtest/gtest.h>

#include "sched/select.hpp"
#include "support/demands.hpp"
#include "support/tiny.hpp"

namespace fedsim {
namespace {

struct Fixture {
  explicit Fixture(int nodes, int gpus)
      : model(compile(tiny::federation({tiny::cluster("a", nodes, gpus)}))),
        pool(model->clusters[0]) {}
  const ClusterModel& cluster() const { return model->clusters[0]; }
  std::vector<NodeShare> pick(const ResourceRequest& r) {
    std::vector<NodeShare> shares;
    SelectScratch scratch;
    const PartitionModel& p = cluster().partitions[0];
    const Demand d = tiny::demand_on(*model, ClusterId{0}, r);
    if (!select_nodes(cluster(), pool, d, p.nodes, scratch, shares)) shares.clear();
    return shares;
  }
  std::shared_ptr<const FederationModel> model;
  NodePool pool;
};

ResourceRequest gres(int nodes, int gpus) {
  ResourceRequest r;
  r.nodes_min = r.nodes_max = nodes;
  r.gres_per_node = {{"gpu", "", gpus}};
  return r;
}

TEST(Select, LowestFreeGpuIndices) {
  Fixture f(1, 8);
  f.pool.acquire(f.pick(gres(1, 2)));
  const auto held = f.pick(gres(1, 3));
  f.pool.acquire(held);
  EXPECT_EQ(held[0].gpu_mask, 0b00011100U);
  f.pool.release(held);
  EXPECT_EQ(f.pick(gres(1, 6))[0].gpu_mask, 0b11111100U);
  EXPECT_TRUE(f.pick(gres(1, 7)).empty());
}

// Recordings 10c and 18c: GPU jobs of known tasks fill equal nodes by index even when another node
// is fuller in CPUs.
TEST(Select, GpuJobsFillEqualNodesByIndex) {
  Fixture f(2, 8);
  f.pool.acquire({tiny::share(1, 40, 0b1)});
  ResourceRequest r = gres(1, 1);
  EXPECT_EQ(f.pick(r)[0].node, 1U) << "without -n all free CPUs of a node count";
  r.ntasks = 1;
  EXPECT_EQ(f.pick(r)[0].node, 0U);
}

// Semantics 3.5: a job without GPU goes to the node with the fewest free CPUs that suffice.
TEST(Select, CpuJobsFillTheFullestNode) {
  Fixture f(3, 8);
  f.pool.acquire({tiny::share(1, 40)});
  ResourceRequest r;
  r.ntasks = 4;
  EXPECT_EQ(f.pick(r)[0].node, 1U);
}

TEST(Select, GpusOfAJobLeaveOneForEachNode) {
  Fixture f(2, 8);
  ResourceRequest r;
  r.nodes_min = r.nodes_max = 2;
  r.gres_per_job = {{"gpu", "", 4}};
  const auto shares = f.pick(r);
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(std::popcount(shares[0].gpu_mask), 3);
  EXPECT_EQ(std::popcount(shares[1].gpu_mask), 1);
}

TEST(Select, ReleaseUndoesAcquire) {
  Fixture f(4, 8);
  const auto shares = f.pick(gres(3, 5));
  f.pool.acquire(shares);
  f.pool.release(shares);
  for (std::size_t n = 0; n < 4; ++n) {
    EXPECT_EQ(f.pool.free_cpus(n), 64U);
    EXPECT_EQ(f.pool.free_gpus(n), 0xFFU);
    EXPECT_EQ(f.pool.jobs(n), 0U);
  }
}

/// One partition whose jobs may share cores, or a cluster that hands out whole nodes.
std::shared_ptr<const FederationModel> with(const char* option, const char* value,
                                            OverSubscribe mode = OverSubscribe::no) {
  ClusterSpec c = tiny::cluster("a", 1, 2);
  if (*option != '\0') c.options[option] = value;
  c.partitions[0].oversubscribe = mode;
  c.partitions[0].oversubscribe_count = 2;
  return compile(tiny::federation({c}));
}

TEST(Select, LinearGivesWholeNodes) {
  const auto model = with("SelectType", "select/linear");
  const ClusterModel& cluster = model->clusters[0];
  NodePool pool(cluster);
  const Demand d = tiny::demand_on(*model, ClusterId{0}, {});
  SelectScratch scratch;
  std::vector<NodeShare> shares;
  ASSERT_TRUE(select_nodes(cluster, pool, d, pool.usable(), scratch, shares));
  EXPECT_EQ(shares[0].cpus, 16U);
  pool.acquire(shares);
  EXPECT_FALSE(select_nodes(cluster, pool, d, pool.usable(), scratch, shares));
}

TEST(Select, AsManyJobsOnACoreAsOverSubscribeForceAllows) {
  const auto model = with("", "", OverSubscribe::force);
  const ClusterModel& cluster = model->clusters[0];
  NodePool pool(cluster);
  ResourceRequest r;
  r.ntasks = 16;
  const Demand d = tiny::demand_on(*model, ClusterId{0}, r);
  SelectScratch scratch;
  std::vector<std::vector<NodeShare>> held(2);
  for (auto& shares : held) {
    ASSERT_TRUE(select_nodes(cluster, pool, d, pool.usable(), scratch, shares));
    pool.acquire(shares);
    EXPECT_EQ(pool.free_cpus(0), 0U);
  }
  std::vector<NodeShare> third;
  EXPECT_FALSE(select_nodes(cluster, pool, d, pool.usable(), scratch, third));
  pool.release(held[0]);
  EXPECT_EQ(pool.free_cpus(0), 0U) << "the other job still holds them";
  EXPECT_TRUE(select_nodes(cluster, pool, d, pool.usable(), scratch, third));
  pool.release(held[1]);
  EXPECT_EQ(pool.free_cpus(0), 16U);
}

// Offers that were kept choose what fresh ones choose, while jobs come and go.
TEST(Select, KeptOffersChooseLikeFreshOnes) {
  const auto model = compile(tiny::federation({tiny::cluster("a", 40, 8)}));
  const ClusterModel& cluster = model->clusters[0];
  std::vector<Demand> demands;
  for (std::uint32_t i = 0; i < 12; ++i) {
    ResourceRequest r;
    r.ntasks = static_cast<int>(1 + i % 5);
    r.cpus_per_task = static_cast<int>(1 + i % 3);
    if (i % 2 == 0) r.gres_per_node = {{"gpu", "", static_cast<std::int64_t>(1 + i % 4)}};
    if (i % 4 == 1) r.gres_per_job = {{"gpu", "a100", static_cast<std::int64_t>(2 + i)}};
    demands.push_back(tiny::demand_on(*model, ClusterId{0}, r));
  }
  NodePool pool(cluster);
  std::vector<std::vector<NodeShare>> running;
  SelectScratch kept;
  std::uint64_t x = 1;
  for (int round = 0; round < 600; ++round) {
    x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    Demand d = demands[(x >> 33) % demands.size()];
    SelectScratch fresh;
    std::vector<NodeShare> a, b;
    const bool fits_a = select_nodes(cluster, pool, d, pool.usable(), fresh, a);
    d.request.id = 1 + static_cast<std::uint32_t>((x >> 33) % demands.size());
    const bool fits_b = select_nodes(cluster, pool, d, pool.usable(), kept, b);
    ASSERT_EQ(fits_a, fits_b) << "round " << round;
    ASSERT_EQ(a.size(), b.size()) << "round " << round;
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i].key, b[i].key) << "round " << round;
    if (fits_a && running.size() < 60) {
      pool.acquire(a);
      running.push_back(a);
    } else if (!running.empty()) {
      const std::size_t i = (x >> 20) % running.size();
      pool.release(running[i]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

// The bit-run choice on unit pools is the general choice, run against it on random pools.
TEST(Select, UnitRunsChooseLikeTheGeneralAlgorithm) {
  std::uint64_t x = 88172645463325252ULL;
  const auto next = [&] {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
  };
  auto spec = tiny::federation({machine("a", 200, 1)});
  const auto model = compile(spec);
  ASSERT_TRUE(model->clusters[0].unit_nodes);
  ClusterModel general = model->clusters[0];
  general.unit_nodes = false;
  for (int round = 0; round < 400; ++round) {
    NodePool pool(general);
    std::vector<NodeShare> busy;
    for (std::uint32_t n = 0; n < 200; ++n) {
      if (next() % 3 != 0) busy.push_back(tiny::share(n, 1));
    }
    pool.acquire(busy);
    ResourceRequest r;
    r.ntasks = static_cast<int>(1 + next() % 40);
    const Demand d = tiny::demand_on(*model, ClusterId{0}, r);
    SelectScratch s;
    std::vector<NodeShare> a, b;
    const bool fits_a = select_nodes(general, pool, d, general.partitions[0].nodes, s, a);
    const bool fits_b =
        select_nodes(model->clusters[0], pool, d, general.partitions[0].nodes, s, b);
    ASSERT_EQ(fits_a, fits_b);
    if (!fits_a) continue;
    ASSERT_EQ(a.size(), b.size()) << "round " << round;
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i].node, b[i].node) << "round " << round;
  }
}

}  // namespace
}  // namespace fedsim
