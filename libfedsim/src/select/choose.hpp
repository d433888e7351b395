// Which of the offering nodes a job gets (22.05 select/cons_tres choose_nodes, _eval_nodes).
#pragma once

#include <cstdint>
#include <vector>

#include "model/switches.hpp"
#include "select/offer.hpp"

namespace fedsim {

/// Nodes asked for in one attempt.
struct NodeCounts {
  std::int64_t least = 1;
  std::int64_t most = 1;
  std::int64_t wanted = 1;
};

class Chooser {
 public:
  /// `offers` are in node order; those chosen are cut to what the job takes.
  Chooser(const SelectRules& rules, const JobAsk& ask, const SwitchTree* switches,
          std::vector<NodeOffer>& offers)
      : rules_(rules),
        ask_(ask),
        switches_(switches),
        offers_(offers),
        device_cpus_(cpus_for_devices(ask)) {}

  /// True when enough nodes were found; they are in chosen(), in node order.
  bool run(NodeCounts counts);
  const std::vector<std::uint32_t>& chosen() const { return chosen_; }

 private:
  /// What an attempt still lacks.
  struct Missing {
    std::int64_t cpus, nodes, least_nodes, most_nodes, most_cpus;
    bool enough() const { return nodes <= 0 && cpus <= 0; }
  };
  /// Nodes side by side with one weight.
  struct Run {
    std::int64_t first = 0, last = 0;  ///< nodes
    std::int64_t cpus = 0, nodes = 0, weight = -1, required = -1;
    std::vector<std::int64_t> devices;
  };

  class SwitchChoice;

  bool attempt(NodeCounts counts, bool local_only);
  bool best_fit(NodeCounts counts);
  bool by_weight(NodeCounts counts);
  bool by_switch(NodeCounts counts);

  Missing begin(NodeCounts counts);
  bool is_required(const NodeOffer& o) const;
  bool take_required(Missing& m);
  void cut(NodeOffer& o) { cut_to_tasks(rules_, ask_, local_only_, taken_, o); }
  std::int64_t use_cpus(const Missing& m, NodeOffer& o, std::int64_t cpus) const;
  /// Adds a node whose usable CPUs are known.
  void take(std::uint32_t offer, Missing& m);
  void add_devices(const NodeOffer& o, std::int64_t& cpus);
  bool devices_are_enough() const;
  bool would_be_enough(const std::vector<std::int64_t>& devices) const;
  std::vector<std::int64_t> devices_of(const NodeOffer& o) const;
  bool satisfied(const Missing& m) const { return m.enough() && devices_are_enough(); }
  static bool enough_nodes(std::int64_t have, const Missing& m, NodeCounts counts);

  std::vector<Run> find_runs();
  std::size_t best_run(const std::vector<Run>& runs, const Missing& m, NodeCounts counts) const;
  void take_around(const Run& run, Missing& m);
  void take_from(const Run& run, Missing& m);
  std::int64_t single_node(const Run& run, const Missing& m) const;
  bool usable_now(std::uint32_t i) const { return open_[i] && !taken_nodes_[i]; }
  std::int64_t least_loaded(const std::vector<std::uint32_t>& group, const Missing& m,
                            std::int64_t last);
  bool take_group(const std::vector<std::uint32_t>& group, Missing& m, int idle);
  std::vector<std::vector<std::uint32_t>> weight_groups() const;

  const SelectRules& rules_;
  const JobAsk& ask_;
  const SwitchTree* switches_;
  std::vector<NodeOffer>& offers_;
  const DeviceCpus device_cpus_;
  bool local_only_ = true;
  bool per_job_ = false;
  std::vector<std::int64_t> taken_;        ///< devices by ask, of --gpus
  std::vector<std::uint8_t> open_;         ///< by offer: not left out
  std::vector<std::uint8_t> taken_nodes_;  ///< by offer
  std::vector<std::int64_t> cpus_;         ///< by offer: usable in this attempt
  std::vector<std::uint32_t> chosen_;
};

}  // namespace fedsim
