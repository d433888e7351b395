// Binds a plain aggregate as an immutable Python value: keyword constructor, read-only properties,
// replace(), ==, repr(), pickle. Lists show as tuples and maps as read-only mappings, because a
// change made to a copy would be lost in silence.
#pragma once

#include <pybind11/chrono.h>
#include <pybind11/operators.h>
#include <pybind11/stl.h>

#include <functional>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "fields.hpp"

namespace fedsim::python {

/// Slurm's words for enums and releases, so that Python sees text.
py::object expose(OverSubscribe v);
py::object expose(const SlurmRelease& v);
void assign(OverSubscribe& out, const py::handle& value, const std::string& field);
void assign(SlurmRelease& out, const py::handle& value, const std::string& field);

template <class T>
py::object expose(const T& v) {
  return py::cast(v);
}
template <class T>
py::object expose(const std::vector<T>& v) {
  return py::tuple(py::cast(v));
}
template <class V>
py::object expose(const std::map<std::string, V>& v) {
  return py::module_::import("types").attr("MappingProxyType")(py::cast(v));
}
inline py::object expose(const Duration& v) {
  return py::cast(std::chrono::duration_cast<std::chrono::microseconds>(v));
}

template <class T>
void assign(T& out, const py::handle& value, const std::string& field) {
  try {
    out = py::cast<T>(value);
  } catch (const py::cast_error&) {
    throw py::type_error(field + ": cannot use " + py::repr(value).cast<std::string>() + ", a " +
                         py::type::of(value).attr("__name__").cast<std::string>());
  }
}
template <class V>
void assign(std::map<std::string, V>& out, const py::handle& value, const std::string& field) {
  // dict() takes any mapping, the read-only ones that expose() gives among them.
  std::map<std::string, V> made;
  for (const auto& [key, item] : py::dict(py::reinterpret_borrow<py::object>(value))) {
    assign(made[py::str(key)], item, field);
  }
  out = std::move(made);
}
inline void assign(Duration& out, const py::handle& value, const std::string& field) {
  out = to_duration(value, field);
}

template <class T>
class Record {
 public:
  Record(py::module_& m, const char* name, const char* doc) : name_(name), class_(m, name, doc) {}

  template <class M>
  Record& field(const char* name, M T::*member, const char* doc) {
    list().push_back({name, [member](const T& v) { return expose(v.*member); },
                      [member, what = std::string(name_) + "." + name](
                          T& v, const py::handle& value) { assign(v.*member, value, what); }});
    class_.def_property_readonly(
        name, [member](const T& v) { return expose(v.*member); }, doc);
    return *this;
  }

  py::class_<T, std::shared_ptr<T>>& finish() {
    const std::string name = name_;
    class_.def(py::init([name](const py::kwargs& given) { return changed(name, T{}, given); }))
        .def(
            "replace",
            [name](const T& v, const py::kwargs& given) {
              return changed(name + ".replace", v, given);
            },
            "replace(**changes)\n\nA copy with the named fields changed; the original stays.")
        .def(
            "__eq__", [](const T& a, const T& b) { return a == b; }, py::is_operator())
        .def("__repr__", [name](const T& v) { return repr(name, v); })
        .def(py::pickle(
            [name](const T& v) {
              Writer out(name);
              out(v);
              return py::bytes(out.take());
            },
            [name](const py::bytes& bytes) {
              const std::string text = bytes;
              T v{};
              Reader in(text, name);
              in(v);
              return v;
            }));
    class_.attr("__hash__") = py::none();
    return class_;
  }

 private:
  struct Field {
    std::string name;
    std::function<py::object(const T&)> get;
    std::function<void(T&, const py::handle&)> set;
  };
  static std::vector<Field>& list() {
    static std::vector<Field> fields_of_t;
    return fields_of_t;
  }

  static T changed(const std::string& callee, T v, const py::dict& given) {
    std::vector<std::string> names;
    for (const Field& f : list()) names.push_back(f.name);
    check_options(callee, given, names);
    for (const Field& f : list()) {
      if (given.contains(f.name)) f.set(v, given[py::str(f.name)]);
    }
    return v;
  }

  /// Short: long tuples and mappings show their length only.
  static std::string repr(const std::string& name, const T& v) {
    static const T defaults{};
    std::string out = name + "(";
    for (const Field& f : list()) {
      const py::object value = f.get(v);
      if (value.equal(f.get(defaults))) continue;
      if (out.back() != '(') out += ", ";
      std::string text = py::repr(value).template cast<std::string>();
      if (text.size() > 60 && py::hasattr(value, "__len__")) {
        text = "<" + std::to_string(py::len(value)) + " items>";
      }
      out += f.name + "=" + text;
    }
    return out + ")";
  }

  const char* name_;
  py::class_<T, std::shared_ptr<T>> class_;
};

}  // namespace fedsim::python
