#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/chat_template/heap.h"
#include "text/chat_template/value.h"

namespace tandem::jinja {

/// Python's format specification: [[fill]align][sign][#][0][width][grouping][.precision][type].
struct FormatSpec {
  char32_t fill = ' ';
  char align = 0;  ///< '<', '>', '^' or '='; 0: by type
  char sign = '-';
  bool coerce_zero = false;  ///< -0.0 prints as 0.0
  bool alternate = false;
  bool zero_pad = false;
  Int width = 0;
  char grouping = 0;  ///< ',' or '_'
  std::optional<int> precision;
  char type = 0;

  static Result<FormatSpec> parse(std::string_view text);
};

/// Python's format(value, spec). Errors as Python words them.
Result<std::string> format_value(Heap& heap, const Value& value, const FormatSpec& spec);

/// Digits and sign of numbers, before padding; `type` is a letter of the format language.
std::string int_digits(Int magnitude, int base, bool upper);
std::string float_digits(double magnitude, char type, int precision, bool alternate);

/// Text moved to the width of the spec; '=' puts the filling behind a sign or prefix of `n_prefix`
/// characters.
std::string aligned(Heap& heap, std::string text, const FormatSpec& spec, char default_align,
                    size_t n_prefix);

}  // namespace tandem::jinja
