// Exceptions: InputError is a ValueError with .diagnostics, InternalError a RuntimeError, a missing
// file an OSError, a stopped run a KeyboardInterrupt (or what the progress callback raised).
#include <pybind11/operators.h>
#include <pybind11/stl.h>

#include <cerrno>
#include <cstring>

#include "bindings.hpp"
#include "fedsim/error.hpp"
#include "fields.hpp"

namespace fedsim::python {
namespace {

// Types live as long as the process, like the module that holds them.
PyObject* g_input_error = nullptr;
PyObject* g_internal_error = nullptr;

constexpr const char* kInputErrorDoc =
    "Bad input: a file, an option or a specification that cannot be.\n\n"
    "A ValueError. ``diagnostics`` holds every finding (all at once, not only the first), each a\n"
    ":class:`Diagnostic`.\n\n"
    "Example:\n"
    "    >>> import fedsim as fs\n"
    "    >>> try:\n"
    "    ...     fs.jobid.encode(64, 1)\n"
    "    ... except fs.InputError as error:\n"
    "    ...     print(error.diagnostics[0].message)\n"
    "    Too many clusters in federation\n";
constexpr const char* kInternalErrorDoc =
    "A broken invariant: a bug of fedsim, not of its user. A RuntimeError; the run is lost, the\n"
    "interpreter lives. Please report the message, which names file, line and condition.\n";
constexpr const char* kDiagnosticDoc =
    "One finding about an input.\n\n"
    "``severity`` is 'note', 'warning' or 'error'; ``code`` such as 'C012' (see the errors page);\n"
    "``file`` and ``line`` (1-based, 0 when there is none) say where; ``message`` says what,\n"
    "``hint`` what to do. ``str()`` gives ``file:line: severity code: message``.\n";

void set_input_error(const InputError& e) {
  const py::object type = py::reinterpret_borrow<py::object>(g_input_error);
  const py::object error = type(e.what());
  error.attr("diagnostics") = py::cast(e.diagnostics());
  PyErr_SetObject(g_input_error, error.ptr());
}

void set_file_error(const FileError& e) {
  // OSError picks its own subclass by errno: FileNotFoundError, PermissionError, ...
  const py::object type = py::reinterpret_borrow<py::object>(PyExc_OSError);
  const py::object error = e.error_number() == 0
                               ? type(e.what())
                               : type(e.error_number(), std::strerror(e.error_number()), e.path());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
}

void translate(std::exception_ptr raised) {
  try {
    std::rethrow_exception(raised);
  } catch (const InputError& e) {
    set_input_error(e);
  } catch (const FileError& e) {
    set_file_error(e);
  } catch (const Interrupted&) {
    // A signal handler or a progress callback has raised already; that exception goes on.
    if (PyErr_Occurred() == nullptr) PyErr_SetNone(PyExc_KeyboardInterrupt);
  } catch (const InternalError& e) {
    PyErr_SetString(g_internal_error, e.what());
  }
}

PyObject* new_exception(py::module_& m, const char* name, const char* doc, PyObject* base) {
  const std::string full = std::string("fedsim.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(full.c_str(), doc, base, nullptr);
  if (type == nullptr) throw py::error_already_set();
  m.add_object(name, type);
  return type;
}

std::string diagnostic_repr(const Diagnostic& d) {
  return "<Diagnostic " + py::repr(py::str(to_string(d))).cast<std::string>() + ">";
}

}  // namespace

void bind_errors(py::module_& m) {
  py::class_<Diagnostic>(m, "Diagnostic", kDiagnosticDoc)
      .def_property_readonly(
          "severity", [](const Diagnostic& d) { return std::string(to_string(d.severity)); },
          "'note', 'warning' or 'error'.")
      .def_readonly("code", &Diagnostic::code, "Stable code such as 'C012', '' when it has none.")
      .def_readonly("file", &Diagnostic::file, "File as it was named, '' when there is none.")
      .def_readonly("line", &Diagnostic::line, "1-based line, 0 when there is none.")
      .def_readonly("message", &Diagnostic::message, "What is wrong.")
      .def_readonly("hint", &Diagnostic::hint, "What to do about it, '' when nothing is known.")
      .def("__str__", [](const Diagnostic& d) { return to_string(d); })
      .def("__repr__", &diagnostic_repr)
      .def(
          "__eq__", [](const Diagnostic& a, const Diagnostic& b) { return a == b; },
          py::is_operator())
      .def("__hash__", [](const Diagnostic& d) { return py::hash(py::str(to_string(d))); })
      .def(py::pickle(
          [](const Diagnostic& d) {
            Writer out("Diagnostic");
            out(d);
            return py::bytes(out.take());
          },
          [](const py::bytes& bytes) {
            const std::string text = bytes;
            Diagnostic d;
            Reader in(text, "Diagnostic");
            in(d);
            return d;
          }));
  g_input_error = new_exception(m, "InputError", kInputErrorDoc, PyExc_ValueError);
  py::setattr(g_input_error, "diagnostics", py::tuple());
  g_internal_error = new_exception(m, "InternalError", kInternalErrorDoc, PyExc_RuntimeError);
  py::register_exception_translator(&translate);
}

}  // namespace fedsim::python
