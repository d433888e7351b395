// What the binding files share: registration functions, value holders, argument checks.
#pragma once

#include <pybind11/pybind11.h>

#include <initializer_list>
#include <memory>
#include <string>

#include "fedsim/result.hpp"
#include "fedsim/simulation.hpp"
#include "fedsim/spec.hpp"
#include "fedsim/table.hpp"
#include "fedsim/time.hpp"
#include "fedsim/trace.hpp"

namespace fedsim::python {

namespace py = pybind11;

void bind_errors(py::module_& m);
void bind_spec(py::module_& m);
void bind_trace(py::module_& m);
void bind_table(py::module_& m);
void bind_run(py::module_& m);
void bind_result(py::module_& m);
void bind_simulation(py::module_& m);

// ---- Values that Python holds. All are immutable once made, except a Simulation.

using SpecPtr = std::shared_ptr<FederationSpec>;
using TracePtr = std::shared_ptr<Trace>;

/// A compiled scenario and the spec that it came from (pickling and replace() need it).
struct PyScenario {
  SpecPtr spec;
  Scenario scenario;
};

/// A result and its tables, each built when first asked for.
struct PyResult {
  SpecPtr spec;
  std::shared_ptr<const Result> result;
  std::map<std::string, std::shared_ptr<const Table>> tables;
};

struct PyTable {
  std::shared_ptr<const Table> table;
};

/// A capsule "arrow_array_stream" over `table`; it keeps the table alive.
py::capsule arrow_stream_capsule(std::shared_ptr<const Table> table);

/// First rows as aligned text, for repr().
std::string table_text(const Table& table, std::size_t rows_max);

/// A cell as Python sees it: int, float, bool, str, datetime (UTC), timedelta, or None.
py::object cell(const Column& column, std::size_t row);

// ---- Arguments

/// Throws TypeError naming an option that is not in `allowed` and the one that was probably meant.
void check_options(const std::string& callee, const py::dict& given,
                   const std::vector<std::string>& allowed);

/// Closest of `words` to `word`, as "; did you mean 'x'?", or "".
std::string did_you_mean(const std::string& word, const std::vector<std::string>& words);

/// InputError saying which argument had which value and what is accepted.
[[noreturn]] void bad_value(const std::string& field, const py::handle& got,
                            const std::string& accepted);

/// "30s", "2h", "1d", "1-02:00:00", "02:00:00", a timedelta, or a number of seconds.
Duration to_duration(const py::handle& value, const std::string& field);

/// An instant: an aware datetime, or anything to_duration() takes, counted from `t0`.
SimTime to_instant(const py::handle& value, SimTime t0, const std::string& field);

/// Seconds from `t0`, or None for kNoTime and kEndOfTime.
py::object seconds_since(SimTime t, SimTime t0);

/// UTC datetime (microseconds), or None for kNoTime.
py::object to_datetime(SimTime t);

/// Parses JSON text with Python's json module.
py::object parse_json(const std::string& text);

/// A FederationSpec from a FederationSpec, a ClusterSpec or a RecordedScenario.
SpecPtr to_spec(const py::object& value);

/// Python's str() of a fingerprint or hash, as the command prints it: 16 hexadecimal digits.
std::string hex(std::uint64_t v);

std::string pickle_trace(const Trace& trace);
TracePtr unpickle_trace(std::string_view bytes);

}  // namespace fedsim::python
