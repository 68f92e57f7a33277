#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/chat_template/heap.h"
#include "text/chat_template/value.h"

namespace tandem::jinja {

/// Byte offset of the first occurrence at or after `from`, or npos. Linear, whatever the texts.
size_t find_text(std::string_view text, std::string_view wanted, size_t from = 0);

/// Byte offset of the last occurrence, or npos. Counts its worst case as steps, and does nothing
/// when they run out.
size_t find_last_text(Heap& heap, std::string_view text, std::string_view wanted);

/// Python's strip family. `chars` null or None: white space; otherwise any of its characters.
Result<Value> strip(Heap& heap, const Value& text, const Value* chars, bool left, bool right);

/// str.replace; a negative `count` replaces all. `safe` marks the result.
Value replaced(Heap& heap, std::string_view text, std::string_view old,
               std::string_view replacement, Int count, bool safe);

/// str.splitlines: Unicode line ends, kept in the pieces when `keep_ends`.
/// Stops when the heap cannot hold the pieces, as split_text does.
std::vector<std::string_view> split_lines(Heap& heap, std::string_view text, bool keep_ends);

/// str.split and rsplit. `separator` nothing: at runs of white space. A negative limit splits all.
std::vector<std::string_view> split_text(Heap& heap, std::string_view text,
                                         std::optional<std::string_view> separator, Int limit,
                                         bool from_right);

}  // namespace tandem::jinja
