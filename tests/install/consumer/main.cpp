// The founding example through the installed library: two clusters of eight GPUs, two jobs of six,
// one of twelve. Prints what tests/install/consumer_test.py expects.
#include <fedsim/model.hpp>
#include <fedsim/result.hpp>
#include <fedsim/simulation.hpp>
#include <fedsim/spec.hpp>
#include <fedsim/trace.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>

int main() {
  fedsim::FederationSpec spec;
  spec.name = "fed";
  spec.federated = true;
  spec = spec.with_cluster(fedsim::machine("a", 1, 8, "a100"))
             .with_cluster(fedsim::machine("b", 1, 8, "a100"));

  auto trace = std::make_shared<fedsim::Trace>();
  for (const std::int64_t gpus : {6, 6, 12}) {
    fedsim::ResourceRequest request;
    request.gres_per_node.push_back({.name = "gpu", .type = "", .count = gpus});
    fedsim::JobSpec job;
    job.submit = fedsim::from_unix_seconds(1'767'225'600);
    job.run = 7200 * fedsim::kSecond;
    job.limit_s = 3 * 3600;
    job.origin = trace->strings.intern("a");
    job.request = trace->intern_request(request);
    trace->jobs.push_back(job);
  }
  trace->finish();

  fedsim::Scenario scenario{.model = fedsim::compile(spec), .trace = trace, .options = {}};
  const fedsim::Result result = fedsim::run(scenario);
  const fedsim::Populations& p = result.summary.populations;
  std::printf("jobs %zu rejected %zu allocations %zu distinct_gpus %zu naive %lld records %zu\n",
              p.jobs, p.rejected, p.allocations, p.distinct_gpus,
              static_cast<long long>(p.naive_gpu_sum), result.record_rows.size());
  return 0;
}
