// StringTable and Trace: interning, order, merging; the generator's promises.
#include "fedsim/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace fedsim {
namespace {

TEST(StringTable, EqualTextEqualId) {
  StringTable table;
  EXPECT_EQ(table.intern(""), StringId{0});
  const StringId a = table.intern("alpha");
  EXPECT_EQ(table.intern("alpha"), a);
  EXPECT_NE(table.intern("beta"), a);
  EXPECT_EQ(table.find("alpha"), a);
  EXPECT_FALSE(table.find("gamma").valid());
  EXPECT_EQ(table.view(a), "alpha");
  EXPECT_EQ(table.size(), 3U);
}

TEST(StringTable, CopyOutlivesItsOriginal) {
  StringTable copy;
  {
    StringTable original;
    for (int i = 0; i < 200; ++i) original.intern("name" + std::to_string(i));
    copy = original;
  }
  EXPECT_EQ(copy.view(copy.find("name150")), "name150");
  EXPECT_EQ(copy.intern("name7").index(), 8U);
}

TEST(Trace, RequestsAreInternedByContent) {
  Trace trace;
  ResourceRequest r;
  r.ntasks = 4;
  r.gres_per_node.push_back({"gpu", "a100", 2});
  const std::uint32_t first = trace.intern_request(r);
  EXPECT_EQ(trace.intern_request(r), first);
  r.gres_per_node[0].type = "h100";
  EXPECT_NE(trace.intern_request(r), first);
  EXPECT_EQ(trace.requests.size(), 2U);
}

JobSpec job_at(std::int64_t second, std::int64_t id) {
  JobSpec job;
  job.submit = from_unix_seconds(second);
  job.trace_id = id;
  return job;
}

TEST(Trace, FinishSortsAndKeepsTies) {
  Trace trace;
  trace.jobs = {job_at(5, 1), job_at(3, 2), job_at(5, 3), job_at(3, 4)};
  trace.finish();
  std::vector<std::int64_t> ids;
  for (const JobSpec& j : trace.jobs) ids.push_back(j.trace_id);
  EXPECT_EQ(ids, (std::vector<std::int64_t>{2, 4, 1, 3}));
}

TEST(Trace, MergeTranslatesTextsAndRequests) {
  Trace a;
  Trace b;
  ResourceRequest small;
  small.ntasks = 1;
  ResourceRequest big;
  big.ntasks = 8;
  a.intern_request(small);
  b.intern_request(big);
  b.intern_request(small);
  JobSpec job = job_at(10, 1);
  job.user = a.strings.intern("alice");
  a.jobs.push_back(job);
  b.strings.intern("something else first");
  job = job_at(9, 2);
  job.user = b.strings.intern("bob");
  job.request = 1;
  b.jobs.push_back(job);
  b.report.rows = 3;
  const Trace all = merge({a, b});
  ASSERT_EQ(all.jobs.size(), 2U);
  EXPECT_EQ(all.strings.view(all.jobs[0].user), "bob");
  EXPECT_EQ(all.requests[all.jobs[0].request].ntasks, 1);
  EXPECT_EQ(all.strings.view(all.jobs[1].user), "alice");
  EXPECT_EQ(all.requests.size(), 2U);
  EXPECT_EQ(all.report.rows, 3U);
}

SynthOptions gpu_options() {
  SynthOptions options;
  options.jobs = 4000;
  options.clusters = {"a", "b"};
  options.gpu_types = {{"a100", 3}, {"v100", 1}};
  return options;
}

TEST(Synth, SameSeedSameJobsOtherSeedOthers) {
  const Trace one = synth(gpu_options());
  const Trace two = synth(gpu_options());
  SynthOptions other = gpu_options();
  other.seed = 1;
  const Trace three = synth(other);
  ASSERT_EQ(one.jobs.size(), 4000U);
  std::size_t same = 0;
  for (std::size_t i = 0; i < one.jobs.size(); ++i) {
    EXPECT_EQ(one.jobs[i].submit, two.jobs[i].submit);
    EXPECT_EQ(one.jobs[i].run, two.jobs[i].run);
    same += one.jobs[i].run == three.jobs[i].run;
  }
  EXPECT_LT(same, 200U);
}

// What-ifs are paired: changing one parameter leaves the other draws alone.
TEST(Synth, ParametersDoNotShiftEachOthersDraws) {
  SynthOptions changed = gpu_options();
  changed.max_units = 8;
  changed.users = 3;
  const Trace base = synth(gpu_options());
  const Trace what_if = synth(changed);
  for (std::size_t i = 0; i < base.jobs.size(); ++i) {
    ASSERT_EQ(base.jobs[i].submit, what_if.jobs[i].submit);
    ASSERT_EQ(base.jobs[i].run, what_if.jobs[i].run);
    ASSERT_EQ(base.jobs[i].limit_s, what_if.jobs[i].limit_s);
  }
}

TEST(Synth, KeepsItsBounds) {
  const SynthOptions options = gpu_options();
  const Trace trace = synth(options);
  std::map<std::string, int> origins;
  std::map<std::string, int> types;
  for (const JobSpec& job : trace.jobs) {
    const ResourceRequest& r = trace.requests[job.request];
    const std::int64_t gpus = r.gres_per_node[0].count * r.nodes_min;
    EXPECT_LE(gpus, options.max_units);
    EXPECT_LE(r.gres_per_node[0].count, options.gpus_per_node);
    EXPECT_EQ(r.cpus_per_task, r.gres_per_node[0].count * options.cpus_per_gpu);
    EXPECT_GE(to_seconds(job.run), options.runtime_min_s);
    EXPECT_LE(to_seconds(job.run), options.runtime_max_s);
    EXPECT_EQ(job.limit_s % 60, 0);
    EXPECT_GE(static_cast<double>(job.limit_s), to_seconds(job.run));
    ++origins[std::string(trace.strings.view(job.origin))];
    ++types[r.gres_per_node[0].type];
  }
  EXPECT_NEAR(origins["a"], 2000, 160);  // 5 sigma
  EXPECT_NEAR(types["a100"], 3000, 140);
  const double span = to_seconds(trace.jobs.back().submit - trace.t0);
  EXPECT_NEAR(span / 4000, options.mean_interarrival_s, 5);
}

TEST(Synth, RefusesNonsense) {
  SynthOptions options;
  options.mean_interarrival_s = 0;
  EXPECT_THROW(synth(options), InputError);
  options = {};
  options.runtime_max_s = 1;
  EXPECT_THROW(synth(options), InputError);
}

}  // namespace
}  // namespace fedsim
