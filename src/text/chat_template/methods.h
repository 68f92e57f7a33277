#pragma once

#include <optional>
#include <string_view>

#include "text/chat_template/builtins.h"
#include "text/chat_template/interpreter.h"

namespace tandem::jinja {

/// The method of a string, list, tuple, dict or number as a callable value; nothing when the type
/// has no such method, or only one that the sandbox hides (see is_hidden_method).
std::optional<Value> find_method(Heap& heap, const Value& self, std::string_view name);

/// Methods Python has that change the object: the sandbox refuses them.
bool is_hidden_method(const Value& self, std::string_view name);

/// The tables find_method searches; `function` gets the object as its input.
std::span<const Builtin> string_case_methods();
std::span<const Builtin> string_search_methods();
std::span<const Builtin> string_split_methods();
std::span<const Builtin> string_format_methods();
std::span<const Builtin> sequence_methods();
std::span<const Builtin> dict_methods();
std::span<const Builtin> int_methods();
std::span<const Builtin> float_methods();

}  // namespace tandem::jinja
