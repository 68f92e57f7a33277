#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "text/chat_template/interpreter.h"
#include "text/chat_template/value.h"

namespace tandem::jinja {

/// A data attribute or method of the object itself, never an item of a dict; nothing when there is
/// none. What the sandbox hides is an undefined value that says so.
Result<std::optional<Value>> own_attribute(Interpreter& interpreter, const Value& object,
                                           std::string_view name);

}  // namespace tandem::jinja
