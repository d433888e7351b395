// topology.conf(5), tree form: switches with their nodes or child switches.
//
// Read and checked whenever the file is there; used only with TopologyPlugin=topology/tree, as in
// Slurm. Block topology (BlockName) and topology.yaml are not modelled.
#include <algorithm>
#include <filesystem>
#include <map>

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "conf/params.hpp"
#include "conf/records.hpp"

namespace fedsim::conf {

namespace {

struct SwitchLine {
  SwitchSpec spec;
  Place place;
};

void read_switch(const Record& record, std::vector<SwitchLine>& lines, Findings& findings) {
  SwitchLine line;
  line.place = record.place;
  for (const Pair& pair : record.pairs) {
    const Place place = record.at(pair);
    const Parameter* row = find_parameter("topology.conf", "", pair.key);
    if (row == nullptr) {
      findings.warning("C005", place,
                       {pair.key + ": unrecognized key in topology.conf, ignored",
                        "slurmctld refuses to start with it"});
    } else if (row->key == "SwitchName") {
      line.spec.name = pair.value;
    } else if (row->key == "Nodes") {
      line.spec.nodes = expand_at(pair.value, place, findings);
    } else if (row->key == "Switches") {
      line.spec.switches = expand_at(pair.value, place, findings);
    } else if (row->key == "LinkSpeed") {
      if (const auto speed = parse_int(pair.value)) line.spec.link_speed = *speed;
    }
  }
  if (line.spec.name.empty()) {
    findings.warning("C033", record.place,
                     {record.pairs.front().key + " is not modelled",
                      "only SwitchName lines (topology/tree) are"});
    return;
  }
  const auto same = [&](const SwitchLine& other) { return other.spec.name == line.spec.name; };
  if (std::any_of(lines.begin(), lines.end(), same)) {
    findings.error("C031", record.place,
                   {"switch " + line.spec.name + " is defined twice", "name every switch once"});
    return;
  }
  if (line.spec.nodes.empty() == line.spec.switches.empty()) {
    findings.error("C031", record.place,
                   {"switch " + line.spec.name + " needs either Nodes or Switches",
                    "leaf switches have Nodes=, the others Switches="});
  }
  lines.push_back(std::move(line));
}

void check_children(const std::vector<SwitchLine>& lines, Findings& findings) {
  for (const SwitchLine& line : lines) {
    for (const std::string& child : line.spec.switches) {
      const bool known = std::any_of(lines.begin(), lines.end(), [&](const SwitchLine& other) {
        return other.spec.name == child && child != line.spec.name;
      });
      if (known) continue;
      findings.error(
          "C031", line.place,
          {"Switch configuration " + line.spec.name + " has invalid child (" + child + ")",
           "define SwitchName=" + child + "; slurmctld refuses to start with it"});
    }
  }
}

/// A switch above itself would be followed for ever.
void check_cycles(const std::vector<SwitchLine>& lines, Findings& findings) {
  std::map<std::string, const SwitchLine*> by_name;
  for (const SwitchLine& line : lines) by_name[line.spec.name] = &line;
  std::map<std::string, int> height;
  for (const SwitchLine& line : lines) height[line.spec.name] = 0;
  // Heights settle after as many rounds as there are switches, unless there is a cycle.
  bool changed = true;
  for (std::size_t round = 0; changed && round <= lines.size(); ++round) {
    changed = false;
    for (const SwitchLine& line : lines) {
      int& own = height[line.spec.name];
      for (const std::string& child : line.spec.switches) {
        const auto found = height.find(child);
        if (found == height.end() || found->second < own) continue;
        own = found->second + 1;
        changed = true;
      }
    }
  }
  if (!changed || lines.empty()) return;
  const auto highest =
      std::max_element(height.begin(), height.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  findings.error("C031", by_name[highest->first]->place,
                 {"switch " + highest->first + " is below itself",
                  "a switch can't be its own child; slurmctld refuses to start with it"});
}

void check_nodes(const std::vector<SwitchLine>& lines, const Draft& draft, Findings& findings) {
  std::map<std::string, std::string> leaf_of;
  for (const SwitchLine& line : lines) {
    std::vector<std::string> unknown;
    std::vector<std::string> twice;
    for (const std::string& node : line.spec.nodes) {
      if (!draft.node_index.contains(node)) unknown.push_back(node);
      if (!leaf_of.emplace(node, line.spec.name).second) twice.push_back(node);
    }
    if (!unknown.empty() && !draft.incomplete) {
      findings.warning("C032", line.place,
                       {"Invalid hostnames in switch configuration: " + compress_hostlist(unknown),
                        "these are no nodes of slurm.conf; the rest of the line counts"});
    }
    if (!twice.empty()) {
      findings.warning("C032", line.place,
                       {"Multiple leaf switches contain nodes: " + compress_hostlist(twice),
                        "put every node under one leaf switch"});
    }
  }
  std::vector<std::string> outside;
  for (const NodeSpec& node : draft.cluster.nodes) {
    if (!leaf_of.contains(node.name)) outside.push_back(node.name);
  }
  if (!outside.empty() && !lines.empty()) {
    findings.warning("C032", {"topology.conf", lines.front().place.line, ""},
                     {"switches lack access to " + std::to_string(outside.size()) +
                          " nodes: " + compress_hostlist(outside),
                      "jobs of several nodes never get these together with others"});
  }
}

}  // namespace

void read_topology(const std::filesystem::path& folder, Draft& draft, Findings& findings) {
  static const FileGrammar kGrammar{{"SwitchName", "BlockName"}, true};
  const FileText text = read_conf_file({folder, "topology.conf"}, kGrammar, findings);
  const auto plugin = draft.options.find("TopologyPlugin");
  const bool tree = plugin != draft.options.end() && iequals(plugin->second.text, "topology/tree");
  if (!text.present) {
    if (tree) {
      findings.error("C030", plugin->second.place,
                     {"TopologyPlugin=topology/tree, but there is no topology.conf",
                      "add the file; slurmctld waits 60 s for it and stops"});
    }
    return;
  }
  std::vector<SwitchLine> lines;
  for (const Record& record : text.records) read_switch(record, lines, findings);
  check_nodes(lines, draft, findings);
  if (!tree) {
    findings.note("C033", {"topology.conf", 0, ""},
                  {"topology.conf is not used, TopologyPlugin is not topology/tree",
                   "set TopologyPlugin=topology/tree to place jobs by switch"});
    return;
  }
  check_children(lines, findings);
  check_cycles(lines, findings);
  for (SwitchLine& line : lines) draft.cluster.switches.push_back(std::move(line.spec));
}

}  // namespace fedsim::conf
