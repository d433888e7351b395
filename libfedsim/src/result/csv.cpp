// CSV of a table: RFC 4180 quoting, "\n" line ends, a missing value is an empty field.
#include "fedsim/result.hpp"
#include "result/number.hpp"

namespace fedsim {
namespace {

void append_quoted(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

struct Times {
  TimeStyle style;
  SimTime t0;
};

void append_cell(std::string& out, const Column& column, std::size_t row, const Times& times) {
  if (column.is_null(row)) return;
  switch (column.schema().type) {
    case ColumnType::int64:
      append_integer(out, column.int_at(row));
      break;
    case ColumnType::float64:
      append_number(out, column.float_at(row));
      break;
    case ColumnType::boolean:
      out += column.bool_at(row) ? "true" : "false";
      break;
    case ColumnType::text:
      append_quoted(out, column.text_at(row));
      break;
    case ColumnType::duration:
      append_seconds(out, column.int_at(row));
      break;
    case ColumnType::time:
      if (times.style == TimeStyle::relative) {
        append_seconds(out, column.int_at(row) - times.t0.time_since_epoch().count());
      } else {
        append_iso(out, SimTime{Duration{column.int_at(row)}});
      }
      break;
  }
}

}  // namespace

std::string to_csv(const Table& table, TimeStyle style, SimTime t0) {
  const Times times{style, t0};
  std::string out;
  out.reserve(table.rows() * table.columns_n() * 8 + 256);
  for (std::size_t c = 0; c < table.columns_n(); ++c) {
    if (c > 0) out += ',';
    append_quoted(out, table.column(c).schema().name);
  }
  out += '\n';
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t c = 0; c < table.columns_n(); ++c) {
      if (c > 0) out += ',';
      append_cell(out, table.column(c), row, times);
    }
    out += '\n';
  }
  return out;
}

}  // namespace fedsim
