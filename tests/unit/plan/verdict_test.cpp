// SubmissionDesk: verdicts and fields as real Slurm 22.05 gave them for such requests.
#include "fedsim/verdict.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace fedsim {
namespace {

constexpr std::int64_t kNow = 1'700'000'000;

NodeSpec node(const std::string& name, int cpus, std::int64_t memory, const std::string& type,
              int gpus) {
  NodeSpec n;
  n.name = name;
  n.cpus = cpus;
  n.sockets = 2;
  n.cores_per_socket = cpus / 2;
  n.memory_mib = memory;
  n.tmp_disk_mib = 1000;
  n.features = {gpus > 0 ? type : "cpu", "ib"};
  if (gpus > 0) n.gres = {{"gpu", type, gpus}};
  return n;
}

/// n1-2: 32 CPUs, 8 a100; n3: 16 CPUs, none. batch (default), short, gpu, drained, off, ops.
ClusterSpec cluster() {
  ClusterSpec c;
  c.name = "oracle";
  c.nodes = {node("n1", 32, 512000, "a100", 8), node("n2", 32, 512000, "a100", 8),
             node("n3", 16, 64000, "", 0)};
  const auto add = [&](const std::string& name, std::vector<std::string> nodes) -> PartitionSpec& {
    PartitionSpec p;
    p.name = name;
    p.nodes = std::move(nodes);
    c.partitions.push_back(p);
    return c.partitions.back();
  };
  PartitionSpec& batch = add("batch", {"n1", "n2", "n3"});
  batch.is_default = true;
  batch.max_time_s = 172800;
  batch.default_time_s = 3600;
  PartitionSpec& small = add("short", {"n1", "n2", "n3"});
  small.max_time_s = 1800;
  small.max_nodes = 2;
  small.def_mem_per_cpu_mib = 2000;
  PartitionSpec& gpu = add("gpu", {"n1", "n2"});
  gpu.def_cpu_per_gpu = 4;
  gpu.def_mem_per_gpu_mib = 16000;
  gpu.priority_tier = 2;
  add("drained", {"n3"}).state = "DRAIN";
  add("off", {"n3"}).state = "DOWN";
  add("ops", {"n1"}).other["AllowAccounts"] = "ops";
  PartitionSpec& big = add("big", {"n1", "n2", "n3"});
  big.min_nodes = 2;
  big.max_mem_per_cpu_mib = 4000;
  c.options = {{"GresTypes", "gpu,shard"},
               {"Licenses", "lic:4"},
               {"AccountingStorageTRES", "gres/gpu,gres/gpu:a100,license/lic"},
               {"AccountingStorageEnforce", "associations,limits,qos"},
               {"SelectType", "select/cons_tres"},
               {"SelectTypeParameters", "CR_Core_Memory"}};
  return c;
}

Accounting accounting() {
  Accounting a;
  a.accounts = {"physics", "ops"};
  a.users["alice"] = {{"physics"}, {"normal", "limited"}, "normal"};
  a.qos["limited"] = {{{"cpu", 8}, {"gres/gpu", 4}}, 7200, true};
  return a;
}

Verdict ask(const std::string& options, bool held = false, const char* enforce = "NO") {
  ClusterSpec c = cluster();
  c.options["EnforcePartLimits"] = enforce;
  std::istringstream words(options);
  std::vector<std::string> argv;
  for (std::string word; words >> word;) argv.push_back(word);
  return SubmissionDesk(c, accounting()).judge(argv, "alice", held, kNow);
}

std::string text(const Verdict& v) {
  std::string out;
  for (const std::string& line : v.lines) {
    std::string_view shown = line;
    if (shown.starts_with("sbatch: error: ")) shown.remove_prefix(15);
    constexpr std::string_view kFailed = "Batch job submission failed: ";
    if (shown.starts_with(kFailed)) shown.remove_prefix(kFailed.size());
    out += (out.empty() ? "" : " / ") + std::string(shown);
  }
  return out;
}

struct Refused {
  const char* options;
  int exit_code;
  const char* text;
};

TEST(Verdict, TheCommandItselfRefuses) {
  const Refused cases[] = {
      {"--mem=16.5G", 255, "Invalid --mem specification"},
      {"-t 12h", 255, "Invalid --time specification"},
      {"--exclusive=foo", 255, "Invalid --exclusive specification"},
      {"-N3-2", 255, "Maximum node count 2 is less than minimum node count 3"},
      {"-N1k2", 255, "\"1k2\" is not a valid node count"},
      {"-n0", 1, "Invalid numeric value \"0\" for --ntasks."},
      {"-c x", 1, "Invalid numeric value \"x\" for --cpus-per-task."},
      {"--nosuch=1", 255,
       "sbatch: unrecognized option '--nosuch=1' / Try \"sbatch --help\" for more information"},
      {"-Z", 255, "sbatch: invalid option -- 'Z' / Try \"sbatch --help\" for more information"},
      {"--contiguous=1", 255,
       "sbatch: option '--contiguous' doesn't allow an argument / Try \"sbatch --help\" for more "
       "information"},
      {"--mem", 255,
       "sbatch: option '--mem' requires an argument / Try \"sbatch --help\" for more information"},
      {"-bbad", 255, "Invalid time specification (pos=0): bad / Invalid --begin specification"},
      {"--gpu-bind=bad", 255, "Invalid --gpu-bind argument: gpu:bad"},
      {"--gres-flags=x", 255, "Invalid --gres-flags specification"},
      {"--hint=bad", 1, "unrecognized --hint argument \"bad\", see --hint=help"},
      {"--mem=1 --mem-per-cpu=1", 1,
       "sbatch: fatal: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive."},
      {"--ntasks-per-gpu=1 --gpus-per-task=1", 1,
       "sbatch: fatal: --gpus-per-task is mutually exclusive with --ntasks-per-gpu and "
       "SLURM_NTASKS_PER_GPU"},
      {"-N4 -mplane=4", 1, "Too few processes for the requested {plane,node} distribution"},
      {"-marbitrary", 1,
       "With Arbitrary distribution you need to specify a nodelist or hostfile with the -w option"},
      {"-w n[2-1]", 1, "_parse_single_range: Invalid range: `2-1' / memory allocation failure"},
      {"--deadline=now+1hour -bnow+2hours", 1,
       "Incompatible begin and deadline time specification"},
      {"-N1 -w n[1-2]", 1, "invalid number of nodes (-N 2-1)"},
  };
  for (const Refused& c : cases) {
    const Verdict v = ask(c.options);
    EXPECT_EQ(v.exit_code, c.exit_code) << c.options;
    EXPECT_EQ(text(v), c.text) << c.options;
  }
}

TEST(Verdict, GenericResourcesThatContradictEachOther) {
  const std::string invalid = " / Invalid generic resource (gres) specification";
  const Refused cases[] = {
      {"--gpus-per-task=1", 1,
       "Failed to validate job spec. --gpus-per-task used without either --gpus or -n/--ntasks is "
       "not allowed."},
      {"--gpus=2 --gpus-per-node=4", 1,
       "Failed to ensure --gpus >= --gres=gpu/--gpus-per-node >= --gpus-per-socket"},
      {"--gpus=5 --gpus-per-node=4", 1,
       "Failed to validate job spec, --gpus is not multiple of --gres=gpu/--gpus-per-node"},
      {"-N2 --gpus=1", 1, "Failed to validate job spec, --gpus < -N"},
      {"--gpus-per-socket=1", 1,
       "--gpus-per-socket option requires --sockets-per-node specification"},
      {"--gpus=2 --cpus-per-gpu=4 -c1", 1,
       "--cpus-per-gpu is mutually exclusive with --cpus-per-task"},
      {"--mem-per-gpu=1000", 1,
       "Requested mem_per_tres=gres:gpu:1000 but did not request any GPU."},
      {"--gpus=4 --gpus-per-task=3", 1,
       "Failed to validate job spec, --gpus not multiple of --gpus-per-task"},
      {"-n3 --ntasks-per-gpu=2 --gres=gpu:0", 1,
       "Failed to validate job spec, -n/--ntasks has to be a multiple of --ntasks-per-gpu."},
  };
  for (const Refused& c : cases) EXPECT_EQ(text(ask(c.options)), c.text + invalid) << c.options;
  EXPECT_EQ(text(ask("--gres=foo:1")), "Invalid generic resource (gres) specification");
  EXPECT_EQ(text(ask("--gres=gpu:a100:1,gpu:1")),
            "Invalid GRES specification (with and without type identification)");
  EXPECT_EQ(text(ask("--gres=gpu:1.5")), "Invalid Trackable RESource (TRES) specification");
}

TEST(Verdict, TheControllerRefuses) {
  const Refused cases[] = {
      {"--nice=-1", 1, "Invalid --nice value"},
      {"--array=5-2", 1, "Invalid job array specification"},
      {"--array=1-1001", 1, "Invalid job array specification"},
      {"-w n9", 1, "Invalid node name specified"},
      {"-x n9", 1, "Invalid node name specified"},
      {"-w n1 -x n[1-2]", 1, "Invalid node name specified"},
      {"-p nosuch", 1, "invalid partition specified: nosuch / Invalid partition name specified"},
      {"-p drained", 1, "Required partition not available (inactive or drain)"},
      {"-A nosuch", 1, "Invalid account or account/partition combination specified"},
      {"-q high", 1, "Invalid qos specification"},
      {"--time-min=90", 1, "Invalid time-min specification (exceeds job's time or other limits)"},
      {"-L nosuch", 1, "Invalid license specification"},
      {"-L lic:5", 1, "Invalid license specification"},
      {"-d bad:1", 1, "Job dependency problem"},
      {"-d expand:1", 1, "Requested operation not supported on this system"},
      {"-C a100|nosuch", 1, "Invalid feature specification"},
      {"-C [a100", 1, "Invalid feature specification"},
      {"--reservation=r", 1, "Requested reservation is invalid"},
      {"-q limited -n9", 1,
       "QOSMaxCpuPerJobLimit / Job violates accounting/QOS policy (job submit limit, user's size "
       "and/or time limits)"},
      {"-q limited --gpus=5", 1,
       "QOSMaxGRESPerJob / Job violates accounting/QOS policy (job submit limit, user's size "
       "and/or time limits)"},
  };
  for (const Refused& c : cases) {
    const Verdict v = ask(c.options);
    EXPECT_EQ(v.exit_code, c.exit_code) << c.options;
    EXPECT_EQ(text(v), c.text) << c.options;
    EXPECT_FALSE(ask(c.options, true).accepted()) << c.options << " held";
  }
}

TEST(Verdict, NoNodeCanEverRunIt) {
  const std::string never = "Requested node configuration is not available";
  EXPECT_EQ(text(ask("--mem=600G")), "Memory specification can not be satisfied / " + never);
  EXPECT_EQ(text(ask("-c33")), "CPU count per node can not be satisfied / " + never);
  EXPECT_EQ(text(ask("--tmp=2000")),
            "Temporary disk specification can not be satisfied / " + never);
  EXPECT_EQ(text(ask("--sockets-per-node=3")),
            "Socket, core and/or thread specification can not be satisfied / " + never);
  for (const char* options :
       {"--gres=gpu:v100:1", "--gpus-per-node=9", "-N3 --gpus-per-node=1", "-C a100&cpu",
        "--gpus=17", "-pgpu -w n3", "--cpus-per-gpu=16 -G a100:8 -N1"}) {
    EXPECT_EQ(text(ask(options)), never) << options;
    EXPECT_TRUE(ask(options, true).accepted()) << options << " held: nodes are not tested";
  }
}

TEST(Verdict, PartitionLimitsAreAReasonOrARefusal) {
  EXPECT_EQ(ask("-p short -t31").field("Reason"), "PartitionTimeLimit");
  EXPECT_EQ(ask("-p short -N3-3").field("Reason"), "PartitionNodeLimit");
  EXPECT_EQ(ask("-N4 --mem=600G").field("Reason"), "PartitionNodeLimit");  // nothing else is tested
  EXPECT_EQ(ask("-n100").field("Reason"), "PartitionConfig");
  EXPECT_EQ(ask("-p off").field("Reason"), "PartitionDown");
  EXPECT_EQ(ask("-p ops").field("Reason"),
            "Job's_account_not_permitted_to_use_this_partition_(ops_allows_ops_not_physics)");
  EXPECT_EQ(text(ask("-p short -t31", false, "ALL")),
            "Requested time limit is invalid (missing or exceeds some limit)");
  EXPECT_EQ(text(ask("-N4", false, "ANY")), "Node count specification invalid");
  EXPECT_EQ(text(ask("-n100", true, "ALL")), "More processors requested than permitted");
  EXPECT_EQ(text(ask("-p gpu -w n3", true, "ALL")), "Requested nodes not in this partition");
}

TEST(Verdict, FieldsOfAnAcceptedJob) {
  const Verdict plain = ask("");
  ASSERT_TRUE(plain.accepted());
  EXPECT_EQ(plain.field("JobState"), "PENDING");
  EXPECT_EQ(plain.field("TimeLimit"), "01:00:00");
  EXPECT_EQ(plain.field("TRES"), "cpu=1,mem=500G,node=1,billing=1");
  EXPECT_EQ(plain.field("MinMemoryNode"), "0");
  EXPECT_EQ(ask("", true).field("Reason"), "JobHeldUser");
  EXPECT_EQ(ask("-d afterok:1").field("Reason"), "Dependency");
  EXPECT_EQ(ask("-d afterok:99").field("Reason"), "Resources");  // an unknown job is dropped
  EXPECT_EQ(ask("-b now+1hour").field("Reason"), "BeginTime");
  EXPECT_EQ(ask("--deadline=now+10minutes").field("JobState"), "DEADLINE");

  const Verdict gpus = ask("-p gpu --gpus=2 -L lic:2");
  EXPECT_EQ(gpus.field("TRES"), "cpu=1,mem=500G,node=1,billing=1,gres/gpu=2,license/lic=2");
  EXPECT_EQ(gpus.field("CpusPerTres"), "gpu:4");
  EXPECT_EQ(gpus.field("MemPerTres"), "gpu:16000");
  EXPECT_EQ(gpus.field("TresPerJob"), "gres:gpu:2");
  EXPECT_EQ(ask("--mem-per-gpu=8G --gpus=a100:2").field("TRES"),
            "cpu=1,mem=16G,node=1,billing=1,gres/gpu=2,gres/gpu:a100=2");

  const Verdict spread = ask("-n10 --ntasks-per-node=4 --mem-per-cpu=16000", true);
  EXPECT_EQ(spread.field("NumNodes"), "2");
  EXPECT_EQ(spread.field("MinCPUsNode"), "4");
  EXPECT_EQ(spread.field("TRES"), "cpu=10,mem=160000M,node=1,billing=10");
  EXPECT_EQ(ask("-n4 --mem-per-cpu=16000").field("TRES"), "cpu=4,mem=62.50G,node=1,billing=4");

  const Verdict raised = ask("-p big -n2 -N2 --mem-per-cpu=9000");
  EXPECT_EQ(raised.field("CPUs/Task"), "3");
  EXPECT_EQ(raised.field("MinMemoryCPU"), "3000M");
  EXPECT_EQ(raised.field("NumCPUs"), "6");
  EXPECT_EQ(raised.field("TRES"), "cpu=2,mem=18000M,node=2,billing=2");

  const Verdict list = ask("-p short,gpu", true);  // tiers decide which comes first
  EXPECT_EQ(list.field("Partition"), "short,gpu");
  EXPECT_EQ(list.field("TimeLimit"), "UNLIMITED");
  EXPECT_EQ(ask("-p drained,batch").field("Partition"), "batch");
}

TEST(Verdict, WarningsOfAcceptedJobs) {
  const Verdict cut = ask("-N3 -n1");
  EXPECT_TRUE(cut.accepted());
  EXPECT_EQ(text(cut), "sbatch: Warning: can't run 1 processes on 3 nodes, setting nnodes to 1");
  const Verdict ignored = ask("-S4");
  EXPECT_TRUE(ignored.accepted());
  EXPECT_EQ(text(ignored),
            "Ignoring -S since it's not allowed by configuration (AllowSpecResourcesUsage = No)");
  EXPECT_EQ(text(ask("-n1 --ntasks-per-gpu=4")),
            "gres_job_state_validate: Failed to add generated GRES gres:gpu:0 (via "
            "ntasks_per_tres) to gres_list");
}

}  // namespace
}  // namespace fedsim
