// Nodes below few leaf switches (topology/tree; 22.05 _eval_nodes_topo): see choose.hpp.
#include <algorithm>

#include "select/choose.hpp"

namespace fedsim {
namespace {

/// The switches of one attempt, with the nodes that still count below each.
class Tree {
 public:
  explicit Tree(const SwitchTree& tree)
      : tree_(tree), nodes_(tree.size()), needed_(tree.size(), 0), distance_(tree.size(), 0) {}

  void set(std::size_t i, Bitmap nodes) { nodes_[i] = std::move(nodes); }
  const Bitmap& nodes(std::size_t i) const { return nodes_[i]; }
  bool has(std::size_t i, std::uint32_t node) const { return test_bit(nodes_[i], node); }
  bool is_leaf(std::size_t i) const { return tree_[i].level == 0; }
  bool needed(std::size_t i) const { return needed_[i] != 0; }
  void need(std::size_t i) { needed_[i] = 1; }

  /// Keeps what is in `other` as well.
  void keep(const Bitmap& other) {
    for (Bitmap& n : nodes_) and_into(n, other);
  }
  void count() {
    left_.clear();
    for (const Bitmap& n : nodes_) left_.push_back(static_cast<std::int64_t>(count_bits(n)));
  }
  void use_up(std::size_t i) { left_[i] = 0; }

  void add_distance(std::size_t from) {
    for (std::size_t i = 0; i < tree_.size(); ++i) {
      const std::uint32_t d = tree_.distance(from, i);
      if (d == SwitchTree::kNoWay || distance_[i] == SwitchTree::kNoWay)
        distance_[i] = SwitchTree::kNoWay;
      else
        distance_[i] += d;
    }
  }

  /// The leaf to take nodes from next, size() for none.
  std::size_t best_leaf(std::int64_t missing) const {
    std::size_t best = tree_.size();
    for (std::size_t i = 0; i < tree_.size(); ++i) {
      if (needed(i) || !is_leaf(i) || left_[i] == 0 || distance_[i] == SwitchTree::kNoWay) continue;
      if (best == tree_.size()) {
        best = i;
        continue;
      }
      const int fits = compare(i, best, missing);
      if ((distance_[i] < distance_[best] && fits >= 0) ||
          (distance_[i] == distance_[best] && fits > 0)) {
        best = i;
      }
    }
    return best;
  }

 private:
  /// Above 0: `a` is the better one, tightest fit first; else the one under the better parent.
  int compare(std::size_t a, std::size_t b, std::int64_t missing) const {
    while (true) {
      const bool a_fits = left_[a] >= missing;
      const bool b_fits = left_[b] >= missing;
      if (a_fits && b_fits) {
        if (left_[a] != left_[b]) return left_[a] < left_[b] ? 1 : -1;
        break;
      }
      if (a_fits != b_fits) return a_fits ? 1 : -1;
      const std::size_t above_a = tree_[a].parent;
      const std::size_t above_b = tree_[b].parent;
      if (above_a == above_b || (above_a == a && above_b == b)) break;
      a = above_a;
      b = above_b;
    }
    if (left_[a] != left_[b]) return left_[a] > left_[b] ? 1 : -1;
    if (tree_[a].level != tree_[b].level) return tree_[a].level < tree_[b].level ? 1 : -1;
    return 0;
  }

  const SwitchTree& tree_;
  std::vector<Bitmap> nodes_;
  std::vector<std::uint8_t> needed_;
  std::vector<std::uint32_t> distance_;
  std::vector<std::int64_t> left_;
};

}  // namespace

/// One attempt over the switches.
class Chooser::SwitchChoice {
 public:
  SwitchChoice(Chooser& c, NodeCounts counts)
      : c_(c),
        counts_(counts),
        all_(*c.switches_),
        tree_(all_),
        m_(c.begin(counts)),
        required_(all_[0].nodes.size(), 0),
        any_required_(!c.ask_.required.empty()) {}

  bool run() {
    if (any_required_ && !c_.take_required(m_)) return false;
    for (const std::uint32_t n : c_.ask_.required) set_bit(required_, n);
    if (!find_top()) return false;
    tree_.keep(Bitmap(tree_.nodes(top_)));
    if (any_required_) {
      if (c_.satisfied(m_)) return true;
      if (m_.most_nodes <= 0) return false;
    }
    if (!find_lowest_weights()) return false;
    take_lower_weights();
    if (lower_ > 0) {
      if (c_.satisfied(m_)) return true;
      if (m_.most_nodes <= 0) return false;
    }
    return take_leaves();
  }

 private:
  /// The highest switch above the required nodes, or above the nodes of the lowest weight.
  bool find_top() {
    Bitmap offered(required_.size(), 0);
    for (std::uint32_t i = 0; i < c_.offers_.size(); ++i)
      if (c_.open_[i]) set_bit(offered, c_.offers_[i].node);
    std::int64_t top_weight = 0;
    top_ = all_.size();
    for (std::size_t i = 0; i < all_.size(); ++i) {
      Bitmap here = all_[i].nodes;
      and_into(here, offered);
      const auto n = static_cast<std::int64_t>(count_bits(here));
      if (any_required_ && overlaps(required_, here)) {
        tree_.need(i);
        if (top_ == all_.size() || all_[i].level > all_[top_].level) top_ = i;
      }
      if (!any_required_ && n > 0 && enough_nodes(n, m_, counts_)) {
        const std::int64_t weight = lowest_weight(here);
        if (top_ == all_.size() || (all_[i].level >= all_[top_].level && weight <= top_weight)) {
          top_ = i;
          top_weight = weight;
        }
      }
      tree_.set(i, std::move(here));
    }
    return top_ != all_.size() && (!any_required_ || is_subset(required_, tree_.nodes(top_)));
  }

  std::int64_t lowest_weight(const Bitmap& nodes) const {
    std::int64_t weight = kNoLimit;
    for (std::uint32_t i = 0; i < c_.offers_.size(); ++i) {
      const NodeOffer& o = c_.offers_[i];
      if (c_.open_[i] && test_bit(nodes, o.node)) weight = std::min(weight, o.weight);
    }
    return weight;
  }

  /// Nodes of as many weights, from the lowest, as the job needs.
  bool find_lowest_weights() {
    std::int64_t cpus = 0;
    std::vector<std::int64_t> devices(c_.ask_.devices.size(), 0);
    for (const std::vector<std::uint32_t>& group : c_.weight_groups()) {
      lower_ = best_.size();
      for (const std::uint32_t i : group) {
        NodeOffer& o = c_.offers_[i];
        if (!tree_.has(top_, o.node)) continue;
        c_.cut(o);
        if (o.usable == 0) continue;
        c_.cpus_[i] = o.usable;
        best_.push_back(i);
        cpus += o.usable;
        const std::vector<std::int64_t> here = c_.devices_of(o);
        for (std::size_t a = 0; a < here.size(); ++a) devices[a] += here[a];
      }
      if (cpus >= m_.cpus && enough_nodes(static_cast<std::int64_t>(best_.size()), m_, counts_) &&
          (!c_.per_job_ || c_.would_be_enough(devices))) {
        return true;
      }
    }
    return false;
  }

  /// All of the lower weights are taken; of the highest one only what is needed.
  void take_lower_weights() {
    Bitmap wanted = required_;
    for (std::size_t k = 0; k < best_.size(); ++k) {
      const std::uint32_t node = c_.offers_[best_[k]].node;
      set_bit(wanted, node);
      if (k >= lower_ || m_.most_nodes <= 0) continue;
      c_.take(best_[k], m_);
      for (std::size_t i = 0; i < all_.size(); ++i)
        if (tree_.has(i, node)) tree_.need(i);
    }
    tree_.keep(wanted);
    tree_.count();
  }

  bool take_below(std::size_t leaf) {
    for (std::uint32_t i = 0; i < c_.offers_.size() && m_.most_nodes > 0; ++i) {
      if (!c_.usable_now(i) || c_.cpus_[i] == 0 || !tree_.has(leaf, c_.offers_[i].node)) continue;
      c_.take(i, m_);
      if (c_.satisfied(m_)) return true;
    }
    return false;
  }

  /// Leaves that are needed anyway, then the nearest and tightest ones.
  bool take_leaves() {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (tree_.needed(i) && tree_.is_leaf(i) && take_below(i)) return true;
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (tree_.needed(i)) tree_.add_distance(i);
    for (std::int64_t before = m_.nodes + 1; before != m_.nodes;) {
      before = m_.nodes;
      const std::size_t leaf = tree_.best_leaf(m_.nodes);
      if (leaf == all_.size()) break;
      tree_.add_distance(leaf);
      if (take_below(leaf)) return true;
      tree_.use_up(leaf);
    }
    return m_.least_nodes <= 0 && m_.cpus <= 0 && c_.devices_are_enough();
  }

  Chooser& c_;
  const NodeCounts counts_;
  const SwitchTree& all_;
  Tree tree_;
  Missing m_;
  Bitmap required_;
  const bool any_required_;
  std::size_t top_ = 0;
  std::vector<std::uint32_t> best_;  ///< offers of the weights that suffice
  std::size_t lower_ = 0;            ///< of these, those below the highest weight
};

bool Chooser::by_switch(NodeCounts counts) {
  return SwitchChoice(*this, counts).run();
}

}  // namespace fedsim
