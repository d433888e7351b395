// The cores of an offer that the job's tasks can use beside its devices (22.05 _select_cores,
// gres_select_filter_sock_core).
#include <algorithm>
#include <numeric>

#include "select/offer.hpp"

namespace fedsim {
namespace {

struct TaskRange {
  std::int64_t least = 1;
  std::int64_t most = kNoLimit;
};

TaskRange tasks_on_node(const JobAsk& ask, const NodeHardware& node) {
  if (ask.ntasks_per_node > 0) return {ask.ntasks_per_node, ask.ntasks_per_node};
  if (ask.ntasks_per_socket > 0)
    return {ask.ntasks_per_socket, ask.ntasks_per_socket * node.sockets};
  if (ask.ntasks_per_core > 0) {
    const std::int64_t cores = node.cores() - node.specialized.count();
    return {ask.ntasks_per_core, ask.ntasks_per_core * cores};
  }
  if (ask.ntasks_per_gpu > 0) {
    const std::int64_t n = ask.num_tasks / std::max<std::int64_t>(ask.min_nodes, 1);
    return {n, n};
  }
  if (ask.max_nodes == 1) {
    if (ask.num_tasks == 0) return {1, kNoLimit};
    return {ask.num_tasks, ask.num_tasks};
  }
  const bool one_each = ask.num_tasks == ask.min_nodes && ask.num_tasks == ask.max_nodes;
  if (ask.num_tasks == 1 || one_each) return {1, 1};
  return {};
}

class DeviceCut {
 public:
  DeviceCut(const SelectRules& rules, const JobAsk& ask, bool local_only,
            const std::vector<std::int64_t>& taken, NodeOffer& out)
      : rules_(rules),
        ask_(ask),
        local_only_(local_only || ask.enforce_binding),
        first_pass_(local_only),
        taken_(taken),
        out_(out),
        node_(*out.hardware),
        one_task_per_core_(ask.ntasks_per_core == 1 ||
                           (ask.ntasks_per_core == 0 && rules.one_task_per_core)) {}

  void run(TaskRange tasks) {
    tasks_ = tasks;
    if (tasks_.most == 0) return;
    for (int s = 0; s < node_.sockets; ++s) {
      cores_[s] = out_.cores.count(first_core(s), node_.cores_per_socket);
      all_cores_ += cores_[s];
    }
    step_ = tasks_.least;
    // Stable, and almost always sorted: stable_sort() would ask for memory each time.
    const auto in_order = [&](const DeviceOffer& a, const DeviceOffer& b) {
      return rank(a) < rank(b);
    };
    if (!std::is_sorted(out_.devices.begin(), out_.devices.end(), in_order))
      std::stable_sort(out_.devices.begin(), out_.devices.end(), in_order);
    out_.least_cores = kNoLimit;
    for (DeviceOffer& d : out_.devices)
      if (!fit(d)) break;
    if (!cpus_per_device_ && (ask_.cpus_per_task > 1 || !rules_.one_task_per_core) &&
        tasks_.most != kNoLimit) {
      out_.usable = std::min(out_.usable, tasks_.most * ask_.cpus_per_task);
    }
    if (tasks_.most == 0 || out_.least_cores == kNoLimit) out_.least_cores = 0;
  }

  bool no_tasks() const { return tasks_.most == 0; }

 private:
  int first_core(int s) const { return s * node_.cores_per_socket; }
  std::int64_t per_core() const { return node_.threads_per_core; }

  int rank(const DeviceOffer& d) const {
    return (d.has_places ? 0 : 2) + (ask_.devices[d.ask].per_socket > 0 ? 0 : 1);
  }

  /// Gives up core `c`; CPUs go with it once they would not fit on what is left.
  void drop(int c) {
    out_.cores.reset(c);
    --cores_[c / node_.cores_per_socket];
    if (out_.cores.count() * per_core() < out_.usable) out_.usable -= per_core();
  }

  /// Highest core of socket `s` that is still offered, -1 for none.
  int last_core(int s) const {
    for (int c = first_core(s + 1) - 1; c >= first_core(s); --c)
      if (out_.cores.test(c)) return c;
    return -1;
  }

  std::int64_t cpus_each(const DeviceAsk& d) {
    if (d.cpus_per > 0) {
      cpus_per_device_ = true;
      return d.cpus_per;
    }
    if (d.tasks_per > 0) return d.tasks_per * ask_.cpus_per_task;
    if (d.default_cpus_per > 0) cpus_per_device_ = true;
    return d.default_cpus_per;
  }

  /// One kind of device. False: no task can run, the others are not looked at.
  bool fit(DeviceOffer& d) {
    const DeviceAsk& ask = ask_.devices[d.ask];
    std::int64_t missing = 0;
    if (ask.per_job > 0) missing = std::max<std::int64_t>(ask.per_job - taken_[d.ask], 0);
    most_ = d.most > 0 && missing > 0 ? std::min(missing, d.most) : d.most;
    const std::int64_t sockets = std::max<std::int64_t>(ask_.sockets_per_node, 1);
    if (most_ > 0 && (ask.per_node > most_ || ask.per_socket * sockets > most_)) return refuse();
    if (ask.per_node > 0 && ask.per_task > 0) {
      const std::int64_t tasks = ask.per_node / ask.per_task;
      if (tasks == 0 || tasks > tasks_.most || tasks < tasks_.least) return refuse();
      if (tasks_.most > tasks) tasks_.most = most_;
    }
    const std::int64_t cpus = cpus_each(ask);
    visit_sockets(d, ask, cpus);
    if (!limit_tasks(ask, cpus)) return refuse();
    if (local_only_) close_unneeded();
    if (tasks_.most == kNoLimit) {
      if (cpus > 0) d.total = std::min(d.total, out_.usable / cpus);
      return true;
    }
    return keep_needed(d, ask, cpus);
  }

  bool refuse() {
    tasks_.most = 0;
    return false;
  }

  /// Which sockets are needed for enough devices, starting with the one that has most free cores;
  /// cores of sockets without a device are given up as far as the tasks allow.
  void visit_sockets(DeviceOffer& d, const DeviceAsk& ask, std::int64_t cpus) {
    std::int64_t least_cores = std::max<std::int64_t>(tasks_.least, 1) * ask_.cpus_per_task;
    least_cores = (least_cores + per_core() - 1) / per_core();
    std::array<int, kMostSockets> order;
    std::iota(order.begin(), order.begin() + node_.sockets, 0);
    std::sort(order.begin(), order.begin() + node_.sockets, [&](int a, int b) {
      return cores_[a] != cores_[b] ? cores_[a] > cores_[b] : a < b;
    });
    devices_ = d.anywhere;
    cores_seen_ = 0;
    sockets_ = 0;
    bool enough = false;
    for (int i = 0; i < node_.sockets; ++i) {
      const int s = order[static_cast<std::size_t>(i)];
      std::int64_t here = d.has_places ? d.near[s] : 0;
      if (local_only_ && cpus > 0) here = std::min(here, cores_[s] * per_core() / cpus);
      const std::int64_t reach = d.anywhere + here;
      if (ask.per_socket > reach || reach == 0) {
        if (d.has_places && (ask.per_socket > reach || ask_.enforce_binding)) {
          d.total -= d.near[s];
          d.near[s] = 0;
        }
        for (int c = last_core(s); first_pass_ && c >= 0 && all_cores_ > least_cores;
             c = last_core(s)) {
          drop(c);
          --all_cores_;
        }
      }
      cores_seen_ += cores_[s];
      if (local_only_ && cores_[s] == 0) continue;
      devices_ += here;
      if (!enough) {
        needed_ |= std::uint64_t{1} << s;
        ++sockets_;
      }
      enough = enough || (d.anywhere == 0 && ((most_ > 0 && devices_ >= most_) ||
                                              (ask.per_node > 0 && devices_ >= ask.per_node)));
    }
  }

  bool limit_tasks(const DeviceAsk& ask, std::int64_t cpus) {
    if (cpus > 0) {
      const std::int64_t by_cpus = out_.usable / cpus;
      most_ = most_ > 0 ? std::min(by_cpus, most_) : by_cpus;
      devices_ = std::min(devices_, most_);
    }
    if (devices_ == 0 || ask.per_node > devices_ || ask.per_task > devices_) return false;
    if (ask.per_task > 0) tasks_.most = std::min(tasks_.most, devices_ / ask.per_task);
    // Whole groups of --ntasks-per-*.
    if (tasks_.most != kNoLimit && step_ > 0) tasks_.most = tasks_.most / step_ * step_;
    return tasks_.most > 0;
  }

  void close_unneeded() {
    for (int s = 0; s < node_.sockets; ++s) {
      if ((needed_ >> s) & 1U) continue;
      for (int c = last_core(s); c >= 0; c = last_core(s)) {
        drop(c);
        --cores_seen_;
      }
    }
  }

  /// Cores that the tasks need; fewer tasks when there are not so many.
  std::int64_t cores_for_tasks() {
    std::int64_t threads = per_core();
    if (ask_.threads_per_core > 0) threads = std::min(threads, ask_.threads_per_core);
    std::int64_t each = ask_.cpus_per_task;
    if (one_task_per_core_ && each % threads != 0) each = (each / threads + 1) * threads;
    std::int64_t cores = tasks_.most * each;
    while (tasks_.most >= tasks_.least) {
      cores = (cores + threads - 1) / threads;
      if (cores <= cores_seen_) break;
      --tasks_.most;
      cores = tasks_.most * each;
    }
    return cores;
  }

  std::int64_t cores_for_devices(const DeviceAsk& ask, std::int64_t cpus) const {
    std::int64_t n = std::max<std::int64_t>(devices_, 1);
    if (ask.per_node > 0)
      n = ask.per_node;
    else if (ask.per_socket > 0)
      n = ask.per_socket * sockets_;
    else if (ask.per_task > 0)
      n = ask.per_task * tasks_.most;
    return (n * cpus + per_core() - 1) / per_core();
  }

  bool keep_needed(DeviceOffer& d, const DeviceAsk& ask, std::int64_t cpus) {
    std::int64_t wanted = cores_for_tasks();
    if (cpus > 0) wanted = std::max(wanted, cores_for_devices(ask, cpus));
    if (ask_.enforce_binding) wanted = std::max<std::int64_t>(wanted, sockets_);
    if (wanted > cores_seen_) return refuse();
    std::int64_t threads = per_core();
    if (ask_.threads_per_core > 0) threads = std::min(threads, ask_.threads_per_core);
    if (ask_.enforce_binding && wanted * threads > out_.usable) return refuse();
    if (!local_only_) drop_from_unneeded(wanted);
    drop_from_fullest(wanted);
    if (cpus > 0) {
      d.total = std::min(d.total, out_.usable / cpus);
      if (ask.per_node > d.total || ask.per_task > d.total) tasks_.most = 0;
    }
    if (ask_.enforce_binding) out_.least_cores = std::min(out_.least_cores, wanted);
    return true;
  }

  void drop_from_unneeded(std::int64_t wanted) {
    for (int s = 0; s < node_.sockets; ++s) {
      if ((needed_ >> s) & 1U) continue;
      for (int c = last_core(s); c >= 0 && cores_seen_ > wanted; c = last_core(s)) {
        drop(c);
        --cores_seen_;
      }
    }
  }

  /// Leaves every needed socket about as many cores.
  void drop_from_fullest(std::int64_t wanted) {
    while (cores_seen_ > wanted) {
      int fullest = -1;
      for (int s = 0; s < node_.sockets; ++s) {
        if (((needed_ >> s) & 1U) == 0 || cores_[s] == 0) continue;
        if (fullest < 0 || cores_[fullest] < cores_[s]) fullest = s;
      }
      if (fullest < 0) return;
      drop(last_core(fullest));
      --cores_seen_;
    }
  }

  const SelectRules& rules_;
  const JobAsk& ask_;
  const bool local_only_, first_pass_;
  const std::vector<std::int64_t>& taken_;
  NodeOffer& out_;
  const NodeHardware& node_;
  const bool one_task_per_core_;
  TaskRange tasks_;
  std::array<std::int64_t, kMostSockets> cores_{};
  std::int64_t all_cores_ = 0, step_ = 1, cores_seen_ = 0;
  std::int64_t devices_ = 0;  ///< of the kind looked at, that can be reached
  std::int64_t most_ = 0;
  std::uint64_t needed_ = 0;  ///< sockets
  std::int64_t sockets_ = 0;
  bool cpus_per_device_ = false;
};

}  // namespace

void cut_to_tasks(const SelectRules& rules, const JobAsk& ask, bool local_only,
                  const std::vector<std::int64_t>& taken, NodeOffer& out) {
  TaskRange tasks = tasks_on_node(ask, *out.hardware);
  if (!ask.overcommit) {
    const std::int64_t fit = out.cpus / ask.cpus_per_task;
    if (fit < tasks.least)
      tasks.most = 0;
    else
      tasks.most = std::min(tasks.most, fit);
  }
  out.usable = out.cpus;
  out.least_cores = 0;
  if (ask.asks_devices()) {
    DeviceCut cut(rules, ask, local_only, taken, out);
    cut.run(tasks);
    if (cut.no_tasks()) tasks.most = 0;
  }
  if (tasks.most == 0)
    out.usable = 0;
  else if (rules.one_task_per_core && ask.ntasks_per_core == 0 &&
           cpus_for_devices(ask).per_node == 0)
    out.usable = out.cores.count();
}

}  // namespace fedsim
