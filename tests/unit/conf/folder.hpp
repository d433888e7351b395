// A configuration folder made for one test, and short ways to look at what was read.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "fedsim/slurm_conf.hpp"

namespace fedsim::conf {

/// Files in a fresh folder that goes away with this object.
class Folder {
 public:
  explicit Folder(const std::map<std::string, std::string>& files) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("fedsim-conf-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
    for (const auto& [name, text] : files) {
      std::filesystem::create_directories((path_ / name).parent_path());
      std::ofstream(path_ / name, std::ios::binary) << text;
    }
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline ConfigResult read(const std::map<std::string, std::string>& files) {
  const Folder folder(files);
  return read_config_folder(folder.path());
}

inline ConfigResult read_slurm(const std::string& text) {
  return read({{"slurm.conf", text}});
}

/// Findings of a code; their first message is in `message` of the first.
inline std::vector<Diagnostic> with_code(const ConfigResult& result, const std::string& code) {
  std::vector<Diagnostic> found;
  for (const Diagnostic& d : result.diagnostics) {
    if (d.code == code) found.push_back(d);
  }
  return found;
}

/// "file:line" of the only finding of a code; says so when there are none or several.
inline std::string place_of(const ConfigResult& result, const std::string& code) {
  const auto found = with_code(result, code);
  if (found.size() != 1) return std::to_string(found.size()) + " findings of " + code;
  return found[0].file + ":" + std::to_string(found[0].line);
}

inline std::string all_text(const ConfigResult& result) {
  std::string text;
  for (const Diagnostic& d : result.diagnostics) text += to_string(d) + "\n";
  return text;
}

inline const NodeSpec& node(const ConfigResult& result, const std::string& name) {
  for (const NodeSpec& n : result.cluster.nodes) {
    if (n.name == name) return n;
  }
  ADD_FAILURE() << "no node " << name;
  static const NodeSpec none;
  return none;
}

inline const PartitionSpec& partition(const ConfigResult& result, const std::string& name) {
  for (const PartitionSpec& p : result.cluster.partitions) {
    if (p.name == name) return p;
  }
  ADD_FAILURE() << "no partition " << name;
  static const PartitionSpec none;
  return none;
}

}  // namespace fedsim::conf
