// Typed columns and tables (table.hpp): the data behind CSV, Arrow and NumPy.
#include "fedsim/table.hpp"

#include <limits>
#include <stdexcept>

#include "fedsim/error.hpp"

namespace fedsim {

namespace {
constexpr std::int64_t kNullInt = std::numeric_limits<std::int64_t>::min();
}

Column::Column(ColumnSchema schema) : schema_(std::move(schema)) {}

// The bitmap exists only from the first null on: most columns never pay for one.
void Column::mark(bool valid) {
  if (!valid && validity_.empty()) {
    validity_.assign(size_ / 8 + 1, 0xFF);
    validity_.back() = static_cast<std::uint8_t>((1U << (size_ % 8)) - 1U);
  }
  if (!valid) {
    FEDSIM_CHECK(schema_.nullable, "no value for column " + schema_.name);
    ++nulls_;
  }
  if (!validity_.empty()) {
    if (validity_.size() * 8 <= size_) validity_.push_back(0);
    if (valid) {
      validity_[size_ / 8] = static_cast<std::uint8_t>(validity_[size_ / 8] | (1U << (size_ % 8)));
    }
  }
  ++size_;
}

void Column::push_int(std::int64_t v) {
  FEDSIM_DCHECK(schema_.type == ColumnType::int64 || schema_.type == ColumnType::duration,
                "integer for column " + schema_.name);
  mark(v != kNullInt);
  ints_.push_back(v);
}

void Column::push_float(double v) {
  FEDSIM_DCHECK(schema_.type == ColumnType::float64, "number for column " + schema_.name);
  mark(true);
  floats_.push_back(v);
}

void Column::push_bool(bool v) {
  FEDSIM_DCHECK(schema_.type == ColumnType::boolean, "truth value for column " + schema_.name);
  mark(true);
  ints8_.push_back(v ? 1 : 0);
}

void Column::push_text(std::string_view v) {
  FEDSIM_DCHECK(schema_.type == ColumnType::text, "text for column " + schema_.name);
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  FEDSIM_CHECK(texts_.bytes.size() + v.size() <= most, "more than 2 GiB in column " + schema_.name);
  mark(true);
  texts_.push_back(v);
}

void Column::push_time(SimTime t) {
  FEDSIM_DCHECK(schema_.type == ColumnType::time, "instant for column " + schema_.name);
  mark(t != kNoTime);
  ints_.push_back(t.time_since_epoch().count());
}

void Column::push_null() {
  mark(false);
  switch (schema_.type) {
    case ColumnType::int64:
    case ColumnType::time:
    case ColumnType::duration:
      ints_.push_back(kNullInt);
      break;
    case ColumnType::float64:
      floats_.push_back(std::numeric_limits<double>::quiet_NaN());
      break;
    case ColumnType::boolean:
      ints8_.push_back(0);
      break;
    case ColumnType::text:
      texts_.push_back({});
      break;
  }
}

void Column::reserve(std::size_t n) {
  switch (schema_.type) {
    case ColumnType::int64:
    case ColumnType::time:
    case ColumnType::duration:
      ints_.reserve(n);
      break;
    case ColumnType::float64:
      floats_.reserve(n);
      break;
    case ColumnType::boolean:
      ints8_.reserve(n);
      break;
    case ColumnType::text:
      texts_.offsets.reserve(n + 1);
      break;
  }
}

Table::Table(std::string name, std::vector<ColumnSchema> schema) : name_(std::move(name)) {
  columns_.reserve(schema.size());
  for (ColumnSchema& s : schema) columns_.emplace_back(std::move(s));
}

const Column& Table::operator[](std::string_view name) const {
  std::string have;
  for (const Column& c : columns_) {
    if (c.schema().name == name) return c;
    have += (have.empty() ? "" : ", ") + c.schema().name;
  }
  throw std::out_of_range("table " + name_ + " has no column \"" + std::string(name) +
                          "\"; it has " + have);
}

}  // namespace fedsim
