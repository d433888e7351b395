// Result tables for Arrow readers (pandas, polars, duckdb, pyarrow) without linking Arrow.
//
// The structs are those of the Arrow C data and C stream interfaces, which are an ABI: they may be
// declared by several libraries, hence the guard macros of the specification.
#pragma once

#include <cstdint>
#include <memory>

#include "fedsim/table.hpp"

extern "C" {

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

#endif  // ARROW_C_STREAM_INTERFACE

}  // extern "C"

namespace fedsim {

/// Fills `out` with a stream of one record batch that shares the table's memory; truth values are
/// packed into bits, the only copy. Stream and arrays keep the table alive; the consumer calls
/// release().
/// int64 'l', float64 'g', bool 'b', text 'u', time 'tsn:UTC', duration 'tDn'.
void export_stream(std::shared_ptr<const Table> table, ArrowArrayStream* out);

}  // namespace fedsim
