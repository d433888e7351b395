// Operations on traces that Python offers beside the readers.
#pragma once

#include "bindings.hpp"

namespace fedsim::python {

/// trace[i] as a dict; negative counts from the end.
py::dict trace_job(const Trace& trace, std::int64_t index);
py::dict trace_report(const Trace& trace);
TracePtr synth_trace(const py::kwargs& given);

/// A trace from dicts with sbatch words (`argv`) and what sbatch does not say (label, at, user,
/// submit, run, run_is_elapsed, cancel). Findings of all jobs are thrown together.
TracePtr trace_from_requests(const py::list& requests);

}  // namespace fedsim::python
