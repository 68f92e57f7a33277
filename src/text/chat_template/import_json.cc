// JSON values into values of the engine.

#include <nlohmann/json.hpp>

#include "text/chat_template/interpreter.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

constexpr uint32_t kMaxJsonDepth = 200;

Result<Value> import_string(const std::string& text, Heap& heap) {
  const size_t invalid = find_invalid_utf8(text);
  if (invalid == std::string::npos) return heap.string(text);
  return failure(ErrorCode::kInvalidArgument,
                 "a variable holds text that is not valid UTF-8 (byte {})", invalid);
}

}  // namespace

Result<Value> import_json(const nlohmann::ordered_json& json, Heap& heap, uint32_t depth) {
  using Type = nlohmann::ordered_json::value_t;
  if (depth > kMaxJsonDepth) {
    return failure(ErrorCode::kUnsupported, "a variable is nested deeper than {} levels",
                   kMaxJsonDepth);
  }
  switch (json.type()) {
    case Type::null:
      return Value();
    case Type::boolean:
      return Value::boolean(json.get<bool>());
    case Type::number_integer:
      return Value::integer(json.get<int64_t>());
    case Type::number_unsigned:
      return Value::integer(json.get<uint64_t>());
    case Type::number_float:
      return Value::real(json.get<double>());
    case Type::string:
      return import_string(json.get_ref<const std::string&>(), heap);
    case Type::array: {
      std::vector<Value> items;
      items.reserve(json.size());
      for (const auto& item : json) {
        TANDEM_TRY(Value value, import_json(item, heap, depth + 1));
        items.push_back(std::move(value));
      }
      return heap.list(std::move(items));
    }
    case Type::object: {
      Dict dict;
      for (const auto& [key, member] : json.items()) {
        TANDEM_TRY(Value name, import_string(key, heap));
        TANDEM_TRY(Value value, import_json(member, heap, depth + 1));
        dict.set(std::move(name), std::move(value));
      }
      return heap.dict(std::move(dict));
    }
    case Type::binary:
    case Type::discarded:
      break;
  }
  return failure(ErrorCode::kInvalidArgument, "a variable holds a {} value", json.type_name());
}

}  // namespace tandem::jinja
