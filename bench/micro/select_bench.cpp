// Node choice on a partly filled cluster: GPU nodes, and a pool of unit nodes.
#include <benchmark/benchmark.h>

#include "base/rng.hpp"
#include "support/demands.hpp"

namespace fedsim {
namespace {

void select_gpus(benchmark::State& state) {
  FederationSpec spec;
  spec.clusters.push_back(machine("a", static_cast<int>(state.range(0)), 8, "a100"));
  const auto model = compile(spec);
  const ClusterModel& cluster = model->clusters[0];
  NodePool pool(cluster);
  std::vector<NodeShare> busy;
  for (std::uint32_t n = 0; n < cluster.nodes.size(); ++n) {
    const auto held = static_cast<std::uint32_t>(draw(1, Stream::sampling, n, 0) % 9);
    if (held > 0) busy.push_back(tiny::share(n, held, (1ULL << held) - 1));
  }
  pool.acquire(busy);
  ResourceRequest r;
  r.gres_per_node = {{"gpu", "a100", 4}};
  Demand d = tiny::demand_on(*model, ClusterId{0}, r);
  d.request.id = 1;  // as in a run: offers are kept
  SelectScratch scratch;
  std::vector<NodeShare> shares;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        select_nodes(cluster, pool, d, cluster.partitions[0].nodes, scratch, shares));
  }
  state.counters["nodes"] = static_cast<double>(cluster.nodes.size());
}
BENCHMARK(select_gpus)->Arg(64)->Arg(1024)->Arg(16384);

void select_unit_pool(benchmark::State& state) {
  Bitmap open(1024 / 64, 0);
  for (std::size_t n = 0; n < 1024; ++n) {
    if (draw(1, Stream::sampling, n, 1) % 4 == 0) set_bit(open, n);
  }
  SelectScratch scratch;
  Bitmap chosen;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        choose_units(static_cast<std::uint32_t>(state.range(0)), open, scratch, chosen));
  }
}
BENCHMARK(select_unit_pool)->Arg(1)->Arg(32)->Arg(128);

}  // namespace
}  // namespace fedsim
