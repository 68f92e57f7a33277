#include "text/chat_template/access.h"

// a.b, a["b"] and a[1:2]: Jinja2's order of lookup, Python's negative indices and slices.

#include "text/chat_template/cycler.h"
#include "text/chat_template/interpreter.h"
#include "text/chat_template/methods.h"
#include "text/chat_template/slices.h"
#include "text/chat_template/text_form.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

bool is_dunder(std::string_view name) {
  return name.size() > 4 && name.substr(0, 2) == "__" && name.substr(name.size() - 2) == "__";
}

Value item_at(Interpreter& interpreter, const Value& object, Int index) {
  Heap& heap = interpreter.heap();
  if (object.is_sequence()) return object.items()[static_cast<size_t>(index)];
  if (const auto* range = object.get<RangeObject>()) return Value::integer(range->at(index));
  const StringObject& string = object.string();
  const auto position = static_cast<size_t>(index);
  if (string.is_ascii()) return heap.string(string.text.substr(position, 1), string.safe);
  heap.work_on_text(string.text.size());
  const size_t begin = byte_offset(string.text, position);
  size_t end = begin;
  next_code_point(string.text, end);
  return heap.string(string.text.substr(begin, end - begin), string.safe);
}

/// object[key] alone, without attributes; nothing for Python's TypeError and LookupError.
std::optional<Value> own_item(Interpreter& interpreter, const Value& object, const Value& key) {
  if (object.is_dict()) {
    const Value* value = object.dict().entries.find(key);
    if (value == nullptr) return std::nullopt;
    return *value;
  }
  const bool indexable = object.is_sequence() || object.is_string() || object.is(Kind::kRange);
  if (!indexable || !key.is_integral()) return std::nullopt;
  const auto size = static_cast<Int>(sequence_size(object));
  Int index = key.as_int();
  if (index < 0 && index >= -size) index += size;
  if (index < 0 || index >= size) return std::nullopt;
  return item_at(interpreter, object, index);
}

Value missing(Interpreter& interpreter, const Value& object, const Value& key) {
  Heap& heap = interpreter.heap();
  if (key.is_string()) {
    return heap.undefined(
        fmt::format("'{}' has no attribute {}", object_type(object), to_repr(key, heap)));
  }
  return heap.undefined(
      fmt::format("{} has no element {}", object_type(object), to_repr(key, heap)));
}

}  // namespace

Result<std::optional<Value>> own_attribute(Interpreter& interpreter, const Value& object,
                                           std::string_view name) {
  Heap& heap = interpreter.heap();
  if (is_dunder(name) || is_hidden_method(object, name)) {
    return heap.undefined(
        fmt::format("access to attribute '{}' of '{}' object is unsafe.", name, type_name(object)));
  }
  if (const auto* name_space = object.get<NamespaceObject>()) {
    const Value* value = name_space->attributes.find(name);
    if (value == nullptr) return std::nullopt;
    return *value;
  }
  if (auto* loop = object.get<LoopBase>()) {
    TANDEM_TRY(Value value, loop->attribute(interpreter, name));
    return value;
  }
  if (auto* callable = object.get<CallableObject>()) return callable->attribute(interpreter, name);
  if (const auto* range = object.get<RangeObject>()) {
    if (name == "start") return Value::integer(range->start);
    if (name == "stop") return Value::integer(range->stop);
    if (name == "step") return Value::integer(range->step);
  }
  if (const auto* group = object.get<SequenceObject>(); group != nullptr && group->is_group) {
    if (name == "grouper") return group->items[0];
    if (name == "list") return group->items[1];
  }
  return find_method(heap, object, name);
}

Result<Value> get_attribute(Interpreter& interpreter, const Value& object, std::string_view name) {
  if (object.is_undefined()) return undefined_error(object);
  TANDEM_TRY(auto value, own_attribute(interpreter, object, name));
  if (value) return std::move(*value);
  if (object.is_dict()) {
    if (const Value* item = object.dict().entries.find(name)) return *item;
  }
  return missing(interpreter, object, interpreter.heap().string(std::string(name)));
}

Result<Value> get_item(Interpreter& interpreter, const Value& object, const Value& key) {
  if (object.is_undefined()) return undefined_error(object);
  if (auto item = own_item(interpreter, object, key)) return std::move(*item);
  if (key.is_string()) {
    TANDEM_TRY(auto value, own_attribute(interpreter, object, key.text()));
    if (value) return std::move(*value);
  }
  return missing(interpreter, object, key);
}

}  // namespace tandem::jinja
