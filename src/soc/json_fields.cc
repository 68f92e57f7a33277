// Reads figures and names out of JSON with errors that name the field.

#include "soc/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tandem::soc {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxListed = 256;
const Json kNoObject = Json::object();

/// A value in an error message, cut to a line.
std::string shown(const Json& json) {
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 40) + "...";
  return text;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string known_types() {
  std::vector<std::string> names;
  for (int i = 0; i < kNumericTypes; ++i) names.push_back(to_string(static_cast<NumericType>(i)));
  return joined(names);
}

}  // namespace

void ReadState::fail(const std::string& path, const std::string& message) {
  if (error) return;
  error = Error{ErrorCode::kCorruptFile, fmt::format("{}: {}: {}", origin, path, message)};
}

Fields::Fields(ReadState& state, const Json& json, std::string path)
    : state_(&state), json_(&json), path_(std::move(path)) {
  if (json.is_object()) return;
  state.fail(path_.empty() ? "document" : path_, fmt::format("{} is not an object", shown(json)));
  json_ = &kNoObject;
}

std::string Fields::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void Fields::fail(std::string_view key, const std::string& message) {
  state_->fail(path_of(key), message);
}

const Json* Fields::find(std::string_view key) {
  known_.emplace_back(key);
  const auto found = json_->find(key);
  return found == json_->end() ? nullptr : &*found;
}

const Json* Fields::require(std::string_view key) {
  const Json* found = find(key);
  if (found == nullptr) fail(key, "is missing");
  return found;
}

bool Fields::has(std::string_view key) { return json_->contains(key); }

bool Fields::provenance(const Json& json, const std::string& path, Figure& out) {
  const auto source = json.find("source");
  if (source == json.end() || !source->is_string() ||
      source->get_ref<const std::string&>().empty()) {
    state_->fail(path + ".source", "is missing: every figure names where it comes from");
    return false;
  }
  out.source = source->get<std::string>();
  out.estimated = false;
  if (const auto estimated = json.find("estimated"); estimated != json.end()) {
    if (!estimated->is_boolean()) {
      state_->fail(path + ".estimated", fmt::format("{} is not true or false", shown(*estimated)));
      return false;
    }
    out.estimated = estimated->get<bool>();
  }
  for (const auto& [key, unused] : json.items()) {
    if (key == "value" || key == "values" || key == "source" || key == "estimated") continue;
    state_->fail(fmt::format("{}.{}", path, key),
                 "is not known; a figure has value, source and estimated");
    return false;
  }
  return true;
}

double Fields::figure(const Json& json, const std::string& path, Range range) {
  if (!json.is_object() || !json.contains("value")) {
    state_->fail(path, fmt::format("{} is not a figure {{\"value\": number, \"source\": \"...\"}}",
                                   shown(json)));
    return range.min * range.factor;
  }
  const Json& value = json["value"];
  if (!value.is_number()) {
    state_->fail(path + ".value", fmt::format("{} is not a number", shown(value)));
    return range.min * range.factor;
  }
  const double number = value.get<double>();
  if (!std::isfinite(number) || number < range.min || number > range.max) {
    state_->fail(path + ".value",
                 fmt::format("{} is outside {} to {}", shown(value), range.min, range.max));
    return range.min * range.factor;
  }
  Figure out{path, number, {}, false};
  if (provenance(json, path, out)) state_->figures.push_back(std::move(out));
  return number * range.factor;
}

double Fields::number(const char* key, Range range) {
  const Json* json = require(key);
  return json == nullptr ? range.min * range.factor : figure(*json, path_of(key), range);
}

double Fields::number_or(const char* key, Range range, double otherwise) {
  const Json* json = find(key);
  return json == nullptr ? otherwise : figure(*json, path_of(key), range);
}

std::optional<double> Fields::optional_number(const char* key, Range range) {
  const Json* json = find(key);
  if (json == nullptr) return std::nullopt;
  return figure(*json, path_of(key), range);
}

uint32_t Fields::count(const char* key, uint32_t min, uint32_t max) {
  const double value = number(key, {double(min), double(max)});
  if (value != std::floor(value)) fail(key, fmt::format("{} is not a whole number", value));
  return static_cast<uint32_t>(value);
}

uint32_t Fields::count_or(const char* key, uint32_t min, uint32_t max, uint32_t otherwise) {
  if (has(key)) return count(key, min, max);
  known_.emplace_back(key);
  return otherwise;
}

std::string Fields::text(const char* key) {
  const Json* json = require(key);
  if (json == nullptr) return {};
  if (json->is_string() && !json->get_ref<const std::string&>().empty()) {
    return json->get<std::string>();
  }
  fail(key, fmt::format("{} is not a text", shown(*json)));
  return {};
}

std::string Fields::text_or(const char* key, const std::string& otherwise) {
  if (has(key)) return text(key);
  known_.emplace_back(key);
  return otherwise;
}

bool Fields::flag_or(const char* key, bool otherwise) {
  const Json* json = find(key);
  if (json == nullptr) return otherwise;
  if (json->is_boolean()) return json->get<bool>();
  fail(key, fmt::format("{} is not true or false", shown(*json)));
  return otherwise;
}

Fields Fields::object(const char* key) {
  const Json* json = require(key);
  return Fields(*state_, json == nullptr ? kNoObject : *json, path_of(key));
}

std::vector<Fields> Fields::list(const char* key, size_t min) {
  std::vector<Fields> out;
  const Json* json = min == 0 ? find(key) : require(key);
  if (json == nullptr) return out;
  if (!json->is_array() || json->size() < min || json->size() > kMaxListed) {
    fail(key, fmt::format("is not a list of {} to {} objects", min, kMaxListed));
    return out;
  }
  for (size_t i = 0; i < json->size(); ++i) {
    out.emplace_back(*state_, (*json)[i], fmt::format("{}[{}]", path_of(key), i));
  }
  return out;
}

std::vector<std::string> Fields::texts(const char* key) {
  std::vector<std::string> out;
  const Json* json = find(key);
  if (json == nullptr) return out;
  if (!json->is_array() || json->size() > kMaxListed) {
    fail(key, fmt::format("is not a list of at most {} names", kMaxListed));
    return out;
  }
  for (const Json& item : *json) {
    if (!item.is_string()) {
      fail(key, fmt::format("{} is not a name", shown(item)));
      return out;
    }
    out.push_back(item.get<std::string>());
  }
  return out;
}

std::vector<uint32_t> Fields::counts(const char* key, uint32_t max) {
  std::vector<uint32_t> out;
  const Json* json = require(key);
  if (json == nullptr) return out;
  if (!json->is_object() || !json->contains("values") || !(*json)["values"].is_array()) {
    fail(key, R"(is not {"values": [numbers], "source": "..."})");
    return out;
  }
  Figure provenance_of_all{path_of(key), 0, {}, false};
  if (!provenance(*json, path_of(key), provenance_of_all)) return out;
  for (const Json& item : (*json)["values"]) {
    const uint32_t last = out.empty() ? 0 : out.back();
    if (!item.is_number_unsigned() || item.get<uint64_t>() > max || item.get<uint64_t>() <= last) {
      fail(key,
           fmt::format("{} is not a whole number above {} and at most {}", shown(item), last, max));
      return out;
    }
    out.push_back(item.get<uint32_t>());
    provenance_of_all.value = out.back();
    state_->figures.push_back(provenance_of_all);
  }
  return out;
}

std::optional<NumericType> Fields::type(const char* key) {
  const std::string name = text(key);
  const auto type = numeric_type_from(name);
  if (!type) fail(key, fmt::format("type \"{}\" is not known; known are {}", name, known_types()));
  return type;
}

std::vector<NumericType> Fields::types(const char* key) {
  std::vector<NumericType> out;
  for (const std::string& name : texts(key)) {
    const auto type = numeric_type_from(name);
    if (type) {
      out.push_back(*type);
    } else {
      fail(key, fmt::format("type \"{}\" is not known; known are {}", name, known_types()));
    }
  }
  return out;
}

TypeTable Fields::type_table(const char* key, Range range) {
  TypeTable out;
  const Json* json = require(key);
  if (json == nullptr) return out;
  if (!json->is_object() || json->empty()) {
    fail(key, "is not an object of figures by type");
    return out;
  }
  for (const auto& [name, value] : json->items()) {
    const std::string path = fmt::format("{}.{}", path_of(key), name);
    const auto type = numeric_type_from(name);
    if (!type) {
      state_->fail(path,
                   fmt::format("type \"{}\" is not known; known are {}", name, known_types()));
      return out;
    }
    out.push_back({*type, figure(value, path, range)});
  }
  return out;
}

void Fields::finish() {
  for (const auto& [key, unused] : json_->items()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    fail(key, fmt::format("is not known; known are {}", joined(known_)));
    return;
  }
}

}  // namespace tandem::soc
