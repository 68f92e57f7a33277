#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/chat_template/value.h"

namespace tandem::jinja {

/// A number at the beginning of template source.
struct NumberLiteral {
  size_t length = 0;
  bool is_float = false;
  bool too_large = false;  ///< an integer past 128 bits
  Int integer = 0;
  double real = 0;
};

/// Reads the number that `text` begins with; its first character is an ASCII digit.
NumberLiteral scan_number(std::string_view text, bool may_be_float);

/// The inside of a string literal with Python's escapes resolved. Escapes that make half a
/// character (surrogates) and names (\N{...}) are errors.
Result<std::string> unescaped(std::string_view inside);

/// Python's int(text, base); nothing when Python would raise ValueError, or past 128 bits.
std::optional<Int> parse_int(std::string_view text, int base);

/// Python's float(text); nothing when Python would raise ValueError.
std::optional<double> parse_float(std::string_view text);

}  // namespace tandem::jinja
