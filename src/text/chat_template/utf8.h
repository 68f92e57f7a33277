#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem::jinja {

/// Strings of the engine are valid UTF-8 (checked where text comes in); positions that templates
/// see count code points, as Python's do.

/// Where the first byte lies that is not part of valid UTF-8, or npos.
size_t find_invalid_utf8(std::string_view text);

/// Number of code points of valid text.
size_t count_code_points(std::string_view text);

/// Byte offset of the code point with this index; the size of the text when there is none.
size_t byte_offset(std::string_view text, size_t index);

/// The code point at byte `at` of valid text; moves `at` behind it.
char32_t next_code_point(std::string_view text, size_t& at);

/// The byte offset where the code point that ends just before byte `end` begins. `end` > 0.
size_t previous_offset(std::string_view text, size_t end);

void append_utf8(std::string& text, char32_t code_point);

std::u32string to_code_points(std::string_view text);

}  // namespace tandem::jinja
