// What sbatch does between reading its options and calling the controller: conflicts, counts that
// follow from other counts, and the test of generic resources (22.05).
#include "request/sbatch.hpp"

#include <algorithm>

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "fedsim/slurm_conf.hpp"
#include "request/gres_request.hpp"

namespace fedsim {
namespace {

class Command {
 public:
  Command(SbatchValues values, const SbatchConfig& config, SbatchOutcome& out)
      : config_(config), out_(out), v_(std::move(values)) {}

  void run() {
    v_.job.begin_s = v_.begin_s;
    v_.job.deadline_s = v_.deadline_s;
    const bool ok = conflicts() && hint() && nodelist() && counts() && distribution_fits() &&
                    tasks_and_nodes() && times();
    if (!ok) return;
    describe();
    if (v_.arbitrary && v_.job.nodelist.empty()) {
      return fail(
          "With Arbitrary distribution you need to specify a nodelist or hostfile with the "
          "-w option");
    }
    if (v_.job.clusters.empty() && !gres()) return;
    out_.sent = true;
    out_.job = std::move(v_.job);
  }

 private:
  bool has(const char* option) const { return v_.job.has(option); }

  void fail(const std::string& text) {
    out_.lines.push_back("sbatch: error: " + text);
    out_.exit_code = 1;
  }
  bool fatal(const std::string& text) {
    out_.lines.push_back("sbatch: fatal: " + text);
    out_.exit_code = 1;
    return false;
  }

  bool conflicts() {
    if (has("ntasks-per-gpu")) {
      for (const char* other : {"gpus-per-task", "gpus-per-socket"}) {
        if (has(other)) return fatal_with_ntasks_per_gpu(other);
      }
      if (has("ntasks-per-node") || has("tasks-per-node")) {
        return fatal_with_ntasks_per_gpu("ntasks-per-node");
      }
    }
    if (has("core-spec") && has("thread-spec")) {
      return fatal("-S/--core-spec and --thred-spec options are mutually exclusive");
    }
    if (v_.core_spec != kUnset && !config_.allow_spec_resources) {
      v_.job.core_spec_ignored = true;
      out_.lines.push_back(std::string("sbatch: error: Ignoring ") +
                           (v_.core_spec_is_threads ? "--thread-spec" : "-S") +
                           " since it's not allowed by configuration (AllowSpecResourcesUsage = "
                           "No)");
    }
    const int memories =
        (has("mem") ? 1 : 0) + (has("mem-per-cpu") ? 1 : 0) + (has("mem-per-gpu") ? 1 : 0);
    if (memories > 1) {
      return fatal("--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.");
    }
    return true;
  }

  bool fatal_with_ntasks_per_gpu(const std::string& other) {
    return fatal("--" + other +
                 " is mutually exclusive with --ntasks-per-gpu and SLURM_NTASKS_PER_GPU");
  }

  /// --hint sets shapes, unless an option beside it says them.
  bool hint() {
    if (!has("hint")) return true;
    if (has("ntasks-per-core") || has("threads-per-core") || has("extra-node-info")) return true;
    JobDescription& j = v_.job;
    j.sockets_per_node = j.cores_per_socket = j.threads_per_core = kUnset;
    for (const std::string& word : split_list(v_.hint)) {
      if (iequals(word, "compute_bound")) {
        j.sockets_per_node = j.cores_per_socket = kUnset;
        j.threads_per_core = 1;
      } else if (iequals(word, "memory_bound")) {
        j.cores_per_socket = j.threads_per_core = 1;
      } else if (iequals(word, "multithread")) {
        j.threads_per_core = kUnset;
        j.ntasks_per_core = kUnlimited;
      } else if (iequals(word, "nomultithread")) {
        j.threads_per_core = 1;
      } else {
        fail("unrecognized --hint argument \"" + word + "\", see --hint=help");
        return false;
      }
    }
    return true;
  }

  bool nodelist() {
    if (!has("nodelist")) return true;
    std::string problem;
    const auto list = try_expand_hostlist(v_.job.nodelist, problem);
    hosts_readable_ = list.has_value();
    hosts_ = list.value_or(std::vector<std::string>{v_.job.nodelist});
    const std::string backwards = backward_range(v_.job.nodelist);
    if (!backwards.empty()) {
      out_.lines.push_back("sbatch: error: _parse_single_range: Invalid range: `" + backwards +
                           "'");
      fail("memory allocation failure");
      return false;
    }
    std::vector<std::string> unique;
    for (const std::string& host : hosts_)
      if (std::find(unique.begin(), unique.end(), host) == unique.end()) unique.push_back(host);
    hosts_ = std::move(unique);
    const auto n = static_cast<std::int64_t>(hosts_.size());
    v_.min_nodes = v_.nodes_set ? std::max(n, v_.min_nodes) : n;
    v_.nodes_set = true;
    return true;
  }

  /// "2-1" of "n[2-1]", else "".
  static std::string backward_range(const std::string& list) {
    for (std::size_t open = list.find('['); open != std::string::npos;
         open = list.find('[', open + 1)) {
      const std::size_t close = list.find(']', open);
      if (close == std::string::npos) return "";
      for (const std::string& range : split(list.substr(open + 1, close - open - 1), ',')) {
        const std::size_t dash = range.find('-');
        if (dash == std::string::npos) continue;
        const auto low = parse_int(range.substr(0, dash));
        const auto high = parse_int(range.substr(dash + 1));
        if (low && high && *low > *high) return range;
      }
    }
    return "";
  }

  bool counts() {
    const JobDescription& j = v_.job;
    if (j.ntasks_per_node != kUnset && !v_.ntasks_set &&
        (v_.max_nodes == 0 || v_.min_nodes == v_.max_nodes)) {
      v_.ntasks = v_.min_nodes * j.ntasks_per_node;
      v_.ntasks_set = true;
    }
    if (v_.cpus_set && j.min_cpus_per_node < v_.cpus_per_task) {
      v_.job.min_cpus_per_node = v_.cpus_per_task;
    }
    const bool reversed = v_.max_nodes != 0 && v_.min_nodes > v_.max_nodes;
    if (v_.min_nodes >= 0 && v_.max_nodes >= 0 && !reversed) return true;
    // Not the end yet: later tests print as well; the command then exits.
    out_.lines.push_back("sbatch: error: invalid number of nodes (-N " +
                         std::to_string(v_.min_nodes) + "-" + std::to_string(v_.max_nodes) + ")");
    unusable_ = true;
    return true;
  }

  bool distribution_fits() {
    if (!v_.plane) return true;
    const std::int64_t size = v_.job.plane_size;
    const bool few = v_.min_nodes <= 0 || v_.ntasks / size < v_.min_nodes;
    if (few && (v_.min_nodes - 1) * size >= v_.ntasks) {
      fail("Too few processes for the requested {plane,node} distribution");
      return false;
    }
    return true;
  }

  bool tasks_and_nodes() {
    const JobDescription& j = v_.job;
    const bool fixed = v_.min_nodes == v_.max_nodes || v_.max_nodes == 0;
    if ((v_.nodes_set || v_.extra_set) && fixed && !v_.ntasks_set) {
      v_.ntasks = std::max<std::int64_t>(v_.min_nodes, 1);
      for (const std::int64_t shape :
           {j.sockets_per_node, j.cores_per_socket, j.threads_per_core}) {
        if (shape == kUnset) continue;
        v_.ntasks *= shape;
        v_.ntasks_set = true;
      }
    } else if (v_.nodes_set && v_.ntasks_set) {
      v_.max_nodes = std::min(v_.max_nodes, v_.ntasks);
      if (v_.ntasks < v_.min_nodes) cut_nodes();
    }
    if (v_.arbitrary && (!v_.nodes_set || !v_.ntasks_set)) {
      const auto n = static_cast<std::int64_t>(hosts_.size());
      if (!v_.ntasks_set) v_.ntasks = n;
      v_.ntasks_set = true;
    }
    return true;
  }

  void cut_nodes() {
    out_.lines.push_back("sbatch: Warning: can't run " + std::to_string(v_.ntasks) +
                         " processes on " + std::to_string(v_.min_nodes) +
                         " nodes, setting nnodes to " + std::to_string(v_.ntasks));
    v_.min_nodes = v_.max_nodes = v_.ntasks;
    if (static_cast<std::int64_t>(hosts_.size()) > v_.min_nodes) {
      hosts_.resize(static_cast<std::size_t>(v_.min_nodes));
    }
  }

  bool times() {
    if (v_.deadline_s != 0 && v_.begin_s != 0 && v_.deadline_s < v_.begin_s) {
      fail("Incompatible begin and deadline time specification");
      return false;
    }
    if (unusable_) out_.exit_code = 1;
    return !unusable_;
  }

  void describe() {
    JobDescription& j = v_.job;
    const auto listed = [](const std::string& gpus) {
      std::string out;
      for (const std::string& entry : split_list(gpus))
        out += (out.empty() ? "gres:gpu:" : ",gres:gpu:") + entry;
      return out;
    };
    if (v_.cpus_per_gpu > 0) j.cpus_per_gres = "gres:gpu:" + std::to_string(v_.cpus_per_gpu);
    if (v_.mem_per_gpu != kUnset) j.memory_per_gres = "gres:gpu:" + std::to_string(v_.mem_per_gpu);
    j.gres_per_job = listed(v_.gpus);
    j.gres_per_node = listed(v_.gpus_per_node);
    if (!v_.gres.empty()) j.gres_per_node += (j.gres_per_node.empty() ? "" : ",") + v_.gres;
    j.gres_per_socket = listed(v_.gpus_per_socket);
    j.gres_per_task = listed(v_.gpus_per_task);
    if (v_.ntasks_set) j.num_tasks = v_.ntasks;
    if (j.overcommit)
      j.min_cpus = std::max<std::int64_t>(v_.min_nodes, 1);
    else if (v_.cpus_set)
      j.min_cpus = v_.ntasks * v_.cpus_per_task;
    else if (v_.nodes_set && v_.min_nodes == 0)
      j.min_cpus = 0;
    else
      j.min_cpus = v_.ntasks;
    if (v_.cpus_set) j.cpus_per_task = v_.cpus_per_task;
    if (v_.nodes_set) {
      j.min_nodes = v_.min_nodes;
      if (v_.max_nodes != 0) j.max_nodes = v_.max_nodes;
    }
    j.ntasks_per_gres = v_.ntasks_per_gpu;
    if (v_.mem != kUnset)
      j.memory_mib = v_.mem;
    else if (v_.mem_per_cpu != kUnset)
      j.memory_mib = v_.mem_per_cpu;
    j.memory_per_cpu = v_.mem == kUnset && v_.mem_per_cpu != kUnset;
    if (hosts_readable_) j.nodelist = compress_hostlist(hosts_);
  }

  bool gres() {
    GresJob checked = validate_gres(v_.job, config_.gres_types, config_.cons_tres, false);
    for (std::string& text : checked.errors) out_.lines.push_back("sbatch: error: " + text);
    if (checked.verdict == GresVerdict::ok) return true;
    fail(text_of(checked.verdict));
    return false;
  }

  const SbatchConfig& config_;
  SbatchOutcome& out_;
  SbatchValues v_;
  std::vector<std::string> hosts_;  ///< of -w, each once
  bool hosts_readable_ = false;
  bool unusable_ = false;
};

}  // namespace

SbatchOutcome run_sbatch(const std::vector<std::string>& argv, const SbatchConfig& config) {
  SbatchOutcome out;
  SbatchValues values;
  if (!read_sbatch_options(argv, config, values, out)) return out;
  Command(std::move(values), config, out).run();
  return out;
}

SbatchOutcome finish_sbatch(SbatchValues values, const SbatchConfig& config) {
  SbatchOutcome out;
  Command(std::move(values), config, out).run();
  return out;
}

}  // namespace fedsim
