#pragma once

#include <optional>

#include "base/result.h"
#include "text/chat_template/value.h"

namespace tandem::jinja {

/// Number of items of a string (code points), list, tuple or range.
size_t sequence_size(const Value& sequence);

/// A slice resolved against a length: items start, start + step, ... before stop, count of them.
struct SliceBounds {
  Int start, stop, step;
  size_t count;
};

/// Python's slice.indices. None stands for a part left out. Errors: parts that are no integers, a
/// step of zero.
Result<SliceBounds> slice_bounds(const Value& start, const Value& stop, const Value& step,
                                 size_t size);

}  // namespace tandem::jinja
