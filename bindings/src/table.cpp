// Tables: columns as zero-copy NumPy views, the Arrow stream, plain Python values, repr().
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdio>

#include "bindings.hpp"
#include "fedsim/arrow.hpp"

namespace fedsim::python {
namespace {

/// One column's memory for the buffer protocol. Holds the table, so a view may outlive everything.
struct ColumnBuffer {
  std::shared_ptr<const Table> table;
  const void* data = nullptr;
  py::ssize_t size = 0;
  py::ssize_t item_size = 0;
  std::string format;
};

std::string_view type_name(ColumnType type) {
  switch (type) {
    case ColumnType::int64:
      return "int64";
    case ColumnType::float64:
      return "float64";
    case ColumnType::boolean:
      return "bool";
    case ColumnType::text:
      return "text";
    case ColumnType::time:
      return "datetime64[ns]";
    case ColumnType::duration:
      return "timedelta64[ns]";
  }
  return "text";
}

std::vector<std::string> column_names(const Table& table) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < table.columns_n(); ++i) {
    names.push_back(table.column(i).schema().name);
  }
  return names;
}

const Column& find_column(const Table& table, const std::string& name) {
  for (std::size_t i = 0; i < table.columns_n(); ++i) {
    if (table.column(i).schema().name == name) return table.column(i);
  }
  const std::vector<std::string> names = column_names(table);
  std::string list;
  for (const std::string& n : names) list += (list.empty() ? "" : ", ") + n;
  throw py::key_error("no column '" + name + "' in table '" + table.name() + "'" +
                      did_you_mean(name, names) + " (columns: " + list + ")");
}

ColumnBuffer column_buffer(const PyTable& self, const Column& column) {
  static const std::int64_t kNothing = 0;  // an empty buffer still needs an address
  ColumnBuffer out{self.table, &kNothing, 0, 0, ""};
  auto set = [&out](const auto& values, const char* format) {
    if (!values.empty()) out.data = values.data();
    out.size = static_cast<py::ssize_t>(values.size());
    out.item_size = static_cast<py::ssize_t>(sizeof(values[0]));
    out.format = format;
  };
  switch (column.schema().type) {
    case ColumnType::float64:
      set(column.floats(), "d");
      break;
    case ColumnType::boolean:
      set(column.bools(), "?");
      break;
    case ColumnType::text:
      break;
    default:
      set(column.ints(), "l");
      break;
  }
  return out;
}

py::list column_list(const Column& column) {
  py::list out(column.size());
  for (std::size_t i = 0; i < column.size(); ++i) out[i] = cell(column, i);
  return out;
}

py::module_ numpy() {
  try {
    return py::module_::import("numpy");
  } catch (py::error_already_set& e) {
    if (!e.matches(PyExc_ImportError)) throw;
    throw py::import_error(
        "columns as arrays need NumPy (pip install numpy); table.to_pydict() works without it");
  }
}

py::object column_array(const PyTable& self, const std::string& name) {
  const Column& column = find_column(*self.table, name);
  const py::module_ np = numpy();
  const ColumnType type = column.schema().type;
  if (type == ColumnType::text) {
    const py::object array = np.attr("empty")(column.size(), "object");
    array[py::ellipsis()] = column_list(column);
    array.attr("flags").attr("writeable") = false;
    return array;
  }
  const py::object array = np.attr("asarray")(py::cast(column_buffer(self, column)));
  if (type != ColumnType::time && type != ColumnType::duration) return array;
  return array.attr("view")(std::string(type_name(type)));
}

py::list schema_list(const PyTable& self) {
  py::list out;
  for (std::size_t i = 0; i < self.table->columns_n(); ++i) {
    const ColumnSchema& s = self.table->column(i).schema();
    py::dict d;
    d["name"] = s.name;
    d["type"] = std::string(type_name(s.type));
    d["unit"] = s.unit;
    d["nullable"] = s.nullable;
    d["doc"] = s.doc;
    out.append(d);
  }
  return out;
}

py::object null_mask(const PyTable& self, const std::string& name) {
  const Column& column = find_column(*self.table, name);
  const py::module_ np = numpy();
  if (column.null_count() == 0) return np.attr("zeros")(column.size(), "bool");
  // Arrow's bits, first value in the lowest; a cleared bit is a missing value.
  const std::span<const std::uint8_t> bits = column.validity();
  const py::bytes raw(reinterpret_cast<const char*>(bits.data()), bits.size());
  const py::object bytes = np.attr("frombuffer")(raw, "uint8");
  const py::object valid = np.attr("unpackbits")(bytes, py::arg("count") = column.size(),
                                                 py::arg("bitorder") = "little");
  return valid.attr("__eq__")(0);
}

py::dict to_pydict(const PyTable& self) {
  py::dict out;
  for (std::size_t i = 0; i < self.table->columns_n(); ++i) {
    const Column& column = self.table->column(i);
    out[py::str(column.schema().name)] = column_list(column);
  }
  return out;
}

py::list to_pylist(const PyTable& self) {
  py::list out;
  for (std::size_t row = 0; row < self.table->rows(); ++row) {
    py::dict d;
    for (std::size_t i = 0; i < self.table->columns_n(); ++i) {
      const Column& column = self.table->column(i);
      d[py::str(column.schema().name)] = cell(column, row);
    }
    out.append(d);
  }
  return out;
}

std::string table_html(const PyTable& self) {
  constexpr std::size_t kRows = 20;
  const Table& table = *self.table;
  const py::object escape = py::module_::import("html").attr("escape");
  std::string out = "<table><tr>";
  for (const std::string& name : column_names(table)) out += "<th>" + name + "</th>";
  out += "</tr>";
  for (std::size_t row = 0; row < std::min(table.rows(), kRows); ++row) {
    out += "<tr>";
    for (std::size_t i = 0; i < table.columns_n(); ++i) {
      const py::object value = cell(table.column(i), row);
      const py::object text = value.is_none() ? py::str("") : py::str(value);
      out += "<td>" + escape(text).cast<std::string>() + "</td>";
    }
    out += "</tr>";
  }
  out += "</table>";
  if (table.rows() > kRows) out += "<p>first 20 of " + std::to_string(table.rows()) + " rows</p>";
  return out;
}

void bind_columns(py::class_<PyTable>& c) {
  c.def("__len__", [](const PyTable& t) { return t.table->rows(); })
      .def_property_readonly(
          "name", [](const PyTable& t) { return t.table->name(); },
          "'jobs', 'records', 'allocations', 'gpus', 'processes' or 'events'.")
      .def_property_readonly(
          "columns", [](const PyTable& t) { return column_names(*t.table); },
          "Column names in order.")
      .def_property_readonly("schema", &schema_list,
                             "Per column a dict: name, type, unit, nullable, doc.")
      .def("__getitem__", &column_array, py::arg("column"),
           "__getitem__(column)\n\nOne column as a NumPy array.\n\n"
           "Numbers, booleans, times (datetime64[ns], UTC) and lengths of time (timedelta64[ns]) "
           "are\n"
           "read-only views of fedsim's own memory, kept alive by the array; a missing time is "
           "NaT, a\n"
           "missing integer the smallest int64 (see null_mask()). Text is an array of str and "
           "None.\n"
           "Raises KeyError, or ImportError without NumPy.")
      .def("__contains__",
           [](const PyTable& t, const std::string& name) {
             const std::vector<std::string> names = column_names(*t.table);
             return std::find(names.begin(), names.end(), name) != names.end();
           })
      .def("null_mask", &null_mask, py::arg("column"),
           "null_mask(column)\n\nA bool array, True where the column has no value.")
      .def("to_pydict", &to_pydict,
           "to_pydict()\n\nA dict of lists of Python values; None where there is no value, times "
           "as\n"
           "datetime in UTC. Needs no other package.")
      .def("to_pylist", &to_pylist,
           "to_pylist()\n\nA list of rows, each a dict. Needs no other package.")
      .def(
          "to_pandas",
          [](const py::object& t) {
            return py::module_::import("fedsim._frames").attr("to_pandas")(t);
          },
          "to_pandas()\n\nA pandas DataFrame; integers with missing values become Int64. Raises "
          "ImportError\nwithout pandas.")
      .def(
          "to_polars",
          [](const py::object& t) {
            return py::module_::import("fedsim._frames").attr("to_polars")(t);
          },
          "to_polars()\n\nA polars DataFrame, through the Arrow stream. Raises ImportError without "
          "polars.");
}

}  // namespace

py::object cell(const Column& column, std::size_t row) {
  if (column.is_null(row)) return py::none();
  switch (column.schema().type) {
    case ColumnType::int64:
      return py::int_(column.int_at(row));
    case ColumnType::float64:
      return py::float_(column.float_at(row));
    case ColumnType::boolean:
      return py::bool_(column.bool_at(row));
    case ColumnType::text:
      return py::str(std::string(column.text_at(row)));
    case ColumnType::time:
      return to_datetime(SimTime{Duration{column.int_at(row)}});
    case ColumnType::duration:
      return py::module_::import("datetime")
          .attr("timedelta")(0, 0, static_cast<double>(column.int_at(row)) / 1e3);
  }
  return py::none();
}

std::string table_text(const Table& table, std::size_t rows_max) {
  const std::size_t rows = std::min(table.rows(), rows_max);
  std::vector<std::string> lines(rows + 1);
  for (std::size_t i = 0; i < table.columns_n(); ++i) {
    const Column& column = table.column(i);
    std::vector<std::string> cells{column.schema().name};
    for (std::size_t row = 0; row < rows; ++row) {
      const py::object value = cell(column, row);
      std::string text = value.is_none() ? "-" : std::string(py::str(value));
      if (column.schema().type == ColumnType::time && text.size() > 19) text.resize(19);
      cells.push_back(text.substr(0, 32));
    }
    std::size_t width = 0;
    for (const std::string& c : cells) width = std::max(width, c.size());
    const bool fits = lines.front().size() + width <= 140;
    for (std::size_t row = 0; row <= rows; ++row) {
      if (!fits) {
        lines[row] += "...";
        continue;
      }
      lines[row] += cells[row] + std::string(width - cells[row].size() + 2, ' ');
    }
    if (!fits) break;
  }
  std::string out;
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

py::capsule arrow_stream_capsule(std::shared_ptr<const Table> table) {
  auto stream = std::make_unique<ArrowArrayStream>();
  export_stream(std::move(table), stream.get());
  // A consumer that moved the stream out has set release to null.
  return py::capsule(stream.release(), "arrow_array_stream", [](PyObject* capsule) {
    auto* s = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, "arrow_array_stream"));
    if (s == nullptr) return;
    if (s->release != nullptr) s->release(s);
    delete s;
  });
}

void bind_table(py::module_& m) {
  py::class_<ColumnBuffer>(m, "_ColumnBuffer", py::buffer_protocol())
      .def_buffer([](const ColumnBuffer& b) {
        return py::buffer_info(const_cast<void*>(b.data), b.item_size, b.format, 1, {b.size},
                               {b.item_size}, true);
      });
  py::class_<PyTable> table(
      m, "Table",
      "A table of a Result: columns of equal length under a schema.\n\n"
      "``table['start']`` is a NumPy view, ``polars.DataFrame(table)`` and "
      "``pyarrow.table(table)``\n"
      "read it through the Arrow stream, ``to_pandas()``, ``to_polars()``, ``to_pydict()`` and\n"
      "``to_pylist()`` convert. Columns are those of the CSV files.\n\n"
      "Example:\n    >>> import fedsim as fs\n"
      "    >>> fed = fs.Federation.of(a='1x8 a100')\n"
      "    >>> table = fs.run(fed, [fs.Job('J1', gpus=6, time='2h')]).records\n"
      "    >>> table.to_pydict()['state']\n    ['COMPLETED']\n");
  bind_columns(table);
  table
      .def(
          "__arrow_c_stream__",
          [](const PyTable& t, const py::object&) { return arrow_stream_capsule(t.table); },
          py::arg("requested_schema") = py::none(),
          "__arrow_c_stream__(requested_schema=None)\n\n"
          "The Arrow PyCapsule protocol; the schema is the table's own whatever is requested.")
      .def("__repr__",
           [](const PyTable& t) {
             const std::size_t rows = t.table->rows();
             std::string out = "<Table '" + t.table->name() + "': " + std::to_string(rows) +
                               " rows, " + std::to_string(t.table->columns_n()) + " columns>\n" +
                               table_text(*t.table, 10);
             out.pop_back();
             return rows > 10 ? out + "\n..." : out;
           })
      .def("_repr_html_", &table_html, "The first 20 rows, for notebooks.");
}

}  // namespace fedsim::python
