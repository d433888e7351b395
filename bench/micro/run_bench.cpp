// Whole small runs: ideal EASY and Slurm's loops on a unit pool, Slurm's loops on a GPU federation,
// and the parsing of SWF text. Counters: events and passes a run.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "fedsim/result.hpp"
#include "fedsim/simulation.hpp"

namespace fedsim {
namespace {

Scenario unit_pool(std::size_t jobs, Fidelity fidelity) {
  SynthOptions o;
  o.jobs = jobs;
  o.seed = 1;
  o.max_units = 256;
  o.mean_interarrival_s = 118;
  Scenario s;
  FederationSpec spec;
  spec.clusters.push_back(machine("pool", 1024, 1));
  s.model = compile(spec);
  s.trace = std::make_shared<const Trace>(synth(o));
  s.options.fidelity = fidelity;
  s.options.keep_placement = false;
  return s;
}

void count(benchmark::State& state, const Result& r) {
  state.counters["events"] = static_cast<double>(r.summary.events);
  state.counters["main_passes"] = static_cast<double>(r.summary.main_passes);
  state.counters["backfill_passes"] = static_cast<double>(r.summary.backfill_passes);
  state.counters["jobs/s"] = benchmark::Counter(
      static_cast<double>(r.job_rows.size()) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}

void run_ideal_easy(benchmark::State& state) {
  const Scenario s = unit_pool(static_cast<std::size_t>(state.range(0)), Fidelity::ideal);
  Result r;
  for (auto _ : state) r = run(s);
  count(state, r);
}
BENCHMARK(run_ideal_easy)->Arg(10'000)->Unit(benchmark::kMillisecond);

void run_slurm(benchmark::State& state) {
  const Scenario s = unit_pool(static_cast<std::size_t>(state.range(0)), Fidelity::slurm);
  Result r;
  for (auto _ : state) r = run(s);
  count(state, r);
}
BENCHMARK(run_slurm)->Arg(10'000)->Unit(benchmark::kMillisecond);

void run_federation(benchmark::State& state) {
  SynthOptions o;
  o.jobs = 2000;
  o.seed = 1;
  o.max_units = 16;
  o.mean_interarrival_s = 60;
  o.clusters = {"a", "b", "c"};
  o.gpu_types = {{"a100", 1.0}};
  FederationSpec spec;
  spec.federated = true;
  for (const std::string& name : o.clusters) spec.clusters.push_back(machine(name, 8, 8, "a100"));
  for (ClusterSpec& c : spec.clusters) {
    for (NodeSpec& n : c.nodes) n.cpus = n.cores_per_socket = 64;
  }
  Scenario s;
  s.model = compile(spec);
  s.trace = std::make_shared<const Trace>(synth(o));
  Result r;
  for (auto _ : state) r = run(s);
  count(state, r);
}
BENCHMARK(run_federation)->Unit(benchmark::kMillisecond);

void parse_swf(benchmark::State& state) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / "fedsim_parse_bench.swf";
  {
    std::ofstream out(file);
    for (int i = 1; i <= 100'000; ++i)
      out << i << ' ' << i * 60 << " -1 1200 8 -1 -1 8 3600 -1 1 1 1 1 1 1 -1 -1\n";
  }
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file));
  for (auto _ : state) benchmark::DoNotOptimize(read_swf(file).jobs.size());
  state.SetBytesProcessed(state.iterations() * bytes);
  std::filesystem::remove(file);
}
BENCHMARK(parse_swf)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fedsim
