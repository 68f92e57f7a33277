#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/chat_template/heap.h"
#include "text/chat_template/value.h"

namespace tandem::jinja {

/// Python's strip family. `chars` null or None: white space; otherwise any of its characters.
Result<Value> strip(Heap& heap, const Value& text, const Value* chars, bool left, bool right);

/// str.replace; a negative `count` replaces all. `safe` marks the result.
Value replaced(Heap& heap, std::string_view text, std::string_view old,
               std::string_view replacement, Int count, bool safe);

/// str.splitlines: Unicode line ends, kept in the pieces when `keep_ends`.
std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends);

/// str.split and rsplit. `separator` nothing: at runs of white space. A negative limit splits all.
std::vector<std::string_view> split_text(std::string_view text,
                                         std::optional<std::string_view> separator, Int limit,
                                         bool from_right);

}  // namespace tandem::jinja
