// gres.conf(5): the devices of every node, in file order, compared with Gres= of slurm.conf as
// slurmctld does when the node registers.
//
// There is no hardware to look at. With AutoDetect on, or without a gres.conf, Gres= of slurm.conf
// is taken as true; else a node with fewer devices than configured is drained, as in Slurm.
// Not kept: Links, Flags, and which GPU a shard or mps entry belongs to.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "conf/params.hpp"
#include "conf/records.hpp"

namespace fedsim::conf {

namespace {

/// One line of gres.conf.
struct GresLine {
  Place place;
  std::string name;
  std::string type;
  std::vector<std::string> files;  ///< one per device
  bool has_files = false;
  std::optional<std::int64_t> count;
  std::vector<int> cores;
  std::string autodetect;
  bool every_node = true;
  std::vector<std::string> nodes;  ///< sorted

  bool on(const std::string& node) const {
    return every_node || std::binary_search(nodes.begin(), nodes.end(), node);
  }
};

bool is_on(const std::string& autodetect) {
  return !autodetect.empty() && !iequals(autodetect, "off");
}

/// mps and shard share a GPU: their Count= are units, not devices.
bool is_shared(const std::string& name) {
  return name == "mps" || name == "shard";
}

/// Everything gres.conf says.
struct GresFile {
  bool present = false;
  std::string autodetect;  ///< of a line of its own
  std::vector<GresLine> lines;

  bool autodetect_on(const std::string& node) const {
    bool on = is_on(autodetect);
    for (const GresLine& line : lines) {
      if (!line.every_node && !line.autodetect.empty() && line.on(node)) {
        on = is_on(line.autodetect);
      }
    }
    return on;
  }
};

/// Core numbers of "0-15,32"; empty and C006 when unreadable.
std::vector<int> parse_cores(const Pair& pair, const Place& place, Findings& findings) {
  std::vector<int> cores;
  std::string problem;
  const auto numbers = try_expand_hostlist("[" + pair.value + "]", problem);
  for (const std::string& number : numbers.value_or(std::vector<std::string>{})) {
    const auto core = parse_int(number);
    if (core && *core < 65536) cores.push_back(static_cast<int>(*core));
  }
  if (!numbers) {
    findings.error("C006", place,
                   {"bad value \"" + pair.value + "\" for " + pair.key + ": " + problem,
                    "core numbers and ranges, as in 0-15,32-47"});
  }
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

/// Sets the member that the pair is about.
void read_pair(const Pair& pair, std::string_view key, const Place& place, GresLine& line,
               Findings& findings) {
  if (key == "NodeName") {
    line.every_node = false;
    line.nodes = expand_at(pair.value, place, findings);
    std::sort(line.nodes.begin(), line.nodes.end());
  } else if (key == "Name") {
    line.name = pair.value;
  } else if (key == "Type") {
    line.type = pair.value;
  } else if (key == "File") {
    line.has_files = true;
    for (std::string& file : expand_at(pair.value, place, findings)) {
      line.files.push_back(std::move(file));
    }
  } else if (key == "MultipleFiles") {
    line.has_files = true;
    line.files.push_back(join(expand_at(pair.value, place, findings), ","));
  } else if (key == "Count") {
    line.count = parse_count(pair.value);
    if (!line.count) {
      findings.error(
          "C006", place,
          {"bad value \"" + pair.value + "\" for Count", "a number, perhaps with K, M or G"});
    }
  } else if (key == "Cores" || key == "CPUs") {
    line.cores = parse_cores(pair, place, findings);
  } else if (key == "AutoDetect") {
    line.autodetect = pair.value;
    constexpr std::string_view kKinds[] = {"off", "nvml", "rsmi", "oneapi", "nrt", "nvidia"};
    if (std::none_of(std::begin(kKinds), std::end(kKinds),
                     [&](std::string_view kind) { return iequals(kind, pair.value); })) {
      findings.error("C006", place,
                     {"bad value \"" + pair.value + "\" for AutoDetect",
                      "off, nvml, rsmi, oneapi, nrt or nvidia"});
    }
  }
}

GresLine read_line(const Record& record, Findings& findings) {
  GresLine line;
  line.place = record.place;
  for (const Pair& pair : record.pairs) {
    const Parameter* row = find_parameter("gres.conf", "", pair.key);
    if (row != nullptr) {
      read_pair(pair, row->key, record.at(pair), line, findings);
      continue;
    }
    const std::string near = nearest_key("gres.conf", "", pair.key);
    findings.warning("C005", record.at(pair),
                     {pair.key + ": unrecognized key in gres.conf, ignored",
                      (near.empty() ? "" : "did you mean " + near + "? ") +
                          std::string("the node's slurmd refuses to start with it")});
  }
  return line;
}

/// Rules about one line alone. False: the line gives no devices.
bool check_line(const GresLine& line, const Draft& draft, Findings& findings) {
  if (!line.autodetect.empty() && line.every_node && !line.name.empty()) {
    findings.warning("C028", line.place,
                     {"In-line AutoDetect requires NodeName to take effect",
                      "put AutoDetect on a line of its own"});
  }
  if (line.name.empty()) {
    if (line.autodetect.empty()) {
      findings.error(
          "C001", line.place,
          {"a gres.conf record without Name=", "begin it with Name= or NodeName=... Name="});
    }
    return false;
  }
  if (!draft.gres_names.contains(line.name)) {
    findings.warning("C021", line.place,
                     {"Ignoring gres.conf record, invalid name: " + line.name,
                      "add " + line.name + " to GresTypes of slurm.conf"});
    return false;
  }
  const auto files_n = static_cast<std::int64_t>(line.files.size());
  if (line.has_files && line.count && !is_shared(line.name) && *line.count != files_n) {
    findings.error(
        "C025", line.place,
        {"Invalid GRES record for " + line.name + ", count " + std::to_string(*line.count) +
             " does not match the " + std::to_string(files_n) + " of File",
         "leave Count out; the node's slurmd refuses to start with it"});
  }
  return true;
}

/// A node's bare "Name=gpu" twice, or one device file in two lines.
void check_duplicates(const GresFile& file, Findings& findings) {
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const GresLine& line = file.lines[i];
    for (std::size_t j = 0; j < i; ++j) {
      const GresLine& earlier = file.lines[j];
      if (line.name != earlier.name || line.every_node != earlier.every_node) continue;
      if (!line.every_node && line.nodes != earlier.nodes) continue;
      if (!line.has_files && !earlier.has_files && iequals(line.type, earlier.type)) {
        findings.error(
            "C025", line.place,
            {"duplicate records for " + line.name + " (also in line " +
                 std::to_string(earlier.place.line) + ")",
             "keep one, or give each its Type or File; slurmd refuses to start with it"});
        break;
      }
      const auto twice = std::find_first_of(line.files.begin(), line.files.end(),
                                            earlier.files.begin(), earlier.files.end());
      if (twice != line.files.end() && !is_shared(line.name)) {
        findings.warning(
            "C025", line.place,
            {"device " + *twice + " is in line " + std::to_string(earlier.place.line) + " too",
             "name every device once"});
        break;
      }
    }
  }
}

/// Gathers what is to be said about many nodes alike, so that it is said once.
class Grouped {
 public:
  struct Key {
    Severity severity = Severity::warning;
    const char* code = "";
    std::string text;
    std::string hint;
    Place place;
  };

  void add(const Key& key, const std::string& node) {
    for (auto& [known, nodes] : groups_) {
      if (known.text == key.text && known.place.line == key.place.line &&
          known.place.file == key.place.file) {
        nodes.push_back(node);
        return;
      }
    }
    groups_.push_back({key, {node}});
  }

  void report(Findings& findings) const {
    for (const auto& [key, nodes] : groups_) {
      Findings::Text text{compress_hostlist(nodes) + ": " + key.text, key.hint};
      if (key.severity == Severity::note) {
        findings.note(key.code, key.place, std::move(text));
      } else {
        findings.warning(key.code, key.place, std::move(text));
      }
    }
  }

 private:
  std::vector<std::pair<Key, std::vector<std::string>>> groups_;
};

/// Gives one node its GPUs.
class NodeDevices {
 public:
  NodeDevices(const GresFile& file, NodeSpec& node, Place node_place, Grouped& grouped)
      : file_(file), node_(node), node_place_(std::move(node_place)), grouped_(grouped) {
    for (const GresSpec& gres : node.gres) {
      if (gres.name != "gpu") continue;
      wanted_.push_back(gres);
      total_ += gres.count;
    }
  }

  void assign() {
    for (const GresLine& line : file_.lines) {
      if (line.name == "gpu" && line.on(node_.name)) take(line);
    }
    if (static_cast<std::int64_t>(node_.gpus.size()) < total_) fill_up();
  }

 private:
  /// The Gres= entry that devices of this line count for. AutoDetect would give a line without
  /// Type the type of its hardware, which then is the one that slurm.conf still waits for.
  GresSpec* entry_for(const GresLine& line) {
    for (GresSpec& gres : wanted_) {
      if (gres.type.empty() || iequals(gres.type, line.type)) return &gres;
    }
    if (!line.type.empty() || !file_.autodetect_on(node_.name)) return nullptr;
    const auto open = std::find_if(wanted_.begin(), wanted_.end(),
                                   [](const GresSpec& gres) { return gres.count > 0; });
    return open == wanted_.end() ? nullptr : &*open;
  }

  void take(const GresLine& line) {
    if (line.files.empty()) return;  // a count is no device
    if (wanted_.empty()) {
      if (line.every_node) return;  // the line is meant for the nodes that have GPUs
      note_extra(line, "has no gpu in its Gres=; the line is ignored");
      return;
    }
    GresSpec* entry = entry_for(line);
    if (entry == nullptr) {
      const std::string type = line.type.empty() ? "no type" : "type " + line.type;
      note_extra(line, "gpu with " + type + " is not what Gres= of slurm.conf says; ignored");
      return;
    }
    if (entry->type != line.type && !entry->type.empty() && !line.type.empty()) {
      rename(*entry, line.type);
    }
    const std::vector<int> cores = usable_cores(line);
    for (const std::string& device : line.files) {
      if (entry->count == 0) {
        note_extra(line, "more gpu in gres.conf than in slurm.conf; the last ones are ignored");
        return;
      }
      --entry->count;
      node_.gpus.push_back({entry->type, device, cores});
    }
  }

  /// After registration a type shows as gres.conf spells it.
  void rename(GresSpec& entry, const std::string& type) {
    for (GresSpec& gres : node_.gres) {
      if (gres.name == "gpu" && gres.type == entry.type) gres.type = type;
    }
    entry.type = type;
  }

  std::vector<int> usable_cores(const GresLine& line) {
    const int cores_n = node_.sockets * node_.cores_per_socket;
    if (line.cores.empty() || line.cores.back() < cores_n) return line.cores;
    grouped_.add(
        {Severity::warning, "C026",
         "core " + std::to_string(line.cores.back()) + " of Cores is not one of the " +
             std::to_string(cores_n) + " cores; the GPU is not bound to a socket",
         "Cores counts cores, not threads: 0 to " + std::to_string(cores_n - 1), line.place},
        node_.name);
    return {};
  }

  void note_extra(const GresLine& line, const std::string& text) {
    grouped_.add({Severity::warning, "C024", text,
                  "make Gres= of slurm.conf and gres.conf say the same", line.place},
                 node_.name);
  }

  /// Fewer devices than configured: believed where Slurm would have looked at the hardware.
  void fill_up() {
    const auto found = std::to_string(node_.gpus.size());
    const std::string all = std::to_string(total_);
    for (const GresSpec& gres : wanted_) {
      for (std::int64_t i = 0; i < gres.count; ++i) node_.gpus.push_back({gres.type, "", {}});
    }
    if (!file_.present) {
      grouped_.add({Severity::warning, "C022",
                    "there is no gres.conf; the " + all + " GPUs of Gres= are taken as there",
                    "real nodes register with 0 GPUs and are drained: write gres.conf with File=",
                    node_place_},
                   node_.name);
    } else if (file_.autodetect_on(node_.name)) {
      grouped_.add({Severity::note, "C028",
                    "AutoDetect would look at the hardware; all " + all +
                        " GPUs of Gres= are taken as there",
                    "gres.conf names " + found + " of them", node_place_},
                   node_.name);
    } else {
      node_.state = "UNKNOWN+DRAIN+INVALID_REG";
      node_.reason = "gres/gpu count reported lower than configured (" + found + " < " + all + ")";
      grouped_.add({Severity::warning, "C023",
                    "gres/gpu " + found + " in gres.conf, " + all +
                        " in slurm.conf: the node is drained (" + node_.reason + ")",
                    "give every GPU its File=, with the Type of Gres=", node_place_},
                   node_.name);
    }
  }

  const GresFile& file_;
  NodeSpec& node_;
  Place node_place_;
  Grouped& grouped_;
  std::vector<GresSpec> wanted_;  ///< gpu entries of Gres=, counts still to be found
  std::int64_t total_ = 0;
};

GresFile read_file(const std::filesystem::path& folder, Draft& draft, Findings& findings) {
  // AutoDetect counts for all nodes on a line of its own, or before Name= on one line.
  static const FileGrammar kGrammar{{"NodeName", "Name"}, false};
  const FileText text = read_conf_file({folder, "gres.conf"}, kGrammar, findings);
  GresFile file;
  file.present = text.present;
  for (const Record& record : text.records) {
    GresLine line = read_line(record, findings);
    if (line.name.empty() && line.every_node && !line.autodetect.empty()) {
      file.autodetect = line.autodetect;
      continue;
    }
    if (check_line(line, draft, findings) || !line.autodetect.empty()) {
      file.lines.push_back(std::move(line));
    }
  }
  check_duplicates(file, findings);
  return file;
}

/// Lines about nodes that slurm.conf does not have.
void check_nodes(const GresFile& file, const Draft& draft, Findings& findings) {
  if (draft.incomplete) return;
  for (const GresLine& line : file.lines) {
    std::vector<std::string> unknown;
    for (const std::string& name : line.nodes) {
      if (!draft.node_index.contains(name)) unknown.push_back(name);
    }
    if (unknown.empty()) continue;
    std::sort(unknown.begin(), unknown.end(), natural_less);
    findings.warning("C027", line.place,
                     {compress_hostlist(unknown) + " is no node of slurm.conf; ignored",
                      "names are compared with case"});
  }
}

}  // namespace

void read_gres(const std::filesystem::path& folder, Draft& draft, Findings& findings) {
  const GresFile file = read_file(folder, draft, findings);
  check_nodes(file, draft, findings);
  Grouped grouped;
  for (std::size_t i = 0; i < draft.cluster.nodes.size(); ++i) {
    NodeDevices(file, draft.cluster.nodes[i], draft.node_places[i], grouped).assign();
  }
  grouped.report(findings);
}

}  // namespace fedsim::conf
