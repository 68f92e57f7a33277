#pragma once

#include <cstddef>

#include "base/result.h"
#include "text/chat_template/value.h"

namespace tandem::jinja {

/// Python's ==, for values of any kinds.
bool equal(const Value& a, const Value& b);

/// Equal values have equal hashes. For hashable values; anything else hashes by identity.
size_t hash(const Value& value);

/// Fails with Python's "unhashable type" for lists and dicts, also inside tuples.
Result<void> check_hashable(const Value& value);

/// Python's <, <=, >, >=; `op` is one of these texts. Fails for kinds without an order.
Result<bool> ordered(const Value& a, const char* op, const Value& b);

}  // namespace tandem::jinja
