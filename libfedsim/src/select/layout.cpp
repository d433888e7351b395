// Tasks over the chosen nodes, and the cores they get (22.05 cons_tres dist_tasks.c).
#include <algorithm>
#include <array>

#include "select/placement.hpp"

namespace fedsim {
namespace {

/// Tasks that --ntasks-per-gpu makes.
std::int64_t tasks_of_gpus(const JobAsk& ask, std::int64_t nodes) {
  std::int64_t tasks = 0;
  for (const DeviceAsk& d : ask.devices) {
    if (ask.ntasks_per_gpu == 0 || d.name != "gpu") continue;
    std::int64_t gpus = d.per_job;
    if (gpus == 0) gpus = d.per_node * nodes;
    if (gpus == 0) gpus = d.per_socket * nodes * std::max<std::int64_t>(ask.sockets_per_node, 1);
    tasks = std::max(tasks, ask.ntasks_per_gpu * gpus);
  }
  return tasks;
}

/// CPUs that the whole job must come to on so many nodes.
std::int64_t wanted_cpus(const JobAsk& ask, std::int64_t nodes) {
  return std::max({nodes * std::max<std::int64_t>(ask.ntasks_per_node, 1),
                   tasks_of_gpus(ask, nodes), ask.min_cpus, nodes * ask.min_cpus_per_node,
                   cpus_for_devices(ask, nodes, ask.num_tasks).in_all});
}

class Layout {
 public:
  Layout(const SelectRules& rules, const JobAsk& ask, const std::vector<NodeOffer*>& offers,
         NodePlacements& out)
      : rules_(rules), ask_(ask), offers_(offers), out_(out) {}

  bool run() {
    out_.clear();
    std::int64_t total = 0;
    for (const NodeOffer* o : offers_) {
      NodePlacement p;
      p.node = o->node;
      p.cores = o->cores;
      total += o->cpus;
      out_.push_back(std::move(p));
    }
    wanted_ = wanted_cpus(ask_, static_cast<std::int64_t>(offers_.size()));
    if (ask_.overcommit && ask_.num_tasks > 0) wanted_ = std::min(total, ask_.num_tasks);
    if (ask_.whole_nodes || rules_.exclusive) {
      whole_nodes();
      return true;
    }
    if (ask_.plane && !one_task_each())
      planes();
    else
      spread_tasks();
    const bool block = rules_.unit == SelectRules::Unit::cpu ||
                       ask_.core_order == CoreOrder::block || ask_.plane || rules_.block_cores;
    for (std::size_t n = 0; n < out_.size(); ++n) {
      if (block)
        fill_sockets(n);
      else if (!round_sockets(n))
        return false;
    }
    return true;
  }

 private:
  const NodeHardware& hardware(std::size_t n) const { return *offers_[n]->hardware; }
  std::int64_t per_core(std::size_t n) const { return cpus_per_core(rules_, ask_, hardware(n)); }
  std::int64_t available(std::size_t n) const { return offers_[n]->cpus; }
  std::int64_t left(std::size_t n) const { return available(n) - out_[n].cpus; }
  bool asks_by_task() const {
    return std::any_of(ask_.devices.begin(), ask_.devices.end(),
                       [](const DeviceAsk& d) { return d.per_task > 0; });
  }
  bool one_task_each() const { return ask_.overcommit && !asks_by_task(); }

  std::int64_t most_tasks() const {
    std::int64_t tasks = wanted_;
    if (!ask_.overcommit && ask_.cpus_per_task > 1) {
      tasks = ask_.ntasks_per_node > 0
                  ? ask_.ntasks_per_node * static_cast<std::int64_t>(out_.size())
                  : wanted_ / ask_.cpus_per_task;
    }
    return std::max<std::int64_t>(tasks, 1);
  }

  bool devices_allow(std::size_t n) const {
    std::int64_t most = kNoLimit;
    for (const DeviceOffer& d : offers_[n]->devices) {
      const std::int64_t each = ask_.devices[d.ask].per_task;
      if (each > 0) most = std::min(most, d.total / each);
    }
    return most > out_[n].tasks;
  }
  bool node_is_full(std::size_t n) const {
    return ask_.ntasks_per_node > 0 && out_[n].tasks >= ask_.ntasks_per_node;
  }

  void add_task(std::size_t n) {
    ++tasks_;
    ++out_[n].tasks;
    out_[n].cpus += std::min(ask_.cpus_per_task, left(n));
  }

  /// One task a node, then those that fill cores already begun, then as many a round as a core has
  /// room for.
  void spread_tasks() {
    const std::int64_t most = most_tasks();
    bool room = false;
    for (std::size_t n = 0; n < out_.size() && tasks_ < most; ++n) {
      if (available(n) == 0) continue;
      add_task(n);
      room = room || left(n) > 0;
    }
    bool crowd = !room;
    for (std::size_t n = 0; n < out_.size(); ++n) {
      const std::int64_t begun = out_[n].cpus % hardware(n).threads_per_core;
      for (std::int64_t t = begun / ask_.cpus_per_task; t > 0 && tasks_ < most; --t) {
        if (left(n) < ask_.cpus_per_task || !devices_allow(n) || node_is_full(n)) break;
        add_task(n);
      }
    }
    while (!one_task_each() && tasks_ < most) {
      room = false;
      for (std::size_t n = 0; n < out_.size(); ++n) {
        const std::int64_t round =
            std::max<std::int64_t>(hardware(n).threads_per_core / ask_.cpus_per_task, 1);
        for (std::int64_t t = 0; t < round && tasks_ < most; ++t) {
          if (!crowd && (left(n) < ask_.cpus_per_task || !devices_allow(n) || node_is_full(n)))
            break;
          add_task(n);
          room = room || left(n) >= ask_.cpus_per_task;
        }
      }
      crowd = crowd || !room;
    }
    least_for_devices();
  }

  void planes() {
    const std::int64_t most =
        std::max<std::int64_t>(ask_.cpus_per_task > 1 ? wanted_ / ask_.cpus_per_task : wanted_, 0);
    bool crowd = false;
    bool by_device = true;
    while (tasks_ < most) {
      bool room = false;
      for (std::size_t n = 0; n < out_.size() && tasks_ < most; ++n) {
        bool more = false;
        for (std::int64_t p = 0; p < ask_.plane_size && tasks_ < most; ++p) {
          if (by_device && !devices_allow(n)) continue;
          more = true;
          if (left(n) > 0 || crowd) add_task(n);
        }
        if (!more) by_device = false;
        room = room || left(n) > 0;
      }
      crowd = crowd || !room;
    }
    least_for_devices();
  }

  /// enforce-binding: a core on every socket whose devices are used.
  void least_for_devices() {
    for (std::size_t n = 0; n < out_.size(); ++n) {
      const std::int64_t least = offers_[n]->least_cores * per_core(n);
      if (out_[n].cpus < least) out_[n].cpus = std::min(least, available(n));
    }
  }

  void whole_nodes() {
    for (std::size_t n = 0; n < out_.size(); ++n) {
      NodePlacement& p = out_[n];
      p.cores = CoreSet::first(hardware(n).cores());
      p.cores -= hardware(n).specialized;
      const std::int64_t threads = hardware(n).threads_per_core;
      p.cpus = p.cores.count() * threads;
    }
    tasks_of_whole_nodes();
  }

  /// Tasks count only for devices by task: one a node, then round the nodes.
  void tasks_of_whole_nodes() {
    if (!asks_by_task()) return;
    std::vector<std::int64_t> free;
    const std::int64_t most = most_tasks();
    for (NodePlacement& p : out_) {
      ++tasks_;
      p.tasks = 1;
      free.push_back(std::max<std::int64_t>(p.cpus - ask_.cpus_per_task, 0));
    }
    for (bool more = true; more && tasks_ < most;) {
      more = false;
      for (std::size_t n = 0; n < out_.size() && tasks_ < most; ++n) {
        if (free[n] < ask_.cpus_per_task) continue;
        ++out_[n].tasks;
        ++tasks_;
        free[n] -= ask_.cpus_per_task;
        more = true;
      }
    }
    for (std::size_t n = 0; tasks_ < most; n = (n + 1) % out_.size(), ++tasks_) ++out_[n].tasks;
  }

  // Cores -----------------------------------------------------------------------

  int first_core(std::size_t n, int s) const { return s * hardware(n).cores_per_socket; }

  /// A core's CPUs taken off `cpus`; under --ntasks-per-core=1 the last core of a task may give
  /// fewer.
  std::int64_t take_core(std::int64_t threads, std::int64_t cpus, std::int64_t& of_task) const {
    if (cpus < threads) return 0;
    if (ask_.ntasks_per_core != 1 || ask_.cpus_per_task <= threads) return cpus - threads;
    const std::int64_t used = std::min(of_task, threads);
    of_task = of_task <= used ? ask_.cpus_per_task : of_task - used;
    return cpus - used;
  }

  /// Block: the socket that fits best, then the next.
  void fill_sockets(std::size_t n) {
    NodePlacement& p = out_[n];
    const NodeHardware& node = hardware(n);
    const std::int64_t threads = per_core(n);
    std::int64_t wanted = (p.cpus + threads - 1) / threads;
    if (ask_.ntasks_per_core == 1 && ask_.cpus_per_task > threads)
      wanted = p.cpus / ask_.cpus_per_task * ((ask_.cpus_per_task + threads - 1) / threads);
    std::array<std::int64_t, kMostSockets> free{};
    for (int s = 0; s < node.sockets; ++s)
      free[s] = p.cores.count(first_core(n, s), node.cores_per_socket);
    std::uint64_t used = 0;
    std::int64_t cpus = p.cpus;
    std::int64_t of_task = ask_.cpus_per_task;
    std::int64_t cores = 0;
    while (cpus > 0) {
      const int s = best_socket(node.sockets, free, wanted);
      if (s < 0) break;
      used |= std::uint64_t{1} << s;
      for (int c = first_core(n, s); c < first_core(n, s + 1); ++c) {
        if (cpus == 0 || !p.cores.test(c)) {
          const bool whole = rules_.unit == SelectRules::Unit::socket;
          if (whole && !p.cores.test(c)) {
            p.cores.set(c);
            ++cores;
          } else if (whole) {
            ++cores;
          } else if (cpus == 0) {
            p.cores.reset(c);
          }
          continue;
        }
        --free[s];
        ++cores;
        cpus = take_core(threads, cpus, of_task);
      }
    }
    for (int s = 0; s < node.sockets; ++s)
      if (((used >> s) & 1U) == 0) p.cores.reset(first_core(n, s), node.cores_per_socket);
    if (rules_.unit != SelectRules::Unit::cpu) p.cpus = cores * node.threads_per_core;
  }

  static int best_socket(int sockets, const std::array<std::int64_t, kMostSockets>& free,
                         std::int64_t wanted) {
    int best = -1;
    std::int64_t cores = 0;
    bool best_suffices = false;
    for (int s = 0; s < sockets; ++s) {
      const bool suffices = free[s] >= wanted;
      if (cores == 0 || (suffices && !best_suffices) || (suffices && free[s] < cores) ||
          (!suffices && free[s] > cores)) {
        cores = free[s];
        best = s;
        best_suffices = suffices;
      }
    }
    return cores == 0 ? -1 : best;
  }

  /// Cyclic: tasks of several CPUs packed into sockets, the rest one core a socket and round.
  bool round_sockets(std::size_t n) {
    NodePlacement& p = out_[n];
    const NodeHardware& node = hardware(n);
    const std::int64_t threads = per_core(n);
    std::array<int, kMostSockets> next{};
    std::uint64_t used = 0;
    std::int64_t cpus = p.cpus;
    std::int64_t cores = 0;
    for (int s = 0; s < node.sockets; ++s) next[s] = first_core(n, s);
    std::uint64_t avoided = 0;
    if (ask_.ntasks_per_socket > 0)
      avoided = avoided_sockets(n, threads);
    else if (ask_.cpus_per_task > 1)
      pack_tasks(n, threads, next, used, cpus, cores);
    while (cpus > 0) {
      const std::int64_t before = cpus;
      for (int s = 0; s < node.sockets && cpus > 0; ++s) {
        if ((avoided >> s) & 1U) continue;
        const int end = first_core(n, s + 1);
        while (next[s] < end && !p.cores.test(next[s])) ++next[s];
        if (next[s] == end) continue;
        used |= std::uint64_t{1} << s;
        ++cores;
        ++next[s];
        cpus = cpus < threads ? 0 : cpus - threads;
      }
      if (before != cpus) continue;
      if (ask_.overcommit) break;
      return false;  // Slurm holds the job then
    }
    for (int s = 0; s < node.sockets; ++s) {
      const int end = first_core(n, s + 1);
      const bool whole = rules_.unit == SelectRules::Unit::socket && ((used >> s) & 1U) != 0;
      if (whole) {
        cores += end - next[s];
        p.cores.set(next[s], end - next[s]);
      } else {
        p.cores.reset(next[s], end - next[s]);
      }
    }
    p.cpus = cores * node.threads_per_core;
    return true;
  }

  std::uint64_t avoided_sockets(std::size_t n, std::int64_t threads) const {
    const NodePlacement& p = out_[n];
    const NodeHardware& node = hardware(n);
    const std::int64_t most = ask_.ntasks_per_socket * ask_.cpus_per_task;
    std::array<std::int64_t, kMostSockets> cpus{};
    std::int64_t total = 0;
    for (int s = 0; s < node.sockets; ++s) {
      cpus[s] = p.cores.count(first_core(n, s), node.cores_per_socket) * threads;
      total += cpus[s];
    }
    for (int s = 0; s < node.sockets && total > p.cpus; ++s) {
      if (cpus[s] <= most) continue;
      total -= cpus[s] - most;
      cpus[s] = most;
    }
    std::uint64_t avoided = 0;
    for (int s = 0; s < node.sockets && total > p.cpus; ++s) {
      if (total - cpus[s] < p.cpus) continue;
      avoided |= std::uint64_t{1} << s;
      total -= cpus[s];
    }
    return avoided;
  }

  void pack_tasks(std::size_t n, std::int64_t threads, std::array<int, kMostSockets>& next,
                  std::uint64_t& used, std::int64_t& cpus, std::int64_t& cores) const {
    const NodePlacement& p = out_[n];
    const NodeHardware& node = hardware(n);
    std::int64_t of_task = ask_.cpus_per_task;
    for (int s = 0; s < node.sockets && cpus > 0; ++s) {
      std::int64_t room = p.cores.count(first_core(n, s), node.cores_per_socket) * threads;
      room -= room % ask_.cpus_per_task;
      for (; next[s] < first_core(n, s + 1) && room > 0 && cpus > 0; ++next[s]) {
        if (!p.cores.test(next[s])) continue;
        used |= std::uint64_t{1} << s;
        ++cores;
        std::int64_t taken = threads;
        if (ask_.ntasks_per_core == 1 && ask_.cpus_per_task > threads) {
          taken = std::min(of_task, threads);
          of_task = of_task <= taken ? ask_.cpus_per_task : of_task - taken;
        }
        room = room < threads ? 0 : room - taken;
        cpus = cpus < threads ? 0 : cpus - taken;
      }
    }
  }

  const SelectRules& rules_;
  const JobAsk& ask_;
  const std::vector<NodeOffer*>& offers_;
  NodePlacements& out_;
  std::int64_t wanted_ = 0;
  std::int64_t tasks_ = 0;
};

}  // namespace

bool lay_out(const SelectRules& rules, const JobAsk& ask, const std::vector<NodeOffer*>& offers,
             NodePlacements& out) {
  return Layout(rules, ask, offers, out).run();
}

}  // namespace fedsim
