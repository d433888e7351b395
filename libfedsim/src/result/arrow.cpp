// Arrow C data interface: a table as a stream of one struct array whose children point into the
// columns.
//
// Each exported struct owns itself: a consumer may move children out and release them in any order,
// so every array holds its own share of the table. Errors are errno values, as the interface wants.
#include "fedsim/arrow.hpp"

#include <cerrno>
#include <new>
#include <string>
#include <vector>

namespace fedsim {
namespace {

using TablePtr = std::shared_ptr<const Table>;

const char* arrow_format(ColumnType type) {
  switch (type) {
    case ColumnType::int64:
      return "l";
    case ColumnType::float64:
      return "g";
    case ColumnType::boolean:
      return "b";
    case ColumnType::text:
      return "u";
    case ColumnType::time:
      return "tsn:UTC";
    case ColumnType::duration:
      return "tDn";
  }
  return "";
}

// Arrow's encoding of key-value pairs: count, then length and bytes of each, native int32.
std::string metadata(const ColumnSchema& column) {
  std::string out;
  const auto put_int = [&out](std::size_t v) {
    const auto n = static_cast<std::int32_t>(v);
    out.append(reinterpret_cast<const char*>(&n), sizeof n);
  };
  const auto put = [&](std::string_view text) {
    put_int(text.size());
    out += text;
  };
  put_int(column.unit.empty() ? 1 : 2);
  put("doc");
  put(column.doc);
  if (!column.unit.empty()) {
    put("unit");
    put(column.unit);
  }
  return out;
}

struct SchemaData {
  std::string name;
  std::string metadata;
  std::vector<std::unique_ptr<ArrowSchema>> children;
  std::vector<ArrowSchema*> child_pointers;
};

void release_schema(ArrowSchema* schema) {
  auto* data = static_cast<SchemaData*>(schema->private_data);
  for (const auto& child : data->children) {
    if (child->release != nullptr) child->release(child.get());
  }
  schema->release = nullptr;
  delete data;
}

void fill_schema(ArrowSchema* out, const char* format, std::int64_t flags,
                 std::unique_ptr<SchemaData> data) {
  for (const auto& child : data->children) data->child_pointers.push_back(child.get());
  *out = ArrowSchema{.format = format,
                     .name = data->name.c_str(),
                     .metadata = data->metadata.empty() ? nullptr : data->metadata.data(),
                     .flags = flags,
                     .n_children = static_cast<std::int64_t>(data->children.size()),
                     .children = data->child_pointers.data(),
                     .dictionary = nullptr,
                     .release = release_schema,
                     .private_data = data.get()};
  data.release();
}

void export_schema(const Table& table, ArrowSchema* out) {
  auto root = std::make_unique<SchemaData>();
  for (std::size_t i = 0; i < table.columns_n(); ++i) {
    const ColumnSchema& column = table.column(i).schema();
    auto data = std::make_unique<SchemaData>();
    data->name = column.name;
    data->metadata = metadata(column);
    auto child = std::make_unique<ArrowSchema>();
    fill_schema(child.get(), arrow_format(column.type), column.nullable ? ARROW_FLAG_NULLABLE : 0,
                std::move(data));
    root->children.push_back(std::move(child));
  }
  fill_schema(out, "+s", 0, std::move(root));
}

struct ArrayData {
  TablePtr table;
  std::vector<std::uint8_t> bits;  // packed truth values
  std::vector<const void*> buffers;
  std::vector<std::unique_ptr<ArrowArray>> children;
  std::vector<ArrowArray*> child_pointers;
};

void release_array(ArrowArray* array) {
  auto* data = static_cast<ArrayData*>(array->private_data);
  for (const auto& child : data->children) {
    if (child->release != nullptr) child->release(child.get());
  }
  array->release = nullptr;
  delete data;
}

void fill_array(ArrowArray* out, std::size_t length, std::size_t nulls,
                std::unique_ptr<ArrayData> data) {
  for (const auto& child : data->children) data->child_pointers.push_back(child.get());
  *out = ArrowArray{.length = static_cast<std::int64_t>(length),
                    .null_count = static_cast<std::int64_t>(nulls),
                    .offset = 0,
                    .n_buffers = static_cast<std::int64_t>(data->buffers.size()),
                    .n_children = static_cast<std::int64_t>(data->children.size()),
                    .buffers = data->buffers.data(),
                    .children = data->child_pointers.data(),
                    .dictionary = nullptr,
                    .release = release_array,
                    .private_data = data.get()};
  data.release();
}

std::vector<std::uint8_t> pack_bits(std::span<const std::uint8_t> bytes) {
  std::vector<std::uint8_t> bits((bytes.size() + 7) / 8 + 1, 0);  // never without a buffer
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != 0) bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (1U << (i % 8)));
  }
  return bits;
}

// The address of a column's values; of a static word where an empty vector has none.
const void* address(const void* data) {
  static constexpr std::int64_t nothing = 0;
  return data != nullptr ? data : &nothing;
}

void export_column(const TablePtr& table, const Column& column, ArrowArray* out) {
  auto data = std::make_unique<ArrayData>();
  data->table = table;
  data->buffers.push_back(column.null_count() > 0 ? column.validity().data() : nullptr);
  switch (column.schema().type) {
    case ColumnType::int64:
    case ColumnType::time:
    case ColumnType::duration:
      data->buffers.push_back(address(column.ints().data()));
      break;
    case ColumnType::float64:
      data->buffers.push_back(address(column.floats().data()));
      break;
    case ColumnType::boolean:
      data->bits = pack_bits(column.bools());
      data->buffers.push_back(data->bits.data());
      break;
    case ColumnType::text:
      data->buffers.push_back(column.texts().offsets.data());
      data->buffers.push_back(column.texts().bytes.data());
      break;
  }
  fill_array(out, column.size(), column.null_count(), std::move(data));
}

void export_batch(const TablePtr& table, ArrowArray* out) {
  auto root = std::make_unique<ArrayData>();
  root->table = table;
  root->buffers.push_back(nullptr);
  for (std::size_t i = 0; i < table->columns_n(); ++i) {
    auto child = std::make_unique<ArrowArray>();
    export_column(table, table->column(i), child.get());
    root->children.push_back(std::move(child));
  }
  fill_array(out, table->rows(), 0, std::move(root));
}

struct StreamData {
  TablePtr table;
  bool done = false;
};

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  try {
    export_schema(*static_cast<StreamData*>(stream->private_data)->table, out);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  auto* data = static_cast<StreamData*>(stream->private_data);
  if (data->done) {
    *out = ArrowArray{};  // a released array says: no more
    return 0;
  }
  try {
    export_batch(data->table, out);
    data->done = true;
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

const char* get_last_error(ArrowArrayStream*) {
  return "out of memory";
}

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<StreamData*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace

void export_stream(std::shared_ptr<const Table> table, ArrowArrayStream* out) {
  auto data = std::make_unique<StreamData>();
  data->table = std::move(table);
  *out = ArrowArrayStream{.get_schema = get_schema,
                          .get_next = get_next,
                          .get_last_error = get_last_error,
                          .release = release_stream,
                          .private_data = data.release()};
}

}  // namespace fedsim
