// The part of a request's tool schemas that reply parsing needs.

#include "text/reply/tool_types.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tandem {
namespace {

using Json = nlohmann::json;

const Json* member(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() ? &*found : nullptr;
}

bool is_string_schema(const Json& schema) {
  if (const Json* type = member(schema, "type")) return *type == "string";
  const Json* values = member(schema, "enum");
  return values != nullptr && values->is_array() && !values->empty() &&
         std::all_of(values->begin(), values->end(), [](const Json& v) { return v.is_string(); });
}

}  // namespace

Result<ToolTypes> ToolTypes::parse(std::string_view tools_json) {
  const Json json = Json::parse(tools_json, nullptr, false);
  if (!json.is_array()) {
    return failure(ErrorCode::kInvalidArgument, "tools: must be a JSON array of functions");
  }
  ToolTypes types;
  for (size_t i = 0; i < json.size(); ++i) {
    const Json* nested = member(json[i], "function");
    const Json& function = nested != nullptr ? *nested : json[i];
    const Json* name = member(function, "name");
    if (name == nullptr || !name->is_string()) {
      return failure(ErrorCode::kInvalidArgument, "tools[{}]: has no name", i);
    }
    auto& strings = types.strings_[name->get<std::string>()];
    const Json* parameters = member(function, "parameters");
    const Json* properties = parameters != nullptr ? member(*parameters, "properties") : nullptr;
    if (properties == nullptr || !properties->is_object()) continue;
    for (const auto& [key, schema] : properties->items()) {
      if (is_string_schema(schema)) strings.insert(key);
    }
  }
  return types;
}

bool ToolTypes::is_string(std::string_view tool, std::string_view parameter) const {
  const auto found = strings_.find(tool);
  return found != strings_.end() && found->second.find(parameter) != found->second.end();
}

}  // namespace tandem
