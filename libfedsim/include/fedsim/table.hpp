// Column tables: schema declared once, data as typed columns, shared by CSV, Arrow, NumPy and docs.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fedsim/time.hpp"

namespace fedsim {

/// Text columns: int32 offsets into one buffer, the layout of Arrow's utf8.
struct TextColumn {
  std::vector<std::int32_t> offsets{0};
  std::string bytes;
  void push_back(std::string_view text) {
    bytes.append(text);
    offsets.push_back(static_cast<std::int32_t>(bytes.size()));
  }
  std::size_t size() const { return offsets.size() - 1; }
  std::string_view operator[](std::size_t i) const {
    return std::string_view{bytes}.substr(static_cast<std::size_t>(offsets[i]),
                                          static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
  }
};

enum class ColumnType { int64, float64, boolean, text, time, duration };

/// One column's declaration. `unit` is "" or e.g. "MiB"; `nullable` columns have a validity bitmap.
struct ColumnSchema {
  std::string name;
  ColumnType type = ColumnType::int64;
  std::string unit;
  bool nullable = false;
  std::string doc;
};

/// Missing values of int64, time and duration columns are INT64_MIN and a cleared validity bit.
class Column {
 public:
  explicit Column(ColumnSchema schema);

  const ColumnSchema& schema() const { return schema_; }
  std::size_t size() const { return size_; }

  void push_int(std::int64_t v);  ///< int64 and duration (ns)
  void push_float(double v);
  void push_bool(bool v);
  void push_text(std::string_view v);
  void push_time(SimTime t);  ///< kNoTime is null
  void push_null();
  void reserve(std::size_t n);

  bool is_null(std::size_t i) const { return nulls_ != 0 && !((validity_[i / 8] >> (i % 8)) & 1U); }
  std::int64_t int_at(std::size_t i) const { return ints_[i]; }
  double float_at(std::size_t i) const { return floats_[i]; }
  bool bool_at(std::size_t i) const { return ints8_[i] != 0; }
  std::string_view text_at(std::size_t i) const { return texts_[i]; }

  std::span<const std::int64_t> ints() const { return ints_; }
  std::span<const double> floats() const { return floats_; }
  std::span<const std::uint8_t> bools() const { return ints8_; }  ///< one byte a value
  const TextColumn& texts() const { return texts_; }
  std::size_t null_count() const { return nulls_; }
  std::span<const std::uint8_t> validity() const { return validity_; }  ///< Arrow bit order

 private:
  void mark(bool valid);
  ColumnSchema schema_;
  std::size_t size_ = 0;
  std::size_t nulls_ = 0;
  std::vector<std::int64_t> ints_;
  std::vector<double> floats_;
  std::vector<std::uint8_t> ints8_;
  TextColumn texts_;
  std::vector<std::uint8_t> validity_;
};

/// Equal-length columns under a name ("jobs", "records", ...).
class Table {
 public:
  Table() = default;
  Table(std::string name, std::vector<ColumnSchema> schema);
  const std::string& name() const { return name_; }
  std::size_t rows() const { return columns_.empty() ? 0 : columns_.front().size(); }
  std::size_t columns_n() const { return columns_.size(); }
  Column& column(std::size_t i) { return columns_[i]; }
  const Column& column(std::size_t i) const { return columns_[i]; }
  /// Throws std::out_of_range naming the column and the ones there are.
  const Column& operator[](std::string_view name) const;

 private:
  std::string name_;
  std::vector<Column> columns_;
};

}  // namespace fedsim
