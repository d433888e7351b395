// Errors and diagnostics: see include/fedsim/error.hpp.
#include "fedsim/error.hpp"

#include <cstring>

#include "fedsim/ids.hpp"

namespace fedsim {

std::string_view to_string(Severity s) {
  switch (s) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "error";
}

std::string to_string(const Diagnostic& d) {
  std::string out;
  if (!d.file.empty()) {
    out += d.file;
    if (d.line > 0) out += ":" + std::to_string(d.line);
    out += ": ";
  }
  out += to_string(d.severity);
  if (!d.code.empty()) out += " " + d.code;
  out += ": " + d.message;
  if (!d.hint.empty()) out += "\n    " + d.hint;
  return out;
}

namespace {
std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    if (!out.empty()) out += '\n';
    out += to_string(d);
  }
  return out;
}
}  // namespace

InputError::InputError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join(diagnostics)), diagnostics_(std::move(diagnostics)) {}

InputError::InputError(Diagnostic diagnostic)
    : InputError(std::vector<Diagnostic>{std::move(diagnostic)}) {}

FileError::FileError(std::string path, int error_number, const std::string& doing)
    : std::runtime_error(path + ": can't " + doing + ": " + std::strerror(error_number)),
      path_(std::move(path)),
      errno_(error_number) {}

void fail_check(const char* file, int line, const char* condition, const std::string& detail) {
  const char* slash = std::strrchr(file, '/');
  throw InternalError(std::string("internal error at ") + (slash != nullptr ? slash + 1 : file) +
                      ":" + std::to_string(line) + ": " + condition + " does not hold: " + detail);
}

std::uint32_t encode_job_id(FederatedJobId id) {
  std::vector<Diagnostic> wrong;
  if (id.cluster > kMaxFederationClusters) {
    wrong.push_back({Severity::error, "C040", "", 0, "Too many clusters in federation",
                     "cluster ids are 1 to 63, not " + std::to_string(id.cluster)});
  }
  if (id.local > kMaxLocalJobId) {
    wrong.push_back({Severity::error, "C040", "", 0,
                     "local job id " + std::to_string(id.local) + " is too large",
                     "local ids are at most 67108863"});
  }
  if (!wrong.empty()) throw InputError(std::move(wrong));
  return (id.cluster << kLocalJobIdBits) | id.local;
}

}  // namespace fedsim
