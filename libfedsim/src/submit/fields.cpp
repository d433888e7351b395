// Fields of `scontrol show job` for a job that was accepted and waits (22.05).
#include <algorithm>

#include "base/text.hpp"
#include "submit/submission.hpp"

namespace fedsim {
namespace {

/// "500G", "62.50G", "16000M": the largest unit in which wholes and halves are exact.
std::string memory_text(std::int64_t mib) {
  if (mib == 0) return "0";
  constexpr std::string_view kUnits = "MGTP";
  std::size_t unit = 0;
  bool half = false;
  while (!half && mib % 512 == 0 && mib >= 1024 && unit + 1 < kUnits.size()) {
    half = mib % 1024 != 0;
    mib /= 1024;
    ++unit;
  }
  return std::to_string(mib) + (half ? ".50" : "") + kUnits[unit];
}

std::string limit_text(std::int64_t minutes) {
  if (minutes < 0) return "UNLIMITED";
  return format_slurm_time(minutes * 60);
}

class Fields {
 public:
  Fields(const ControllerView& view, const Submission& s)
      : view_(view), s_(s), job_(s.job), first_(*s.partitions.front()), shown_(*s.shown) {}

  std::vector<std::pair<std::string, std::string>> run() {
    put("JobState", s_.past_deadline ? "DEADLINE" : "PENDING");
    put("Reason", s_.reason);
    const std::int64_t limit =
        job_.time_limit_min == kUnset ? shown_.max_time_min : job_.time_limit_min;
    put("TimeLimit", limit_text(limit));
    if (job_.time_min_min != kUnset) put("TimeMin", limit_text(job_.time_min_min));
    put("Partition", s_.partition_text);
    counts();
    put("TRES", tres());
    put("MinCPUsNode", std::to_string(job_.min_cpus_per_node));
    put(job_.memory_per_cpu ? "MinMemoryCPU" : "MinMemoryNode", memory_text(job_.memory_mib));
    given("CpusPerTres", per_gres(job_.cpus_per_gres, s_.default_cpus_per_gpu));
    given("MemPerTres", per_gres(job_.memory_per_gres, s_.default_memory_per_gpu_mib));
    given("TresPerJob", job_.gres_per_job);
    given("TresPerNode", job_.gres_per_node);
    given("TresPerSocket", job_.gres_per_socket);
    given("TresPerTask", job_.gres_per_task);
    if (job_.has("constraint")) put("Features", job_.features);
    return std::move(out_);
  }

 private:
  void put(const char* name, std::string value) { out_.emplace_back(name, std::move(value)); }
  void given(const char* name, std::string value) {
    if (!value.empty()) put(name, std::move(value));
  }

  std::int64_t tasks() const {
    if (job_.num_tasks != kUnset) return job_.num_tasks;
    const std::int64_t per_node = std::max<std::int64_t>(job_.ntasks_per_node, 1);
    return std::max<std::int64_t>(job_.min_nodes, 1) * per_node;
  }

  /// Nodes as scontrol guesses them before any test has chosen some.
  std::int64_t guessed_nodes() const {
    std::int64_t cpus = 1;
    std::int64_t cores = 1;
    for (const StaticNode& n : view_.nodes) {
      cpus = std::max(cpus, n.cpus);
      cores = std::max(cores, n.cores);
    }
    const std::int64_t n = std::max<std::int64_t>(job_.num_tasks, 0);
    const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    std::int64_t nodes = 0;
    if (job_.ntasks_per_node > 0)
      nodes = n / job_.ntasks_per_node;
    else if (job_.cpus_per_task > 1)
      nodes = up(n, std::max<std::int64_t>(cpus / job_.cpus_per_task, 1));
    else if (job_.ntasks_per_core > 0)
      nodes = up(up(n, job_.ntasks_per_core), cores);
    else
      nodes = up(n, cpus);
    return std::max(nodes, job_.min_nodes);
  }

  void counts() {
    std::int64_t nodes = s_.nodes_n == kUnset ? guessed_nodes() : s_.nodes_n;
    if (job_.max_nodes > 0) nodes = std::min(nodes, job_.max_nodes);
    std::string text = std::to_string(nodes);
    if (job_.max_nodes > 0) text += "-" + std::to_string(job_.max_nodes);
    put("NumNodes", text);
    put("NumCPUs", std::to_string(job_.min_cpus));
    put("NumTasks", s_.past_deadline ? "N/A" : std::to_string(tasks()));
    put("CPUs/Task", std::to_string(std::max<std::int64_t>(job_.cpus_per_task, 1)));
  }

  static std::string per_gres(const std::string& given, std::int64_t otherwise) {
    return given.empty() && otherwise > 0 ? "gpu:" + std::to_string(otherwise) : given;
  }

  /// Memory as far as it was known at submission.
  std::int64_t memory() const {
    if (!s_.memory_given) {
      GresAsk sum;
      for (const GresAsk& a : s_.gres.asks) {
        sum.memory_per_mib = std::max(sum.memory_per_mib, a.memory_per_mib);
        sum.per_job += a.per_job;
        sum.per_node += a.per_node;
        sum.per_socket += a.per_socket;
        sum.per_task += a.per_task;
      }
      const std::int64_t sockets = std::max<std::int64_t>(job_.sockets_per_node, 1);
      if (sum.memory_per_mib > 0) {
        std::int64_t gpus = sum.per_task * std::max<std::int64_t>(job_.num_tasks, 1);
        if (sum.per_job > 0)
          gpus = sum.per_job;
        else if (sum.per_node > 0)
          gpus = sum.per_node * s_.tres_nodes;
        else if (sum.per_socket > 0)
          gpus = sum.per_socket * s_.tres_nodes * sockets;
        return sum.memory_per_mib * gpus;
      }
    }
    if (s_.tres_memory_per_cpu) return s_.tres_memory_mib * s_.tres_cpus;
    std::int64_t per_node = s_.tres_memory_mib;
    if (per_node == 0 && !first_.nodes.empty())
      per_node = view_.nodes[first_.nodes.front()].memory_mib;
    return per_node * s_.tres_nodes;
  }

  std::string tres() const {
    std::string out = "cpu=" + std::to_string(s_.tres_cpus) + ",mem=" + memory_text(memory()) +
                      ",node=" + std::to_string(s_.tres_nodes) +
                      ",billing=" + std::to_string(s_.tres_cpus);
    for (const std::string& name : view_.tracked_tres) {
      std::int64_t n = 0;
      if (name.starts_with("license/")) {
        const auto found = s_.tres_licenses.find(name.substr(8));
        n = found == s_.tres_licenses.end() ? 0 : found->second;
      }
      for (const GresAsk& a : s_.gres.asks) {
        const std::string whole = "gres/" + a.name;
        if (name == whole || name == whole + ":" + a.type) n += a.total;
      }
      if (n > 0) out += "," + name + "=" + std::to_string(n);
    }
    return out;
  }

  const ControllerView& view_;
  const Submission& s_;
  const JobDescription& job_;
  const StaticPartition& first_;
  const StaticPartition& shown_;
  std::vector<std::pair<std::string, std::string>> out_;
};

}  // namespace

std::vector<std::pair<std::string, std::string>> scontrol_fields(const ControllerView& view,
                                                                 const Submission& s) {
  return Fields(view, s).run();
}

}  // namespace fedsim
