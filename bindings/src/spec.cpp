// Specs of federations, clusters, nodes and partitions; reading them from slurm.conf folders.
#include "spec_ops.hpp"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <array>
#include <charconv>

#include "bindings.hpp"
#include "fedsim/scenario.hpp"
#include "fedsim/slurm_conf.hpp"
#include "record.hpp"

namespace fedsim::python {
namespace {

constexpr std::array<const char*, 4> kOverSubscribe{"no", "yes", "force", "exclusive"};

void bind_parts(py::module_& m) {
  Record<GresSpec>(m, "GresSpec", "One entry of ``Gres=`` of a node, e.g. ``gpu:a100:8``.")
      .field("name", &GresSpec::name, "Gres name, e.g. 'gpu'.")
      .field("type", &GresSpec::type, "Type, '' when untyped.")
      .field("count", &GresSpec::count, "How many.")
      .finish();
  Record<GpuDeviceSpec>(m, "GpuDeviceSpec",
                        "One GPU of a node; its index is its place in the list.")
      .field("type", &GpuDeviceSpec::type, "Type, e.g. 'a100'; '' when untyped.")
      .field("file", &GpuDeviceSpec::file, "Device file, '' when not given.")
      .field("cores", &GpuDeviceSpec::cores, "``Cores=`` of gres.conf; empty: any socket.")
      .finish();
  Record<SwitchSpec>(m, "SwitchSpec", "One line of topology.conf.")
      .field("name", &SwitchSpec::name, "Switch name.")
      .field("nodes", &SwitchSpec::nodes, "Nodes below it, expanded.")
      .field("switches", &SwitchSpec::switches, "Switches below it.")
      .field("link_speed", &SwitchSpec::link_speed, "``LinkSpeed``, UNSET when not given.")
      .finish();
  Record<LatencySpec>(m, "LatencySpec",
                      "How long messages between controllers take (lengths of time; defaults\n"
                      "measured on recordings of real federations).")
      .field("sibling_message", &LatencySpec::sibling_message,
             "A queued message between controllers, median of 22.05 (drawn with the recorded\n"
             "spread, 16 times shorter from 24.11 on); default 88 ms.")
      .field("lock_round_trip", &LatencySpec::lock_round_trip,
             "Start-lock call to the origin, likewise (45 times shorter from 24.11 on); default "
             "45 ms.")
      .field("client_command", &LatencySpec::client_command,
             "Command typed to request handled by the controller, likewise; default 0: times of\n"
             "the trace are the controller's own. Recorded scenarios have 149 ms.")
      .field("launch", &LatencySpec::launch,
             "Start to end of a job minus what its script takes; default 0.8 s.")
      .field("epilog", &LatencySpec::epilog, "End of a job to its nodes being free; default 1 ms.")
      .finish();
}

void bind_node(py::module_& m) {
  Record<NodeSpec>(m, "NodeSpec", "One node; field names follow slurm.conf(5), sizes in MiB.")
      .field("name", &NodeSpec::name, "NodeName.")
      .field("cpus", &NodeSpec::cpus, "CPUs (hardware threads).")
      .field("sockets", &NodeSpec::sockets, "Sockets.")
      .field("cores_per_socket", &NodeSpec::cores_per_socket, "CoresPerSocket.")
      .field("threads_per_core", &NodeSpec::threads_per_core, "ThreadsPerCore.")
      .field("core_spec_count", &NodeSpec::core_spec_count, "CoreSpecCount.")
      .field("memory_mib", &NodeSpec::memory_mib, "RealMemory, MiB; Slurm's default is 1.")
      .field("mem_spec_limit_mib", &NodeSpec::mem_spec_limit_mib, "MemSpecLimit, MiB.")
      .field("tmp_disk_mib", &NodeSpec::tmp_disk_mib, "TmpDisk, MiB.")
      .field("weight", &NodeSpec::weight, "Weight; lower is used first.")
      .field("features", &NodeSpec::features, "Features.")
      .field("gres", &NodeSpec::gres, "Gres= as slurm.conf states it.")
      .field("gpus", &NodeSpec::gpus, "GPU devices in index order.")
      .field("state", &NodeSpec::state, "State= of the line, e.g. 'UNKNOWN', 'DOWN'.")
      .field("reason", &NodeSpec::reason, "Why the node is unusable, '' when it is not.")
      .finish();
}

void bind_partition(py::module_& m) {
  using P = PartitionSpec;
  Record<P>(m, "PartitionSpec",
            "One partition; times in seconds, sizes in MiB; UNSET (-1) and UNLIMITED (-2).")
      .field("name", &P::name, "PartitionName.")
      .field("nodes", &P::nodes, "Node names, expanded.")
      .field("is_default", &P::is_default, "Default=YES.")
      .field("state", &P::state, "UP, DOWN, DRAIN or INACTIVE.")
      .field("max_time_s", &P::max_time_s, "MaxTime, seconds.")
      .field("default_time_s", &P::default_time_s, "DefaultTime, seconds.")
      .field("priority_tier", &P::priority_tier, "PriorityTier.")
      .field("priority_job_factor", &P::priority_job_factor, "PriorityJobFactor.")
      .field("min_nodes", &P::min_nodes, "MinNodes.")
      .field("max_nodes", &P::max_nodes, "MaxNodes.")
      .field("max_cpus_per_node", &P::max_cpus_per_node, "MaxCPUsPerNode.")
      .field("oversubscribe", &P::oversubscribe, "'no', 'yes', 'force' or 'exclusive'.")
      .field("oversubscribe_count", &P::oversubscribe_count, "Jobs per resource with 'force'.")
      .field("def_mem_per_cpu_mib", &P::def_mem_per_cpu_mib, "DefMemPerCPU, MiB.")
      .field("def_mem_per_node_mib", &P::def_mem_per_node_mib, "DefMemPerNode, MiB.")
      .field("max_mem_per_cpu_mib", &P::max_mem_per_cpu_mib, "MaxMemPerCPU, MiB.")
      .field("max_mem_per_node_mib", &P::max_mem_per_node_mib, "MaxMemPerNode, MiB.")
      .field("def_cpu_per_gpu", &P::def_cpu_per_gpu, "DefCpuPerGPU.")
      .field("def_mem_per_gpu_mib", &P::def_mem_per_gpu_mib, "DefMemPerGPU, MiB.")
      .field("root_only", &P::root_only, "RootOnly=YES.")
      .field("other", &P::other, "Keys read and kept, spelled as in slurm.conf(5).")
      .finish();
}

void bind_cluster(py::module_& m) {
  using C = ClusterSpec;
  Record<C>(
      m, "ClusterSpec",
      "One cluster: what slurm.conf, gres.conf and topology.conf say about scheduling.\n\n"
      "An immutable value: ``replace()`` gives a changed copy. Nothing is validated before a\n"
      "Scenario is made of it.\n\n"
      "Example:\n"
      "    >>> import fedsim as fs\n"
      "    >>> pool = fs.machine('pool', 4, units=8, gpu_type='a100')\n"
      "    >>> len(pool.nodes), pool.nodes[0].cpus\n"
      "    (4, 8)\n")
      .field("name", &C::name, "ClusterName.")
      .field("release", &C::release, "Slurm release to follow, e.g. '22.05'.")
      .field("nodes", &C::nodes, "Nodes in file order.")
      .field("partitions", &C::partitions, "Partitions in file order.")
      .field("switches", &C::switches, "Lines of topology.conf.")
      .field("features", &C::features, "Cluster features (sacctmgr), for --cluster-constraint.")
      .field("options", &C::options, "Every other key of slurm.conf, e.g. 'SchedulerParameters'.")
      .finish();
}

constexpr const char* kFederationDoc =
    "Several clusters; when ``federated``, list order is federation id order (first is 1).\n\n"
    "An immutable value: ``replace()``, ``with_cluster()`` and ``with_options()`` give changed\n"
    "copies.\n\n"
    "Example:\n"
    "    >>> import fedsim as fs\n"
    "    >>> fed = fs.Federation.of(a='1x8 a100', b='1x8 a100')\n"
    "    >>> fed.gpus_n, [c.name for c in fed.clusters]\n"
    "    (16, ['a', 'b'])\n";

void bind_federation(py::module_& m) {
  using F = FederationSpec;
  Record<F>(m, "FederationSpec", kFederationDoc)
      .field("name", &F::name, "Name of the federation, '' when it has none.")
      .field("federated", &F::federated, "Whether jobs get siblings on the other clusters.")
      .field("clusters", &F::clusters, "The clusters.")
      .field("latency", &F::latency, "Message times between controllers.")
      .field("warnings", &F::warnings, "Findings of the files that it was read from.")
      .finish()
      .def_static("of", &federation_of,
                  "of(**clusters)\n\nA federation of equal-node clusters in short form: "
                  "NAME='NODESxGPUS TYPE'.\n\n"
                  "'2x8 a100' is two nodes of 8 CPUs and 8 GPUs of type a100, '4x64' four nodes of "
                  "64 CPUs\nand no GPU. A ClusterSpec is taken as it is and renamed. Raises "
                  "InputError.\n\nExample:\n    >>> import fedsim as fs\n"
                  "    >>> fs.Federation.of(a='1x8 a100', b='2x8 h100').gpus_n\n    24\n")
      .def(
          "with_cluster", &with_cluster, py::arg("cluster"), py::kw_only(),
          py::arg("like") = py::none(), py::arg("nodes") = py::none(),
          "with_cluster(cluster, *, like=None, nodes=None)\n\n"
          "A copy with one more cluster, federated.\n\n"
          "`cluster` is a ClusterSpec, or a name together with `like`, the name of the cluster to\n"
          "copy; `nodes` is how many nodes the copy has (default: as many). Raises InputError.\n\n"
          "Example:\n    >>> import fedsim as fs\n"
          "    >>> two = fs.Federation.of(a='1x8 a100', b='1x8 a100')\n"
          "    >>> two.with_cluster('c', like='b', nodes=2).gpus_n\n    32\n")
      .def("with_options", &with_options,
           "with_options(cluster=None, /, **options)\n\n"
           "A copy with slurm.conf keys changed, on one cluster or on all.\n\n"
           "Example:\n    >>> import fedsim as fs\n"
           "    >>> fed = fs.Federation.of(a='1x8', b='1x8')\n"
           "    >>> fed = fed.with_options(SchedulerParameters='bf_interval=10')\n"
           "    >>> fed.clusters[1].options['SchedulerParameters']\n    'bf_interval=10'\n")
      .def_property_readonly("gpus_n", &gpus_n, "GPUs of all nodes of all clusters.")
      .def("_repr_html_", &federation_html, "A table of the clusters, for notebooks.");
}

FederationSpec read_folders(const py::object& folders) {
  std::vector<std::pair<std::string, std::filesystem::path>> list;
  for (const py::handle item : py::dict(folders).attr("items")()) {
    const auto pair = item.cast<py::tuple>();
    list.emplace_back(pair[0].cast<std::string>(), pair[1].cast<std::filesystem::path>());
  }
  const py::gil_scoped_release released;
  return read_slurm_conf(list);
}

}  // namespace

py::object expose(OverSubscribe v) {
  return py::str(kOverSubscribe[static_cast<std::size_t>(v)]);
}

py::object expose(const SlurmRelease& v) {
  const std::string month = std::to_string(v.month);
  return py::str(std::to_string(v.year) + "." + (v.month < 10 ? "0" : "") + month);
}

void assign(OverSubscribe& out, const py::handle& value, const std::string& field) {
  const std::string word = py::str(value);
  for (std::size_t i = 0; i < kOverSubscribe.size(); ++i) {
    if (word != kOverSubscribe[i]) continue;
    out = static_cast<OverSubscribe>(i);
    return;
  }
  bad_value(field, value, "one of no, yes, force, exclusive");
}

void assign(SlurmRelease& out, const py::handle& value, const std::string& field) {
  const std::string text = py::str(value);
  const char* const end = text.data() + text.size();
  SlurmRelease made;
  const auto year = std::from_chars(text.data(), end, made.year);
  const bool dot = year.ec == std::errc{} && year.ptr != end && *year.ptr == '.';
  const auto month = std::from_chars(dot ? year.ptr + 1 : end, end, made.month);
  if (!dot || month.ec != std::errc{} || month.ptr != end) {
    bad_value(field, value, "a Slurm release such as '22.05'");
  }
  out = made;
}

void bind_spec(py::module_& m) {
  m.attr("UNSET") = kUnset;
  m.attr("UNLIMITED") = kUnlimited;
  bind_parts(m);
  bind_node(m);
  bind_partition(m);
  bind_cluster(m);
  bind_federation(m);
  m.def(
      "read_slurm_conf", &read_folders, py::arg("folders"),
      "read_slurm_conf(folders)\n--\n\n"
      "Read ``{name: folder}``, each folder with slurm.conf, gres.conf and topology.conf.\n\n"
      "Returns a FederationSpec, federated when there is more than one cluster. Raises InputError\n"
      "with the findings of all folders, OSError when a slurm.conf cannot be read.\n\n"
      "Example:\n"
      "    spec = fedsim.read_slurm_conf({'alpha': 'conf/alpha', 'beta': 'conf/beta'})\n");
  m.def("machine", &machine_spec, py::arg("name"), py::arg("nodes"), py::kw_only(),
        py::arg("units"), py::arg("gpu_type") = py::none(),
        "machine(name, nodes, *, units, gpu_type=None)\n--\n\n"
        "A ClusterSpec of `nodes` equal nodes of `units` CPUs each, one partition 'batch'.\n\n"
        "With `gpu_type` ('a100', or '' for untyped) each node has `units` GPUs as well.\n\n"
        "Example:\n    >>> import fedsim as fs\n"
        "    >>> fs.machine('flat', 1024, units=1).partitions[0].name\n    'batch'\n");
  m.def("check_config", &check_config, py::arg("folder"),
        "check_config(folder)\n--\n\n"
        "Read one configuration folder: ``(inventory, diagnostics)``.\n\n"
        "The inventory is a dict as ``fedsim check --format json`` prints it and is given even\n"
        "where there are errors; diagnostics is a list of Diagnostic. Raises OSError when "
        "slurm.conf\n"
        "itself cannot be read.\n\n"
        "Example:\n    inventory, diagnostics = fedsim.check_config('conf/alpha')\n");
  m.def("expand_hostlist", &expand_hostlist, py::arg("text"),
        "expand_hostlist(text)\n--\n\nNode names of a host list, in Slurm's order.\n\n"
        "Raises InputError on an unbalanced or reversed range.\n\n"
        "Example:\n    >>> import fedsim as fs\n"
        "    >>> fs.expand_hostlist('n[1-3,7]')\n    ['n1', 'n2', 'n3', 'n7']\n");
  m.def("compress_hostlist", &compress_hostlist, py::arg("names"),
        "compress_hostlist(names)\n--\n\nNode names in Slurm's short form.\n\n"
        "Example:\n    >>> import fedsim as fs\n"
        "    >>> fs.compress_hostlist(['n1', 'n2', 'n3', 'n7'])\n    'n[1-3,7]'\n");
}

}  // namespace fedsim::python
