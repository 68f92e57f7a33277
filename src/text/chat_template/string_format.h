#pragma once

#include "base/result.h"
#include "text/chat_template/interpreter.h"

namespace tandem::jinja {

/// Python's text.format(*arguments): fields {}, {0}, {name}, {a.b}, {a[0]}, with conversions
/// (!r, !s) and format specifications, nested ones too. Attributes go through the sandbox.
Result<Value> string_format(Interpreter& interpreter, const Value& text, Arguments& arguments);

}  // namespace tandem::jinja
