// CPUs and memory of one node for one job (22.05 _allocate_sc, can_job_run_on_node).
#include "select/offer.hpp"

#include <algorithm>

namespace fedsim {
namespace {

/// Counts CPUs off while cores are taken one by one.
struct CpuCount {
  std::int64_t per_core, cpus_per_task, left_of_task, available, taken = 0;
  bool one_task_per_core, whole_cores;

  void take_core() {
    if (available < per_core) {
      taken += available;
      available = 0;
      return;
    }
    std::int64_t used = per_core;
    if (!whole_cores && one_task_per_core && cpus_per_task > per_core)
      used = std::min(left_of_task, per_core);
    available -= used;
    taken += used;
    left_of_task = left_of_task <= used ? cpus_per_task : left_of_task - used;
  }
};

class CoreCut {
 public:
  CoreCut(const SelectRules& rules, const JobAsk& ask, NodeOffer& out, std::uint64_t needed)
      : rules_(rules),
        ask_(ask),
        node_(*out.hardware),
        out_(out),
        needed_(needed),
        per_core_(cpus_per_core(rules, ask, node_)) {}

  /// False when the node can't run the job. Takes cores out of the offer that it does not get.
  bool run() {
    count_free();
    if (!shape_fits() || !limit_of_partition() || !usable_sockets()) return false;
    if (!tasks_fit()) return false;
    take_cores();
    return out_.cpus > 0;
  }

 private:
  int first_core(int socket) const { return socket * node_.cores_per_socket; }
  bool is_needed(int socket) const { return (needed_ >> socket) & 1U; }

  bool shape_fits() const {
    std::int64_t threads = kNoLimit;
    if (ask_.ntasks_per_core > 0)
      threads =
          std::min<std::int64_t>(node_.threads_per_core, ask_.ntasks_per_core * ask_.cpus_per_task);
    if (ask_.threads_per_core > 0) threads = std::min(threads, ask_.threads_per_core);
    if (threads != kNoLimit && threads > node_.threads_per_core) return false;
    return ask_.ntasks_per_socket <= node_.threads_per_core * node_.cores_per_socket;
  }

  void count_free() {
    CoreSet of_partition;
    bool known = false;
    for (const PartitionUse& p : out_.use->partitions) {
      if (p.partition != rules_.partition) continue;
      for (const CoreSet& row : p.rows) of_partition |= row;
      known = true;
    }
    of_partition -= out_.cores;
    for (int s = 0; s < node_.sockets; ++s) {
      free_[s] = out_.cores.count(first_core(s), node_.cores_per_socket);
      std::int64_t used = node_.cores_per_socket - free_[s];
      if (known) used = of_partition.count(first_core(s), node_.cores_per_socket);
      const bool counts = known && used > 0;
      if (rules_.unit == SelectRules::Unit::socket && used > 0) {
        used += free_[s];
        free_[s] = 0;
      }
      free_cpus_ += free_[s] * node_.threads_per_core;
      if (counts) used_cpus_ += used * node_.threads_per_core;
    }
    out_.free_cpus = free_cpus_;
  }

  /// MaxCPUsPerNode.
  bool limit_of_partition() {
    const std::int64_t most = rules_.max_cpus_per_node;
    if (most < 0 || free_cpus_ + used_cpus_ <= most) return true;
    if (ask_.whole_nodes || used_cpus_ >= most) return false;
    partition_limit_ = most - used_cpus_;
    const std::int64_t one = partition_limit_;
    return one != 1 ||
           (ask_.ntasks_per_core <= one && ask_.ntasks_per_socket <= one &&
            (ask_.ntasks_per_core == 0 || per_core_ <= one) && ask_.cpus_per_task <= one);
  }

  bool usable_sockets() {
    const std::int64_t least = std::max<std::int64_t>(ask_.cores_per_socket, 1);
    std::int64_t sockets = 0;
    std::int64_t cores = 0;
    for (int s = 0; s < node_.sockets; ++s) {
      if (free_[s] < least) {
        free_[s] = 0;
        continue;
      }
      ++sockets;
      cores += free_[s];
    }
    return sockets >= std::max<std::int64_t>(ask_.sockets_per_node, 1) && cores >= 1 &&
           cores * per_core_ >= ask_.min_cpus_per_node;
  }

  bool tasks_fit() {
    std::int64_t tasks = 0;
    for (int s = 0; s < node_.sockets; ++s) {
      const std::int64_t cpus = free_[s] * per_core_;
      if (is_needed(s)) {
        if (cpus == 0) return false;
        needed_cpus_ += cpus;
      }
      available_ += cpus;
      tasks += ask_.ntasks_per_socket > 0 ? std::min(cpus, ask_.ntasks_per_socket) : cpus;
    }
    const bool cpus_per_device = std::any_of(ask_.devices.begin(), ask_.devices.end(),
                                             [](const DeviceAsk& d) { return d.cpus_each() > 0; });
    if (ask_.ntasks_per_node > 0 && !ask_.exclusive_given && !cpus_per_device)
      tasks = std::min(tasks, ask_.ntasks_per_node);
    if (ask_.min_cpus_raised) available_ = std::max(available_, ask_.min_cpus_per_node);
    const bool few = ask_.ntasks_per_node > 0 && tasks < ask_.ntasks_per_node && !ask_.overcommit;
    return tasks > 0 && !few && available_ >= ask_.min_cpus_per_node;
  }

  /// ntasks-per-socket: no more cores of a socket than its tasks need.
  bool socket_is_full(int core, int socket, std::int64_t most) {
    if (taken_[socket] >= most && taken_[socket] > 0) {
      out_.cores.reset(core);
      return true;
    }
    taken_[socket] += per_core_;
    return false;
  }

  void take_cores() {
    std::int64_t most = node_.cores_per_socket * per_core_;
    if (ask_.ntasks_per_socket > 0) most = ask_.ntasks_per_socket * ask_.cpus_per_task;
    CpuCount count{per_core_,
                   ask_.cpus_per_task,
                   ask_.cpus_per_task,
                   available_,
                   0,
                   ask_.ntasks_per_core == 1,
                   rules_.one_task_per_core && cpus_for_devices(ask_).per_node > 0};
    std::int64_t most_needed = kNoLimit;
    if (needed_ != 0 && needed_cpus_ > available_)
      most_needed = available_ / std::popcount(needed_);
    CoreSet done;
    for (int s = 0; s < node_.sockets && count.available > 0; ++s) {
      if (!is_needed(s)) continue;
      for (int c = first_core(s); c < first_core(s + 1) && free_[s] > 0; ++c) {
        if (!out_.cores.test(c) || socket_is_full(c, s, most)) continue;
        --free_[s];
        count.take_core();
        done.set(c);
        if (taken_[s] > most_needed) break;
      }
    }
    for (int c = 0; c < node_.cores(); ++c) {
      if (!out_.cores.test(c) || done.test(c)) continue;
      const int s = c / node_.cores_per_socket;
      if (free_[s] == 0 || count.available == 0) {
        out_.cores.reset(c);
        continue;
      }
      if (socket_is_full(c, s, most)) continue;
      --free_[s];
      count.take_core();
    }
    out_.cpus = std::min(count.taken, partition_limit_);
  }

  const SelectRules& rules_;
  const JobAsk& ask_;
  const NodeHardware& node_;
  NodeOffer& out_;
  const std::uint64_t needed_;
  const std::int64_t per_core_;
  std::array<std::int64_t, kMostSockets> free_{};
  std::array<std::int64_t, kMostSockets> taken_{};
  std::int64_t free_cpus_ = 0, used_cpus_ = 0, available_ = 0, needed_cpus_ = 0;
  std::int64_t partition_limit_ = kNoLimit;
};

/// CPUs that memory allows (--mem-per-cpu), in the steps in which CPUs are handed out.
std::int64_t cpus_in_memory(const SelectRules& rules, const JobAsk& ask, const NodeHardware& node,
                            std::int64_t memory_mib, std::int64_t cpus) {
  if (!ask.memory_per_cpu) return ask.memory_mib > memory_mib ? 0 : cpus;
  const bool by_cpu = rules.unit == SelectRules::Unit::cpu;
  if (ask.whole_nodes && ask.memory_mib * cpus > memory_mib) return 0;
  if (!by_cpu && ask.ntasks_per_core == 1 && ask.cpus_per_task == 1) {
    while (cpus > 0 && ask.memory_mib * cpus * node.threads_per_core > memory_mib) --cpus;
  } else {
    std::int64_t step = by_cpu ? 1 : node.threads_per_core;
    if (rules.unit == SelectRules::Unit::socket) step *= node.cores_per_socket;
    step = std::min(step, ask.ntasks_per_core > 0 || ask.threads_per_core > 0
                              ? cpus_per_core(rules, ask, node)
                              : step);
    while (cpus > 0 && ask.memory_mib * cpus > memory_mib) cpus = cpus >= step ? cpus - step : 0;
  }
  if (ask.cpus_per_task > 1) cpus -= cpus % ask.cpus_per_task;
  return cpus < ask.ntasks_per_node ? 0 : cpus;
}

}  // namespace

std::int64_t cpus_per_core(const SelectRules& rules, const JobAsk& ask, const NodeHardware& node) {
  std::int64_t threads = node.threads_per_core;
  if (rules.one_task_per_core && cpus_for_devices(ask).per_node > 0) return threads;
  std::int64_t most = kNoLimit;
  if (ask.ntasks_per_core > 0) most = std::min(threads, ask.ntasks_per_core * ask.cpus_per_task);
  if (ask.threads_per_core > 0) most = std::min(most, ask.threads_per_core);
  return std::min(threads, most);
}

DeviceCpus cpus_for_devices(const JobAsk& ask, std::int64_t nodes, std::int64_t tasks) {
  DeviceCpus out;
  const std::int64_t sockets = std::max<std::int64_t>(ask.sockets_per_node, 1);
  for (std::size_t i = 0; i < ask.devices.size(); ++i) {
    DeviceAsk sum = ask.devices[i];
    const auto same = [&](const DeviceAsk& d) { return d.name == sum.name; };
    const auto before = ask.devices.begin() + static_cast<std::ptrdiff_t>(i);
    if (sum.cpus_each() == 0 || std::any_of(ask.devices.begin(), before, same)) continue;
    // Kinds of one resource are added up: --cpus-per-gpu is one number for all of them.
    for (auto d = before + 1; d != ask.devices.end(); ++d) {
      if (!same(*d)) continue;
      sum.per_job += d->per_job;
      sum.per_node += d->per_node;
      sum.per_socket += d->per_socket;
      sum.per_task += d->per_task;
    }
    std::int64_t here = 1;
    std::int64_t all = sum.per_task * tasks;
    if (sum.per_node > 0) {
      here = sum.per_node;
      all = here * nodes;
    } else if (sum.per_socket > 0) {
      here = sum.per_socket * sockets;
      all = here * nodes;
    } else if (sum.per_task > 0) {
      here = sum.per_task * ask.ntasks_per_node;
    }
    if (sum.per_job > 0) all = sum.per_job;
    out.per_node = std::max(out.per_node, sum.cpus_each() * here);
    out.in_all = std::max(out.in_all, sum.cpus_each() * all);
  }
  return out;
}

DeviceCpus cpus_for_devices(const JobAsk& ask) {
  return cpus_for_devices(ask, ask.min_nodes,
                          std::max<std::int64_t>(ask.ntasks_per_node, 1) * ask.min_nodes);
}

std::optional<NodeOffer> offer_of(const SelectRules& rules, const JobAsk& ask,
                                  const NodeHardware& node, const NodeUse& use, CoreSet cores,
                                  Moment moment) {
  NodeOffer out;
  out.hardware = &node;
  out.use = &use;
  out.cores = cores;
  out.weight = node.weight << 8 | 0xff;
  std::uint64_t needed = 0;
  if (ask.asks_devices() && !offer_devices(ask, moment, out, needed)) return std::nullopt;
  if (!CoreCut(rules, ask, out, needed).run()) return std::nullopt;

  std::int64_t tasks = 1;
  if (ask.ntasks_per_node > 0)
    tasks = ask.ntasks_per_node;
  else if (!ask.overcommit && ask.max_nodes == 1 && ask.num_tasks > 0)
    tasks = ask.num_tasks;
  if (out.cpus < tasks * ask.cpus_per_task) return std::nullopt;

  std::int64_t memory = kNoLimit;
  if (rules.memory) memory = node.memory_mib - (moment == Moment::now ? use.memory_mib : 0);
  if (ask.asks_devices()) {
    std::int64_t near_gpus = 0;
    if (!limit_devices(ask, memory, out, near_gpus)) return std::nullopt;
    // Within one weight, nodes with more GPUs beside free cores come first.
    out.weight = node.weight << 8 | (0xff - near_gpus);
  }
  if (rules.memory) out.cpus = cpus_in_memory(rules, ask, node, memory, out.cpus);
  if (out.cpus == 0) return std::nullopt;
  out.size = out.cpus + out.gpus;
  out.all_cores = out.cores;
  return out;
}

}  // namespace fedsim
