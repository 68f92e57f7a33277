#pragma once
#include "text/chat_template/interpreter.h"
namespace tandem::jinja {
/// Python's `format % arguments` for strings.
Result<Value> percent_format(Interpreter& interpreter, const Value& format, const Value& arguments);
}  // namespace tandem::jinja
