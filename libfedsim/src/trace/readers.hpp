// The readers behind read_trace(): one function per format, all over text already in memory.
#pragma once

#include "fedsim/trace.hpp"
#include "trace/input.hpp"

namespace fedsim {

enum class TraceFormat { swf, sacct, sacct_json };

/// The format named by `options.format`, else found from the content. Throws InputError (C051).
TraceFormat guess_format(const Input& input, const ReadOptions& options);

Trace read_swf_text(const Input& input, const ReadOptions& options);
Trace read_sacct_text(const Input& input, const ReadOptions& options);
Trace read_sacct_json_text(const Input& input, const ReadOptions& options);

/// show_trace() of each format: normalised jobs to `sink`, the summary line as result.
std::string show_swf(const Input& input, const ReadOptions& options, const NormalisedJob& sink);
std::string show_sacct(const Input& input, const ReadOptions& options, const NormalisedJob& sink);
std::string show_sacct_json(const Input& input, const ReadOptions& options,
                            const NormalisedJob& sink);

}  // namespace fedsim
