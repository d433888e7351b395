// slurm.conf: options, nodes, partitions. Expected values are those real slurmctld 22.05.8 gave.
#include "fedsim/slurm_conf.hpp"

#include <gtest/gtest.h>

#include "fedsim/model.hpp"
#include "unit/conf/folder.hpp"

namespace fedsim::conf {
namespace {

/// "cpus sockets cores threads" of a node of one NodeName line.
std::string counts(const std::string& fields, const std::string& options = "") {
  const ConfigResult result =
      read_slurm("ClusterName=c1\n" + options + "\nNodeName=n1 " + fields + "\n");
  const NodeSpec& n = node(result, "n1");
  return std::to_string(n.cpus) + " " + std::to_string(n.sockets) + " " +
         std::to_string(n.cores_per_socket) + " " + std::to_string(n.threads_per_core);
}

TEST(SlurmConf, CompletesCpuCounts) {
  EXPECT_EQ(counts(""), "1 1 1 1");
  EXPECT_EQ(counts("CPUs=16"), "16 16 1 1");
  EXPECT_EQ(counts("Sockets=2 CoresPerSocket=4 ThreadsPerCore=2"), "16 2 4 2");
  EXPECT_EQ(counts("CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2"), "8 2 4 2");
  EXPECT_EQ(counts("CPUs=8 ThreadsPerCore=2"), "8 4 1 2");
  EXPECT_EQ(counts("CPUs=16 CoresPerSocket=8 ThreadsPerCore=2"), "16 1 8 2");
  EXPECT_EQ(counts("Boards=2 SocketsPerBoard=2 CoresPerSocket=4"), "16 4 4 1");
}

TEST(SlurmConf, CpusThatMatchNothingAreReset) {
  EXPECT_EQ(counts("CPUs=7 Sockets=2 CoresPerSocket=4"), "8 2 4 1");
  EXPECT_EQ(counts("CPUs=16 Sockets=2"), "2 2 1 1");
  const auto result = read_slurm("ClusterName=c\nNodeName=n1 CPUs=7 Sockets=2 CoresPerSocket=4\n");
  EXPECT_EQ(place_of(result, "C016"), "slurm.conf:2");
  EXPECT_EQ(with_code(result, "C016")[0].severity, Severity::warning);
}

TEST(SlurmConf, CpusEqualToSocketsIsFatalWithConsTres) {
  const std::string line = "\nNodeName=wm1 CPUs=1 CoresPerSocket=2\n";
  const auto cons = read_slurm("ClusterName=c\nSelectType=select/cons_tres" + line);
  ASSERT_EQ(with_code(cons, "C016").size(), 1U);
  EXPECT_EQ(with_code(cons, "C016")[0].severity, Severity::error);
  EXPECT_EQ(node(cons, "wm1").cpus, 2);
  const auto linear = read_slurm("ClusterName=c\nSelectType=select/linear" + line);
  EXPECT_TRUE(with_code(linear, "C016").empty());
  EXPECT_EQ(node(linear, "wm1").cpus, 1);
}

TEST(SlurmConf, OldSpellings) {
  EXPECT_EQ(counts("Procs=8 Sockets=1 CoresPerSocket=4 ThreadsPerCore=2"), "8 1 4 2");
  EXPECT_EQ(counts("CPUs=96 Sockets=2 CoresPerSocket=24 ThreadsPerCore=2 Procs=48"), "96 2 24 2");
  const auto result = read_slurm(
      "CLUSTERNAME=X\nnodename=n1 FEATURE=a,b\nPARTITIONNAME=p nodes=ALL SHARED=yes Priority=9\n");
  EXPECT_EQ(result.cluster.name, "x");  // slurmctld lowers it
  EXPECT_EQ(node(result, "n1").features, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(partition(result, "p").oversubscribe, OverSubscribe::yes);
  EXPECT_EQ(partition(result, "p").oversubscribe_count, 4);
  EXPECT_EQ(partition(result, "p").priority_tier, 9);
  EXPECT_EQ(partition(result, "p").priority_job_factor, 9);
}

TEST(SlurmConf, DefaultLinesAddUpAndCountForward) {
  const auto result = read_slurm(
      "ClusterName=c1\n"
      "NodeName=n0\n"
      "NodeName=DEFAULT CPUs=8 RealMemory=100 Weight=5 Feature=a\n"
      "NodeName=n1\n"
      "NodeName=DEFAULT RealMemory=200\n"
      "NodeName=n2\n"
      "NodeName=DEFAULT CPUs=16 Feature=b\n"
      "NodeName=n3\n"
      "NodeName=n4 Feature=c,d CPUs=4 Weight=0\n"
      "PartitionName=DEFAULT MaxTime=60 Nodes=n1\n"
      "PartitionName=p\n"
      "PartitionName=DEFAULT PriorityTier=7\n"
      "PartitionName=q Nodes=n2 MaxTime=30\n"
      "PartitionName=r Nodes=ALL Default=NO\n");
  EXPECT_EQ(node(result, "n0").memory_mib, 1);
  EXPECT_EQ(node(result, "n1").memory_mib, 100);
  EXPECT_EQ(node(result, "n2").memory_mib, 200);
  EXPECT_EQ(node(result, "n2").weight, 5);
  EXPECT_EQ(node(result, "n3").cpus, 16);
  EXPECT_EQ(node(result, "n3").features, (std::vector<std::string>{"b"}));
  EXPECT_EQ(node(result, "n4").weight, 0);
  EXPECT_EQ(partition(result, "p").nodes, (std::vector<std::string>{"n1"}));
  EXPECT_EQ(partition(result, "p").priority_tier, 1);
  EXPECT_EQ(partition(result, "q").max_time_s, 1800);
  EXPECT_EQ(partition(result, "r").nodes.size(), 5U);
  EXPECT_EQ(partition(result, "r").max_time_s, 3600);
  EXPECT_EQ(partition(result, "r").priority_tier, 7);
}

TEST(SlurmConf, TimesRoundUpAndAreNeverGuessed) {
  const auto result = read_slurm(
      "ClusterName=c1\nNodeName=n1\n"
      "PartitionName=a Nodes=ALL MaxTime=1:30 DefaultTime=0:30\n"
      "PartitionName=b Nodes=ALL MaxTime=INFINITE DefaultTime=2-0\n"
      "PartitionName=c Nodes=ALL MaxTime=0\n"
      "PartitionName=d Nodes=ALL MaxTime=soon\n"
      "PartitionName=e Nodes=ALL MaxTime=10 DefaultTime=20\n");
  EXPECT_EQ(partition(result, "a").max_time_s, 120);
  EXPECT_EQ(partition(result, "a").default_time_s, 60);
  EXPECT_EQ(partition(result, "b").max_time_s, kUnlimited);
  EXPECT_EQ(partition(result, "b").default_time_s, 2 * 86400);
  EXPECT_EQ(partition(result, "c").max_time_s, 0);
  EXPECT_EQ(place_of(result, "C006"), "slurm.conf:6");
  EXPECT_EQ(partition(result, "e").default_time_s, kUnset);
  EXPECT_EQ(place_of(result, "C017"), "slurm.conf:7");
}

TEST(SlurmConf, TheLastDefaultPartitionCounts) {
  const auto two = read_slurm(
      "ClusterName=c1\nNodeName=n1\nPartitionName=a Nodes=n1 Default=YES\n"
      "PartitionName=b Nodes=n1 Default=YES\nPartitionName=c Nodes=n1 Default=NO\n");
  EXPECT_FALSE(partition(two, "a").is_default);
  EXPECT_TRUE(partition(two, "b").is_default);
  EXPECT_EQ(place_of(two, "C015"), "slurm.conf:4");
  EXPECT_TRUE(two.ok());
  const auto none = read_slurm("ClusterName=c1\nNodeName=n1\nPartitionName=a Nodes=n1\n");
  EXPECT_EQ(with_code(none, "C015").size(), 1U);
}

TEST(SlurmConf, NodeSetsAndUnknownNodes) {
  const auto result = read_slurm(
      "ClusterName=c1\nPartitionName=p Nodes=bigs\n"  // sets and nodes may come later
      "NodeName=n[1-2] Feature=big\nNodeName=n3\n"
      "NodeSet=bigs Feature=big\nNodeSet=mix Nodes=n[2-3]\n"
      "PartitionName=q Nodes=mix,n1\nPartitionName=r Nodes=N1,n[3-5]\n");
  EXPECT_EQ(partition(result, "p").nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(partition(result, "q").nodes, (std::vector<std::string>{"n2", "n3", "n1"}));
  EXPECT_EQ(partition(result, "r").nodes, (std::vector<std::string>{"n3"}));
  EXPECT_EQ(place_of(result, "C014"), "slurm.conf:8");
  EXPECT_NE(with_code(result, "C014")[0].message.find("N1,n[4-5]"), std::string::npos);
}

TEST(SlurmConf, DuplicatesAreErrorsAndTheFirstCounts) {
  const auto result = read_slurm(
      "ClusterName=c1\nClusterName=c2\nNodeName=w[01-04] CPUs=8\nNodeName=w04 CPUs=4\n"
      "PartitionName=p Nodes=w01 MaxTime=10\nPartitionName=p Nodes=w02 MaxTime=20\n");
  EXPECT_EQ(place_of(result, "C012"), "slurm.conf:4");
  EXPECT_EQ(node(result, "w04").cpus, 8);
  EXPECT_EQ(place_of(result, "C013"), "slurm.conf:6");
  EXPECT_EQ(partition(result, "p").max_time_s, 600);
  EXPECT_EQ(place_of(result, "C007"), "slurm.conf:2");
  EXPECT_EQ(result.cluster.name, "c2");
}

TEST(SlurmConf, UnknownKeysAreWarningsWithAProposal) {
  const auto result = read_slurm(
      "ClusterName=c1\nSchedulerTyp=sched/backfill\nNodeName=n1 Colour=red\n"
      "PartitionName=p Nodes=n1 MaxTme=3\n");
  const auto found = with_code(result, "C005");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_NE(found[0].hint.find("did you mean SchedulerType?"), std::string::npos);
  EXPECT_NE(found[0].hint.find("slurmctld refuses to start"), std::string::npos);
  EXPECT_EQ(found[1].line, 3);
  EXPECT_NE(found[2].hint.find("MaxTime"), std::string::npos);
  EXPECT_TRUE(result.ok());
  EXPECT_FALSE(result.cluster.options.contains("SchedulerTyp"));
}

TEST(SlurmConf, OptionsKeepTheCanonicalSpelling) {
  const auto result = read_slurm(
      "clustername=c1 KILLWAIT=60\nschedulerparameters = defer,bf_interval=60,bf_intervall=3\n"
      "SallocDefaultCommand=\"srun --gres=gpu:1 $SHELL\"\nMinJobAge=soon\n");
  EXPECT_EQ(result.cluster.options.at("KillWait"), "60");
  EXPECT_EQ(result.cluster.options.at("SchedulerParameters"),
            "defer,bf_interval=60,bf_intervall=3");
  EXPECT_EQ(place_of(result, "C019"), "slurm.conf:2");
  EXPECT_EQ(place_of(result, "C008"), "slurm.conf:3");
  EXPECT_EQ(place_of(result, "C006"), "slurm.conf:4");
  EXPECT_FALSE(result.cluster.options.contains("MinJobAge"));
}

TEST(SlurmConf, PerNodeMemoryWinsOverPerCpu) {
  const auto result = read_slurm(
      "ClusterName=c1\nDefMemPerCPU=100\nDefMemPerNode=200\nNodeName=n1\n"
      "PartitionName=p Nodes=n1 DefMemPerNode=300 DefMemPerCPU=50 MaxMemPerCPU=10\n"
      "PartitionName=q Nodes=n1 JobDefaults=DefCpuPerGPU=3,DefMemPerGPU=4000\n");
  EXPECT_EQ(with_code(result, "C018").size(), 2U);
  EXPECT_FALSE(result.cluster.options.contains("DefMemPerCPU"));
  EXPECT_EQ(partition(result, "p").def_mem_per_node_mib, 300);
  EXPECT_EQ(partition(result, "p").def_mem_per_cpu_mib, kUnset);
  EXPECT_EQ(partition(result, "p").max_mem_per_cpu_mib, 10);
  EXPECT_EQ(partition(result, "q").def_cpu_per_gpu, 3);
  EXPECT_EQ(partition(result, "q").def_mem_per_gpu_mib, 4000);
}

TEST(SlurmConf, PartitionValues) {
  const auto result = read_slurm(
      "ClusterName=c1\nNodeName=n1\n"
      "PartitionName=a Nodes=n1 OverSubscribe=force:8 State=drain MinNodes=5 MaxNodes=2\n"
      "PartitionName=b Nodes=n1 Shared=Exclusive MaxNodes=UNLIMITED MaxCPUsPerNode=4 RootOnly=YES\n"
      "PartitionName=c Nodes=n1 AllowAccounts=x,y QOS=fast LLN=YES\n"
      "PartitionName=d Nodes=n1 OverSubscribe=MAYBE PriorityTier=70000 State=open\n");
  EXPECT_EQ(partition(result, "a").oversubscribe, OverSubscribe::force);
  EXPECT_EQ(partition(result, "a").oversubscribe_count, 8);
  EXPECT_EQ(partition(result, "a").state, "DRAIN");
  EXPECT_EQ(partition(result, "a").min_nodes, 5);
  EXPECT_EQ(partition(result, "a").max_nodes, 2);
  EXPECT_EQ(partition(result, "b").oversubscribe, OverSubscribe::exclusive);
  EXPECT_EQ(partition(result, "b").max_nodes, kUnlimited);
  EXPECT_EQ(partition(result, "b").max_cpus_per_node, 4);
  EXPECT_TRUE(partition(result, "b").root_only);
  EXPECT_EQ(partition(result, "c").other.at("AllowAccounts"), "x,y");
  EXPECT_EQ(partition(result, "c").other.at("LLN"), "YES");
  EXPECT_FALSE(partition(result, "c").other.contains("Nodes"));
  EXPECT_EQ(with_code(result, "C006").size(), 3U);
}

TEST(SlurmConf, NodeStatesAndDownNodes) {
  const auto result = read_slurm(
      "ClusterName=c1\nNodeName=n1 State=DOWN Reason=\"broken, sent back\"\nNodeName=n2 "
      "State=cloud\n"
      "NodeName=n[3-5]\nNodeName=n6 State=SLEEPY\nDownNodes=n[4-5] State=DRAIN Reason=fan\n");
  EXPECT_EQ(node(result, "n1").state, "DOWN");
  EXPECT_EQ(node(result, "n1").reason, "broken, sent back");
  EXPECT_EQ(node(result, "n2").state, "CLOUD");
  EXPECT_EQ(node(result, "n3").state, "UNKNOWN");
  EXPECT_EQ(node(result, "n5").state, "DRAIN");
  EXPECT_EQ(node(result, "n5").reason, "fan");
  EXPECT_EQ(place_of(result, "C006"), "slurm.conf:5");
}

TEST(SlurmConf, CoreSpecialisation) {
  const auto result = read_slurm(
      "ClusterName=c1\n"
      "NodeName=n1 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 CoreSpecCount=2 MemSpecLimit=100\n"
      "NodeName=n2 Sockets=2 CoresPerSocket=4 CPUSpecList=0,1\n");
  EXPECT_EQ(node(result, "n1").core_spec_count, 2);
  EXPECT_EQ(node(result, "n1").mem_spec_limit_mib, 100);
  EXPECT_EQ(node(result, "n2").core_spec_count, 2);
}

TEST(SlurmConf, WhatIsMissing) {
  EXPECT_THROW(read({{"gres.conf", "\n"}}), FileError);
  const auto empty = read_slurm("");
  EXPECT_EQ(place_of(empty, "C010"), "slurm.conf:1");
  EXPECT_EQ(with_code(empty, "C011").size(), 2U);
  // With an Include missing the rest is incomplete: only that is reported.
  const auto include = read_slurm("Include nodes.conf\nPartitionName=p Nodes=n1 Default=YES\n");
  EXPECT_EQ(place_of(include, "C002"), "slurm.conf:1");
  EXPECT_EQ(include.diagnostics.size(), 1U) << all_text(include);
}

TEST(SlurmConf, LinearWithCoresIsRefused) {
  const std::string rest = "\nNodeName=n1\nPartitionName=p Nodes=n1 Default=YES\n";
  const auto bad = read_slurm(
      "ClusterName=c\nSelectType=select/linear\nSelectTypeParameters=CR_Core_Memory" + rest);
  EXPECT_EQ(place_of(bad, "C029"), "slurm.conf:3");
  const auto good =
      read_slurm("ClusterName=c\nSelectType=select/linear\nSelectTypeParameters=CR_Memory" + rest);
  EXPECT_TRUE(good.ok());
}

TEST(SlurmConf, SeveralFoldersMakeAFederation) {
  const std::string good = "ClusterName=c1\nNodeName=n1\nPartitionName=p Nodes=n1 Default=YES\n";
  const Folder a({{"slurm.conf", good}});
  const Folder b({{"slurm.conf", good}});
  const Folder bad({{"slurm.conf", good + "nonsense\n"}});
  const FederationSpec two = read_slurm_conf({{"alpha", a.path()}, {"beta", b.path()}});
  EXPECT_TRUE(two.federated);
  ASSERT_EQ(two.clusters.size(), 2U);
  EXPECT_EQ(two.clusters[0].name, "alpha");
  EXPECT_EQ(two.clusters[1].name, "beta");
  EXPECT_FALSE(read_slurm_conf({{"", a.path()}}).federated);
  EXPECT_EQ(read_slurm_conf({{"", a.path()}}).clusters[0].name, "c1");
  EXPECT_TRUE(two.warnings.empty());
  try {
    read_slurm_conf({{"x", bad.path()}, {"y", bad.path()}});
    FAIL() << "read";
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostics().size(), 2U);  // both folders, each with its path
    EXPECT_NE(e.diagnostics()[0].file.find(bad.path().string()), std::string::npos);
  }
}

TEST(SlurmConf, WarningsOfAReadableFolderAreKept) {
  const Folder drained({{"slurm.conf",
                         "ClusterName=c1\nGresTypes=gpu\nNodeName=n1 Gres=gpu:2\n"
                         "PartitionName=p Nodes=n1 Default=YES\n"},
                        {"gres.conf", "NodeName=n1 Name=gpu File=/dev/nvidia0\n"}});
  const FederationSpec spec = read_slurm_conf({{"", drained.path()}});
  ASSERT_FALSE(spec.warnings.empty());
  EXPECT_NE(spec.warnings[0].file.find(drained.path().string()), std::string::npos);
  EXPECT_EQ(compile(spec)->warnings, spec.warnings);
}

}  // namespace
}  // namespace fedsim::conf
