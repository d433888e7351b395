// Errors: what the user did (InputError, all findings at once) and what we did (InternalError).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fedsim {

enum class Severity { note, warning, error };

std::string_view to_string(Severity s);

/// One finding about an input. `line` is 1-based, 0 when there is none; `hint` says what to do.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string code;  ///< "C012"; listed in docs/reference/errors.md
  std::string file;
  int line = 0;
  std::string message;
  std::string hint;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

/// `file:line: severity code: message` and the hint on a second line.
std::string to_string(const Diagnostic& d);

/// Bad input. Carries every finding, so that one run shows all of them. Exit code 2; ValueError in
/// Python.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);
  explicit InputError(Diagnostic diagnostic);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// A file that is not there or can't be read or written. OSError in Python, exit code 2.
class FileError : public std::runtime_error {
 public:
  FileError(std::string path, int error_number, const std::string& doing);
  const std::string& path() const { return path_; }
  int error_number() const { return errno_; }

 private:
  std::string path_;
  int errno_;
};

/// The run was stopped from outside (Ctrl-C). Exit code 130; KeyboardInterrupt in Python.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A broken invariant: our fault. The run is lost, the process lives. Exit code 1; RuntimeError in
/// Python.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* file, int line, const char* condition,
                             const std::string& detail);

}  // namespace fedsim

/// Always on. Throws InternalError with file, line, condition and `detail`.
#define FEDSIM_CHECK(condition, detail)                             \
  do {                                                              \
    if (!(condition)) [[unlikely]]                                  \
      ::fedsim::fail_check(__FILE__, __LINE__, #condition, detail); \
  } while (false)

/// On in debug, test and fuzz builds only.
#ifdef FEDSIM_DEBUG
#define FEDSIM_DCHECK(condition, detail) FEDSIM_CHECK(condition, detail)
#else
#define FEDSIM_DCHECK(condition, detail) \
  do {                                   \
  } while (false)
#endif
