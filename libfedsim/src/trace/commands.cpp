// Administrators' and users' commands: see commands.hpp.
#include "trace/commands.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace fedsim {
namespace {

using Words = std::vector<std::string>;

bool is_label(const std::string& word) {
  return word.size() > 2 && word.front() == '{' && word.back() == '}';
}

class CommandReader {
 public:
  CommandReader(const Words& argv, const Operation& base, StringTable& strings)
      : argv_(argv), op_(base), strings_(strings) {}

  std::vector<Operation> read() {
    const bool known = argv_[0] == "scancel"    ? scancel()
                       : argv_[0] == "scontrol" ? scontrol()
                       : argv_[0] == "sacctmgr" ? sacctmgr()
                                                : false;
    if (!known) return {};
    std::vector<Operation> out;
    for (const std::string& label : labels_) {
      op_.target = strings_.intern(label);
      out.push_back(op_);
    }
    return out;
  }

 private:
  void target(const std::string& word) { labels_.push_back(word.substr(1, word.size() - 2)); }

  bool scancel() {
    op_.kind = OperationKind::scancel;
    for (std::size_t i = 1; i < argv_.size(); ++i) {
      const std::string& word = argv_[i];
      if (is_label(word)) {
        target(word);
        continue;
      }
      const auto value = [&](std::string_view longer, std::string_view shorter) -> std::string {
        if ((word == longer || word == shorter) && i + 1 < argv_.size()) return argv_[++i];
        if (word.starts_with(std::string(longer) + "=")) return word.substr(longer.size() + 1);
        const bool glued = !shorter.empty() && word.starts_with(shorter);
        return glued && word.size() > shorter.size() ? word.substr(shorter.size()) : "";
      };
      const std::string sibling = value("--sibling", "");
      const std::string cluster = sibling.empty() ? value("--clusters", "-M") : "";
      if ((sibling + cluster).empty() || (sibling + cluster).find(',') != std::string::npos)
        return false;
      if (!sibling.empty()) op_.sibling = strings_.intern(sibling);
      if (cluster.empty()) continue;
      op_.cluster = strings_.intern(cluster);
      op_.remote = true;
    }
    return true;
  }

  bool scontrol() {
    static const std::pair<std::string_view, OperationKind> kVerbs[] = {
        {"requeue", OperationKind::requeue},
        {"requeuehold", OperationKind::requeuehold},
        {"hold", OperationKind::hold},
        {"release", OperationKind::release}};
    if (argv_.size() < 3) return false;
    if (argv_[1] == "update") return update();
    const auto* verb = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                    [&](const auto& v) { return v.first == argv_[1]; });
    if (verb == std::end(kVerbs)) return false;
    op_.kind = verb->second;
    for (std::size_t i = 2; i < argv_.size(); ++i) {
      if (!is_label(argv_[i])) return false;
      target(argv_[i]);
    }
    return true;
  }

  /// scontrol update jobid={J} clusters=a,b
  bool update() {
    bool changes = false;
    for (std::size_t i = 2; i < argv_.size(); ++i) {
      const std::size_t equals = argv_[i].find('=');
      if (equals == std::string::npos) return false;
      const std::string_view key = std::string_view(argv_[i]).substr(0, equals);
      const std::string value = argv_[i].substr(equals + 1);
      if (iequals(key, "jobid") || iequals(key, "job")) {
        if (!is_label(value)) return false;
        target(value);
        continue;
      }
      const bool clusters = iequals(key, "clusters");
      if (changes || (!clusters && !iequals(key, "clusterfeatures"))) return false;
      changes = true;
      op_.kind = clusters ? OperationKind::update_clusters : OperationKind::update_cluster_features;
      op_.value = strings_.intern(value);
    }
    return changes;
  }

  /// sacctmgr -i modify cluster NAME set fedstate=STATE
  /// sacctmgr -i modify federation NAME set clusters+=NAME (or -=)
  bool sacctmgr() {
    Words words;
    for (std::size_t i = 1; i < argv_.size(); ++i) {
      if (!argv_[i].starts_with("-")) words.push_back(argv_[i]);
    }
    if (words.size() != 5 || words[0] != "modify" || words[3] != "set") return false;
    labels_.assign(1, "");
    if (words[1] == "cluster") return fed_state(words[2], words[4]);
    return words[1] == "federation" && membership(words[4]);
  }

  bool fed_state(const std::string& cluster, const std::string& setting) {
    static constexpr std::string_view kKey = "fedstate=";
    if (!istarts_with(setting, kKey)) return false;
    std::string state = setting.substr(kKey.size());
    std::transform(state.begin(), state.end(), state.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    static const std::set<std::string_view> kStates = {"ACTIVE", "INACTIVE", "DRAIN",
                                                       "DRAIN+REMOVE"};
    if (kStates.count(state) == 0) return false;
    op_.kind = OperationKind::fed_state;
    op_.cluster = strings_.intern(cluster);
    op_.value = strings_.intern(state);
    return true;
  }

  bool membership(const std::string& setting) {
    const bool joins = istarts_with(setting, "clusters+=");
    if (!joins && !istarts_with(setting, "clusters-=")) return false;
    op_.kind = joins ? OperationKind::fed_join : OperationKind::fed_leave;
    op_.cluster = strings_.intern(setting.substr(10));
    return true;
  }

  const Words& argv_;
  Operation op_;
  StringTable& strings_;
  Words labels_;
};

}  // namespace

bool only_looks(const Words& argv) {
  static const std::set<std::string_view> kLooks = {"squeue", "sinfo", "sacct",   "sprio", "sshare",
                                                    "sdiag",  "sstat", "sreport", "true",  "sleep"};
  if (kLooks.count(argv[0]) > 0) return true;
  const auto verb = std::find_if(argv.begin() + 1, argv.end(),
                                 [](const std::string& w) { return !w.starts_with("-"); });
  if (verb == argv.end()) return false;
  const bool shows = *verb == "show" || *verb == "ping" || *verb == "list" || *verb == "write";
  return shows && (argv[0] == "scontrol" || argv[0] == "sacctmgr");
}

std::vector<Operation> read_command(const Words& argv, const Operation& base,
                                    StringTable& strings) {
  return CommandReader(argv, base, strings).read();
}

}  // namespace fedsim
