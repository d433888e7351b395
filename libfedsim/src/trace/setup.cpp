// Accounting set-up of a recorded scenario (sacctmgr(1) commands, one JSON object a line with argv
// and rc). Left out: QOS and association limits, preemption lists and shares; they are reported.
#include "trace/setup.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.hpp"
#include "trace/input.hpp"

namespace fedsim {
namespace {

using Words = std::vector<std::string>;

class SetupReader {
 public:
  SetupReader(std::string file, std::vector<Diagnostic>& diagnostics)
      : file_(std::move(file)), diagnostics_(diagnostics) {}

  AccountingSetup read(const std::string& text) {
    int line_number = 0;
    for (const std::string& line : split(text, '\n')) {
      ++line_number;
      if (!trim(line).empty()) read_line(line, line_number);
    }
    return std::move(setup_);
  }

 private:
  void read_line(const std::string& line, int line_number) {
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    if (!entry.is_object() || !entry.contains("argv") || !entry["argv"].is_array()) {
      diagnostics_.push_back({Severity::error, "C062", file_, line_number,
                              "not a JSON object with argv", "one sacctmgr command a line"});
      return;
    }
    if (entry.value("rc", 0) != 0) return;  // refused: changed nothing
    Words words;
    for (const auto& word : entry["argv"]) {
      if (word.is_string() && !word.get<std::string>().starts_with("-")) words.push_back(word);
    }
    if (!words.empty() && words[0] == "sacctmgr") words.erase(words.begin());
    if (words.size() < 3) return;  // "show", "list": only looks
    const std::string verb = to_lower(words[0]);
    if (verb == "show" || verb == "list" || verb == "dump") return;
    const bool add = verb == "add" || verb == "create";
    if (add || verb == "modify" || verb == "update") {
      apply(add, to_lower(words[1]), Words(words.begin() + 2, words.end()));
    } else {
      setup_.not_modelled.push_back(join(words, " "));
    }
  }

  void apply(bool add, const std::string& entity, const Words& words) {
    if (entity == "federation") return federation(words);
    if (entity == "cluster") return add ? void() : cluster(words);
    if (entity == "qos") {
      qos(words);
      return settings("qos " + words[0], words);
    }
    if (entity == "account") {
      for (const std::string& name : split_list(to_lower(words[0])))
        setup_.accounting.accounts.insert(name);
      return settings("account " + words[0], words);
    }
    if (entity == "user") {
      user_qos(words);
      return add ? user(words) : settings("user " + words[0], words);
    }
    setup_.not_modelled.push_back(entity + " " + join(words, " "));
  }

  void federation(const Words& words) {
    setup_.federation = words[0];
    for (const std::string& word : words) {
      if (istarts_with(word, "clusters=")) {
        setup_.federation_clusters = split_list(std::string_view(word).substr(9));
      }
    }
  }

  void cluster(const Words& words) {
    for (const std::string& word : words) {
      if (istarts_with(word, "features=")) {
        setup_.cluster_features[words[0]] = split_list(std::string_view(word).substr(9));
      } else if (istarts_with(word, "fedstate=")) {
        setup_.not_modelled.push_back("cluster " + words[0] + " " + word);
      }
    }
  }

  void user(const Words& words) {
    for (const std::string& word : words) {
      if (!istarts_with(word, "account=")) continue;
      for (const std::string& name : split_list(words[0])) {
        // The first association's account is the default one.
        setup_.default_account.emplace(name, word.substr(8));
        for (const std::string& account : split_list(to_lower(word.substr(8))))
          setup_.accounting.users[name].accounts.push_back(account);
      }
    }
  }

  /// The value of a word that is `key`=value in any case.
  static std::optional<std::string> value_of(const std::string& word, std::string_view key) {
    if (word.size() <= key.size() || word[key.size()] != '=' || !istarts_with(word, key))
      return std::nullopt;
    return word.substr(key.size() + 1);
  }

  void qos(const Words& words) {
    for (const std::string& name : split_list(words[0])) {
      Accounting::Qos& qos = setup_.accounting.qos[name];
      for (const std::string& word : words) {
        if (const auto wall = value_of(word, "MaxWall"))
          qos.max_wall_s = parse_slurm_time(*wall).value_or(kUnset);
        if (const auto flags = value_of(word, "Flags"))
          qos.deny_on_limit = to_lower(*flags).find("denyonlimit") != std::string::npos;
        const auto tres = value_of(word, "MaxTRESPerJob");
        if (!tres) continue;
        for (const std::string& entry : split_list(*tres)) {
          const std::size_t equals = entry.find('=');
          if (equals == std::string::npos) continue;
          const auto count = parse_count(entry.substr(equals + 1));
          if (count) qos.max_tres_per_job[to_lower(entry.substr(0, equals))] = *count;
        }
      }
    }
  }

  void user_qos(const Words& words) {
    for (const std::string& name : split_list(words[0])) {
      for (const std::string& word : words) {
        if (const auto list = value_of(word, "QOS"))
          setup_.accounting.users[name].qos = split_list(*list);
        if (const auto one = value_of(word, "DefaultQOS"))
          setup_.accounting.users[name].default_qos = *one;
      }
    }
  }

  // key=value settings of a QOS, account or user.
  void settings(const std::string& whose, const Words& words) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string& word = words[i];
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos || equals == 0) continue;  // "set", "where"
      const std::string key = to_lower(std::string_view(word).substr(0, equals));
      if (key == "priority" || key == "fairshare" || key == "usagefactor") {
        setup_.priority_settings.push_back(whose + " " + word);
      } else if (key.starts_with("max") || key.starts_with("grp") || key.starts_with("min") ||
                 key.starts_with("preempt") || key == "gracetime" || key == "flags") {
        setup_.not_modelled.push_back(whose + " " + word);
      }
    }
  }

  std::string file_;
  std::vector<Diagnostic>& diagnostics_;
  AccountingSetup setup_;
};

}  // namespace

AccountingSetup read_accounting_setup(const std::filesystem::path& file,
                                      std::vector<Diagnostic>& diagnostics) {
  std::error_code missing;
  if (!std::filesystem::exists(file, missing)) return {};
  return SetupReader(file.string(), diagnostics).read(read_input(file).text);
}

Accounting read_accounting(const std::filesystem::path& file) {
  std::vector<Diagnostic> found;
  Accounting out = SetupReader(file.string(), found).read(read_input(file).text).accounting;
  if (!found.empty()) throw InputError(std::move(found));
  return out;
}

}  // namespace fedsim
