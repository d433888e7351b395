// The records of slurm.conf as key -> value tables with DEFAULT lines merged, and what the readers
// of nodes, partitions, devices and switches share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conf/findings.hpp"
#include "conf/lines.hpp"
#include "fedsim/spec.hpp"

namespace fedsim::conf {

/// A value and where it stands (perhaps on the DEFAULT line it comes from).
struct Value {
  std::string text;
  Place place;
};

/// The values of one NodeName or PartitionName line by canonical key.
class Fields {
 public:
  /// The pairs after the first one, on top of `defaults`. `scope` is the key that begins the line.
  static Fields read(const Record& record, const char* scope, const Fields* defaults,
                     Findings& findings);

  const Value* find(const char* key) const;
  const std::map<std::string, Value>& all() const { return values_; }

  /// Whole number within [low, high]; nothing (and C006) when it can't be read.
  std::optional<std::int64_t> number(const char* key, std::int64_t low, std::int64_t high,
                                     Findings& findings) const;
  /// Like number(), but UNLIMITED and INFINITE give kUnlimited.
  std::optional<std::int64_t> limit(const char* key, Findings& findings) const;
  std::optional<bool> boolean(const char* key, Findings& findings) const;
  /// Time rounded up to whole minutes.
  std::optional<std::int64_t> minutes(const char* key, Findings& findings) const;

 private:
  std::map<std::string, Value> values_;
};

/// C006: the value can't be read; `accepted` says what would be.
void report_bad_value(const char* key, const Value& value, const char* accepted,
                      Findings& findings);

/// C005 or C008 for a key that is unknown or gone; nullptr for an unknown one.
struct Parameter;
const Parameter* check_key(const Place& place, std::string_view scope, const std::string& key,
                           Findings& findings);

/// Expands a host list; on bad syntax C020 at `place` and an empty list.
std::vector<std::string> expand_at(const std::string& text, const Place& place, Findings& findings);

/// A cluster being read, with what later steps need to know about the text.
struct Draft {
  ClusterSpec cluster;
  std::vector<Place> node_places;  ///< the NodeName line of each node
  std::map<std::string, std::size_t> node_index;
  std::set<std::string> gres_names;      ///< names of GresTypes
  bool incomplete = false;               ///< an Include is missing: do not report absences
  std::map<std::string, Value> options;  ///< of slurm.conf, canonical spelling
};

/// One NodeName line: appends nodes, or changes `defaults` when it says DEFAULT.
void read_node_line(const Record& record, Fields& defaults, Draft& draft, Findings& findings);

/// All DownNodes lines, after the nodes.
void read_down_nodes(const Record& record, Draft& draft, Findings& findings);

/// NodeSet lines: name -> node names.
using NodeSets = std::map<std::string, std::vector<std::string>>;
void read_node_set(const Record& record, const Draft& draft, NodeSets& sets, Findings& findings);

/// PartitionName lines in order, after the nodes.
void read_partitions(const std::vector<Record>& records, const NodeSets& sets, Draft& draft,
                     Findings& findings);

/// gres.conf of the folder: devices of every node, compared with Gres= as slurmctld does when the
/// nodes register.
void read_gres(const std::filesystem::path& folder, Draft& draft, Findings& findings);

/// topology.conf of the folder.
void read_topology(const std::filesystem::path& folder, Draft& draft, Findings& findings);

}  // namespace fedsim::conf
