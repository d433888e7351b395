// parse_sbatch: every spelling of the recorded options, what is dropped, what is refused by name.
#include "request/options.hpp"

#include <gtest/gtest.h>

namespace fedsim {
namespace {

using Words = std::vector<std::string>;

struct Parsed {
  StringTable strings;
  ParsedRequest out;
  std::string text(StringId id) const { return std::string(strings.view(id)); }
};

Parsed parse(const Words& argv) {
  Parsed p;
  p.out = parse_sbatch(argv, p.strings);
  return p;
}

ResourceRequest request(const Words& argv) {
  const Parsed p = parse(argv);
  EXPECT_TRUE(p.out.diagnostics.empty()) << to_string(p.out.diagnostics.front());
  return p.out.request;
}

std::string refusal(const Words& argv) {
  const Parsed p = parse(argv);
  return p.out.diagnostics.empty() ? "" : p.out.diagnostics.front().message;
}

TEST(Sbatch, FourSpellingsOfOneOption) {
  for (const Words& argv :
       {Words{"-n4"}, Words{"-n", "4"}, Words{"--ntasks=4"}, Words{"--ntasks", "4"}}) {
    EXPECT_EQ(request(argv).ntasks, 4);
  }
}

TEST(Sbatch, UniquePrefixIsTakenAsGetoptLongDoes) {
  EXPECT_EQ(request({"--cpus-per-t=3"}).cpus_per_task, 3);
  // Exact, though --gres-flags begins so too.
  EXPECT_EQ(request({"--gres=gpu:1"}).gres_per_node.size(), 1U);
  EXPECT_NE(refusal({"--cpus=3"}), "");  // two options begin so
}

TEST(Sbatch, LettersMayBeBundled) {
  const Parsed p = parse({"-HOn2", "job.sh"});
  EXPECT_TRUE(p.out.job.held);
  EXPECT_TRUE(p.out.request.overcommit);
  EXPECT_EQ(p.out.request.ntasks, 2);
}

TEST(Sbatch, OptionsEndAtTheScript) {
  const Parsed p = parse({"-n2", "job.sh", "-n8", "--array=1-3"});
  EXPECT_EQ(p.out.request.ntasks, 2);
  EXPECT_TRUE(p.out.diagnostics.empty());
}

TEST(Sbatch, TimeForms) {
  const auto limit = [](const std::string& text) { return parse({"-t", text}).out.job.limit_s; };
  EXPECT_EQ(limit("5"), 300);
  EXPECT_EQ(limit("5:30"), 360);  // sbatch keeps whole minutes, rounded up
  EXPECT_EQ(limit("1:00:00"), 3600);
  EXPECT_EQ(limit("2-3"), 2 * 86400 + 3 * 3600);
  EXPECT_EQ(limit("1-02:03"), 86400 + 2 * 3600 + 3 * 60);
  EXPECT_EQ(limit("1-02:03:04"), 86400 + 2 * 3600 + 4 * 60);
  EXPECT_EQ(limit("0"), kUnlimited);
  EXPECT_EQ(limit("UNLIMITED"), kUnlimited);
  EXPECT_EQ(parse({"-n1"}).out.job.limit_s, kUnset);
  EXPECT_EQ(refusal({"-t", "soon"}), "sbatch: error: Invalid --time specification");
}

TEST(Sbatch, MemoryForms) {
  EXPECT_EQ(request({"--mem=4G"}).mem_per_node_mib, 4096);
  EXPECT_EQ(request({"--mem=4GB"}).mem_per_node_mib, 4096);
  EXPECT_EQ(request({"--mem=1500"}).mem_per_node_mib, 1500);
  EXPECT_EQ(request({"--mem=1025K"}).mem_per_node_mib, 2);
  EXPECT_EQ(request({"--mem=1T"}).mem_per_node_mib, 1048576);
  EXPECT_EQ(request({"--mem=0"}).mem_per_node_mib, 0);
  EXPECT_EQ(request({"--mem-per-cpu=500M"}).mem_per_cpu_mib, 500);
  EXPECT_EQ(request({"--mem-per-gpu=8G", "-G1"}).mem_per_gpu_mib, 8192);
  EXPECT_NE(refusal({"--mem=1.5G"}), "");
  EXPECT_NE(refusal({"--mem=-1"}), "");
}

TEST(Sbatch, GresForms) {
  using List = std::vector<GresRequest>;
  EXPECT_EQ(request({"--gres=gpu:a100:2,nic:4"}).gres_per_node,
            (List{{"gpu", "a100", 2}, {"nic", "", 4}}));
  EXPECT_EQ(request({"--gres=gpu"}).gres_per_node, (List{{"gpu", "", 1}}));
  EXPECT_EQ(request({"--gres=gpu:h100"}).gres_per_node, (List{{"gpu", "h100", 1}}));
  EXPECT_EQ(request({"--gres=none"}).gres_per_node, List{});
  EXPECT_EQ(request({"-G", "a100:2,v100:4"}).gres_per_job,
            (List{{"gpu", "a100", 2}, {"gpu", "v100", 4}}));
  EXPECT_EQ(request({"--gpus-per-node=3"}).gres_per_node, (List{{"gpu", "", 3}}));
  EXPECT_EQ(request({"-n2", "--gpus-per-task=h100:1"}).gres_per_task, (List{{"gpu", "h100", 1}}));
  EXPECT_EQ(request({"--gpus-per-socket=2", "--sockets-per-node=2"}).gres_per_socket,
            (List{{"gpu", "", 2}}));
  EXPECT_NE(refusal({"--gres=gpu:a100:many"}), "");
  EXPECT_EQ(request({"--gpus=a100"}).gres_per_job, (List{{"gpu", "a100", 1}}));
}

TEST(Sbatch, NodesAndPlaces) {
  const ResourceRequest r = request({"-N2-4", "-w", "n[1-2]", "-x", "n9", "-C", "ib&big",
                                     "--exclusive", "--contiguous", "--ntasks-per-node=8"});
  EXPECT_EQ(r.nodes_min, 2);
  EXPECT_EQ(r.nodes_max, 4);
  EXPECT_EQ(r.nodelist, "n[1-2]");
  EXPECT_EQ(r.exclude, "n9");
  EXPECT_EQ(r.constraint, "ib&big");
  EXPECT_TRUE(r.exclusive);
  EXPECT_TRUE(r.contiguous);
  EXPECT_EQ(r.ntasks_per_node, 8);
  EXPECT_EQ(request({"-N3"}).nodes_max, 3);
  EXPECT_NE(refusal({"-N4-2"}), "");
}

TEST(Sbatch, JobFields) {
  const Parsed p =
      parse({"-p", "fast,batch", "-q", "high", "-A", "physics", "-J", "train", "-M", "alpha,beta",
             "--cluster-constraint=!fast", "--nice=-5", "--no-requeue", "--uid=alice"});
  EXPECT_EQ(p.text(p.out.job.partition), "fast,batch");
  EXPECT_EQ(p.text(p.out.job.qos), "high");
  EXPECT_EQ(p.text(p.out.job.account), "physics");
  EXPECT_EQ(p.text(p.out.job.name), "train");
  EXPECT_EQ(p.text(p.out.job.clusters), "alpha,beta");
  EXPECT_EQ(p.text(p.out.job.cluster_constraint), "!fast");
  EXPECT_EQ(p.text(p.out.job.user), "alice");
  EXPECT_EQ(p.out.job.nice, -5);
  EXPECT_FALSE(p.out.job.requeue);
  EXPECT_EQ(parse({"--nice"}).out.job.nice, 100);
}

TEST(Sbatch, BeginIsRelativeToSubmission) {
  const auto begin = [](const std::string& text) { return parse({"-b", text}).out.job.begin; };
  EXPECT_EQ(begin("now+90"), SimTime{} + 90 * kSecond);
  EXPECT_EQ(begin("now+2minutes"), SimTime{} + 120 * kSecond);
  EXPECT_EQ(begin("now+1hour"), SimTime{} + 3600 * kSecond);
  EXPECT_EQ(begin("now"), SimTime{});
  EXPECT_NE(refusal({"--begin=2030-01-01"}), "");
}

TEST(Sbatch, InfluentialButNotModelledIsRefusedByName) {
  EXPECT_EQ(refusal({"-n1", ":", "-n2"}), "option : (heterogeneous job) is not modelled");
  EXPECT_EQ(refusal({"--exclusive=user"}), "option --exclusive=user is not modelled");
  EXPECT_EQ(refusal({"-Lfoo"}), "option --licenses is not modelled");
  for (const char* option :
       {"--reservation=r", "--deadline=now+5", "--time-min=1", "--signal=9", "-Lfoo"}) {
    const Parsed p = parse({option});
    ASSERT_EQ(p.out.diagnostics.size(), 1U) << option;
    EXPECT_EQ(p.out.diagnostics[0].code, "C081") << option;
  }
}

TEST(Sbatch, WhatSbatchWouldNotSend) {
  EXPECT_EQ(refusal({"--mem=1G", "--mem-per-cpu=1G"}),
            "sbatch: fatal: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.");
  EXPECT_NE(refusal({"--gpus-per-task=1"}), "");  // tasks of which number?
}

TEST(Sbatch, ARequestIsReadBackFromItsOptions) {
  for (const Words& argv :
       {Words{"-N2-4", "-n8", "-c2", "--mem=4G", "--gres=gpu:a100:2", "-m", "block:cyclic"},
        Words{"-B", "2:8:1", "--hint=nomultithread", "--exclusive", "-w", "n[1-2]", "-x", "n9"},
        Words{"-G", "a100:2,v100:1", "--cpus-per-gpu=4", "--mem-per-gpu=1G", "-C", "ib&big"},
        Words{"-n4", "--gpus-per-task=1", "--ntasks-per-socket=2", "-s", "--spread-job"},
        Words{"--sockets-per-node=2", "--gpus-per-socket=1", "--switches=1@10:00", "--tmp=1G",
              "--mincpus=4", "--gres-flags=enforce-binding", "-O", "--use-min-nodes"}}) {
    const ResourceRequest r = request(argv);
    EXPECT_EQ(request(sbatch_options(r)), r) << argv.front();
  }
}

/// Draws requests that sbatch sends, field by field.
class Requests {
 public:
  explicit Requests(std::uint64_t seed) : x_(seed) {}

  ResourceRequest draw() {
    ResourceRequest r;
    if (one_in(2)) r.nodes_min = r.nodes_max = number(1, 8);
    if (one_in(4)) r.nodes_max = r.nodes_min > 0 ? r.nodes_min + number(0, 4) : 0;
    r.ntasks = r.nodes_max + number(1, 64);
    if (one_in(3)) r.cpus_per_task = number(1, 8);
    if (one_in(5)) r.ntasks_per_socket = number(1, 4);
    if (one_in(5)) r.ntasks_per_core = number(1, 2);
    if (one_in(6)) r.threads_per_core = number(1, 2);
    if (one_in(6)) r.sockets_per_node = number(1, 2);
    if (one_in(6)) r.min_cpus_per_node = number(1, 32);
    if (one_in(6)) r.tmp_mib = number(0, 100000);
    memory(r);
    devices(r);
    r.exclusive = one_in(5);
    r.oversubscribe = !r.exclusive && one_in(5);
    r.contiguous = one_in(6);
    r.overcommit = one_in(6);
    r.use_min_nodes = one_in(6);
    r.spread = one_in(6);
    r.enforce_binding = one_in(6);
    if (one_in(6)) r.constraint = one_in(2) ? "ib&big" : "[rack1|rack2]";
    if (one_in(6)) r.exclude = "n[7-9]";
    if (one_in(6)) r.distribution = one_in(2) ? "block:cyclic" : "cyclic";
    if (one_in(6)) r.switches = number(1, 3);
    if (r.switches > 0 && one_in(2)) r.switch_wait_s = number(1, 5000);
    return r;
  }

 private:
  std::uint64_t next() {
    x_ ^= x_ << 13;
    x_ ^= x_ >> 7;
    x_ ^= x_ << 17;
    return x_;
  }
  bool one_in(std::uint64_t n) { return next() % n == 0; }
  int number(int low, int high) {
    return low + static_cast<int>(next() % static_cast<std::uint64_t>(high - low + 1));
  }

  void memory(ResourceRequest& r) {
    if (one_in(3)) {
      r.mem_per_node_mib = number(0, 500000);
    } else if (one_in(3)) {
      r.mem_per_cpu_mib = number(1, 8000);
    }
  }

  void devices(ResourceRequest& r) {
    const std::string type = one_in(2) ? "a100" : "";
    switch (number(0, 5)) {
      case 1:
        r.gres_per_node = {{"gpu", type, number(1, 8)}};
        break;
      case 2:
        r.gres_per_job = {{"gpu", type, r.nodes_max + number(1, 64)}};
        break;
      case 3:
        r.gres_per_task = {{"gpu", type, number(1, 2)}};
        break;
      case 4:
        r.gres_per_node = {{"gpu", "a100", 1}, {"gpu", "v100", number(1, 4)}};
        break;
      default:
        return;
    }
    if (one_in(3) && r.cpus_per_task == 0) r.cpus_per_gpu = number(1, 8);
    const bool sizes = r.mem_per_node_mib != kUnset || r.mem_per_cpu_mib != kUnset;
    if (one_in(3) && !sizes) r.mem_per_gpu_mib = number(1, 80000);
  }

  std::uint64_t x_;
};

TEST(Sbatch, TenThousandRequestsAreReadBack) {
  Requests requests(20261206);
  int sent = 0;
  for (int i = 0; i < 10000; ++i) {
    const ResourceRequest r = requests.draw();
    const std::vector<std::string> words = sbatch_options(r);
    const Parsed p = parse(words);
    ASSERT_EQ(p.out.request, r) << i << ": " << testing::PrintToString(words);
    ASSERT_EQ(sbatch_options(p.out.request), words) << i;
    sent += p.out.diagnostics.empty() ? 1 : 0;
  }
  EXPECT_GT(sent, 9000) << "most of them are requests that sbatch sends";
}

TEST(Sbatch, Arrays) {
  const auto tasks = [](const std::string& text) { return parse({"-a", text}).out.array_tasks; };
  using Tasks = std::vector<std::int32_t>;
  EXPECT_EQ(tasks("0-3"), (Tasks{0, 1, 2, 3}));
  EXPECT_EQ(tasks("7,1-5:2,3"), (Tasks{1, 3, 5, 7}));
  EXPECT_EQ(parse({"--array=1-9%4"}).out.job.array_limit, 4U);
  for (const char* bad : {"", "3-1", "1-5:0", "a", "1-2%0", "0-2000000", "1,,2"})
    EXPECT_NE(refusal({"-a", bad}), "") << bad;
}

TEST(Sbatch, WithoutInfluenceIsAccepted) {
  request({"-o", "out", "--error=err", "--mail-type=END", "--mail-user", "a@b", "--comment=x",
           "--wckey=k", "--parsable", "-D", "/home", "--export=ALL", "--gpu-bind=closest", "-W"});
}

TEST(Sbatch, AllMistakesAtOnce) {
  const Parsed p = parse({"--what", "-n0", "--mem=much", "-c"});
  ASSERT_EQ(p.out.diagnostics.size(), 4U);
  // The words are told apart before any value is read.
  EXPECT_EQ(p.out.diagnostics[0].code, "C080");
  EXPECT_EQ(p.out.diagnostics[1].code, "C083");
  EXPECT_EQ(p.out.diagnostics[2].code, "C082");
  EXPECT_EQ(p.out.diagnostics[3].code, "C082");
}

}  // namespace
}  // namespace fedsim
