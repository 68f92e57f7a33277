#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "text/chat_template/heap.h"
#include "text/chat_template/value.h"

namespace tandem::jinja {

/// Python's name of the value's type: "str", "dict", "NoneType", "Undefined".
std::string_view type_name(const Value& value);

/// The type as Jinja2 names it in messages: "dict object", "None".
std::string object_type(const Value& value);

/// Python's str(value) and repr(value).
std::string to_text(const Value& value, Heap& heap);
std::string to_repr(const Value& value, Heap& heap);
/// Python's ascii(value): the repr with everything beyond ASCII escaped.
std::string to_ascii_repr(const Value& value, Heap& heap);
void append_text(const Value& value, TextBuilder& out);
void append_repr(const Value& value, TextBuilder& out);
void append_string_repr(std::string_view text, TextBuilder& out);

/// Python's bool(value).
bool truthy(const Value& value);

/// Decimal digits; Python's repr of a float ("1.0", "1e+16", "inf").
std::string int_text(Int value);
std::string float_text(double value);

/// The error of using an undefined value.
tl::unexpected<Error> undefined_error(const Value& value);

/// Text with & < > ' and " as HTML entities.
std::string html_escaped(std::string_view text, Heap& heap);

/// The value as text for markup: safe strings as they are, anything else escaped.
std::string escaped_text(const Value& value, Heap& heap);

}  // namespace tandem::jinja
