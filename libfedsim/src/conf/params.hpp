// The table of known keys, as this room uses it: spelling, kind of value, and what becomes of it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fedsim/slurm_conf.hpp"

namespace fedsim::conf {

/// What a value must look like.
enum class ValueKind {
  text,
  number,  ///< whole number, UNLIMITED or INFINITE
  real,
  boolean,  ///< YES, NO, TRUE, FALSE, 1, 0
  time,     ///< whole number or one of the d-h:m:s forms
};

/// How much a key matters here.
enum class Role {
  modelled,
  simplified,
  ignored,     ///< changes what Slurm does with jobs, and is not modelled
  irrelevant,  ///< ports, paths, logs, security: nothing to simulate
  removed,     ///< gone from Slurm; newer controllers refuse it
};

struct Parameter {
  std::string_view file;
  std::string_view scope;  ///< "", "NodeName", "PartitionName", "SchedulerParameters", ...
  std::string_view key;
  Role role = Role::ignored;
  ValueKind kind = ValueKind::text;
  std::string_view note;
};

/// All rows of slurm.conf itself, of its records and parameter lists, and of the other two files.
std::span<const Parameter> option_parameters();
std::span<const Parameter> record_parameters();

/// The row of a key in any case, or nullptr.
const Parameter* find_parameter(std::string_view file, std::string_view scope,
                                std::string_view key);

/// A known key of the same scope that a misspelling may stand for, "" when none is near.
std::string nearest_key(std::string_view file, std::string_view scope, std::string_view key);

/// Whether the value can be read as the row's kind.
bool value_fits(ValueKind kind, std::string_view value);

}  // namespace fedsim::conf
