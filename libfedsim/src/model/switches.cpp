// The tree of switches: see switches.hpp.
#include "model/switches.hpp"

#include <algorithm>
#include <map>

namespace fedsim {

SwitchTree::SwitchTree(const std::vector<SwitchSpec>& specs,
                       const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> nodes;
  std::map<std::string, std::size_t> switches;
  for (std::size_t n = 0; n < names.size(); ++n) nodes[names[n]] = n;
  for (std::size_t i = 0; i < specs.size(); ++i) switches.emplace(specs[i].name, i);
  switches_.resize(specs.size());
  children_.resize(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    Switch& s = switches_[i];
    s.level = specs[i].switches.empty() ? 0 : -1;
    s.parent = i;
    s.nodes.assign((names.size() + 63) / 64, 0);
    for (const std::string& name : specs[i].nodes) {
      const auto known = nodes.find(name);
      if (known != nodes.end()) set_bit(s.nodes, known->second);
    }
    for (const std::string& name : specs[i].switches) {
      const auto known = switches.find(name);
      if (known != switches.end() && known->second != i) children_[i].push_back(known->second);
    }
  }
  for (std::size_t i = 0; i < specs.size(); ++i)
    for (const std::size_t child : children_[i]) switches_[child].parent = i;
  set_levels(specs);
  set_distances();
}

void SwitchTree::set_levels(const std::vector<SwitchSpec>& specs) {
  for (std::size_t round = 0; round < specs.size(); ++round) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      Switch& s = switches_[i];
      if (s.level != -1) continue;
      const bool known = std::all_of(children_[i].begin(), children_[i].end(),
                                     [&](std::size_t c) { return switches_[c].level >= 0; });
      if (!known) continue;
      for (const std::size_t c : children_[i]) {
        s.level = std::max(s.level, switches_[c].level + 1);
        for (std::size_t w = 0; w < s.nodes.size(); ++w) s.nodes[w] |= switches_[c].nodes[w];
      }
    }
  }
}

void SwitchTree::set_distances() {
  const std::size_t n = size();
  distance_.assign(n * n, kNoWay);
  for (std::size_t i = 0; i < n; ++i) {
    distance_[i * n + i] = 0;
    for (const std::size_t c : children_[i]) distance_[i * n + c] = distance_[c * n + i] = 1;
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      if (distance(i, k) == kNoWay) continue;
      for (std::size_t j = 0; j < n; ++j) {
        if (distance(k, j) == kNoWay) continue;
        std::uint32_t& d = distance_[i * n + j];
        d = std::min(d, distance(i, k) + distance(k, j));
      }
    }
  }
}

std::size_t SwitchTree::leaves(BitSpan nodes) const {
  return static_cast<std::size_t>(
      std::count_if(switches_.begin(), switches_.end(), [&](const Switch& s) {
        return s.level == 0 && overlaps(s.nodes, nodes);
      }));
}

}  // namespace fedsim
