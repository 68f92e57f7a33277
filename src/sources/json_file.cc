// Typed reads of configuration files.

#include "sources/json_file.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/mapped_file.h"

namespace tandem {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMaxConfigBytes = uint64_t{64} << 20;

std::string shortened(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 60) + "...";
  return text;
}

std::optional<uint32_t> as_u32(const Json& value) {
  const auto size = as_size(value);
  if (!size || *size > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(*size);
}

std::optional<float> as_f32(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  if (!(std::abs(number) <= std::numeric_limits<float>::max())) return std::nullopt;
  return static_cast<float>(number);
}

}  // namespace

std::optional<uint64_t> as_size(const Json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  if (value.is_number_integer() && value.get<int64_t>() >= 0) return value.get<uint64_t>();
  return std::nullopt;
}

Result<std::string> read_text_file(const std::string& path, uint64_t limit) {
  TANDEM_TRY(const auto file, MappedFile::open(path));
  const auto bytes = file->bytes();
  if (bytes.size() > limit) {
    return failure(ErrorCode::kCorruptFile, "{}: has {} bytes, limit {}", path, bytes.size(),
                   limit);
  }
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<JsonConfig> JsonConfig::from_value(std::string source, Json value) {
  if (!value.is_object()) {
    return failure(ErrorCode::kCorruptFile, "{}: is not a JSON object", source);
  }
  JsonConfig config;
  config.source_ = std::move(source);
  config.value_ = std::move(value);
  return config;
}

Result<JsonConfig> JsonConfig::parse(std::string source, std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return from_value(std::move(source), Json::parse(text, nullptr, false));
}

Result<JsonConfig> JsonConfig::load(const std::string& path) {
  TANDEM_TRY(const std::string text, read_text_file(path, kMaxConfigBytes));
  return parse(path, text);
}

Result<JsonConfig> JsonConfig::load_if_present(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return load(path);
  return from_value(path, Json::object());
}

const Json* JsonConfig::find(std::string_view name) const {
  const auto found = value_.find(name);
  return found == value_.end() || found->is_null() ? nullptr : &*found;
}

tl::unexpected<Error> JsonConfig::mismatch(std::string_view name, std::string_view wanted) const {
  return failure(ErrorCode::kCorruptFile, "{}: {} is {}, must be {}", source_, name,
                 shortened(value_.at(std::string(name))), wanted);
}

tl::unexpected<Error> JsonConfig::missing(std::string_view name) const {
  return failure(ErrorCode::kCorruptFile, "{}: {} is missing", source_, name);
}

Result<std::optional<uint32_t>> JsonConfig::u32(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto number = as_u32(*value);
  if (!number) return mismatch(name, "an integer from 0 to 4294967295");
  return number;
}

Result<std::optional<float>> JsonConfig::f32(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto number = as_f32(*value);
  if (!number) return mismatch(name, "a finite number");
  return number;
}

Result<std::optional<bool>> JsonConfig::boolean(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) return mismatch(name, "true or false");
  return value->get<bool>();
}

Result<std::optional<std::string>> JsonConfig::string(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) return mismatch(name, "a string");
  return value->get<std::string>();
}

Result<std::optional<std::vector<float>>> JsonConfig::floats(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) return mismatch(name, "an array of finite numbers");
  std::vector<float> out;
  for (const Json& item : *value) {
    const auto number = as_f32(item);
    if (!number) return mismatch(name, "an array of finite numbers");
    out.push_back(*number);
  }
  return out;
}

Result<std::optional<std::vector<std::string>>> JsonConfig::strings(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) return mismatch(name, "an array of strings");
  std::vector<std::string> out;
  for (const Json& item : *value) {
    if (!item.is_string()) return mismatch(name, "an array of strings");
    out.push_back(item.get<std::string>());
  }
  return out;
}

Result<std::vector<uint32_t>> JsonConfig::u32_list(std::string_view name) const {
  const Json* value = find(name);
  std::vector<uint32_t> out;
  if (value == nullptr) return out;
  const Json list = value->is_array() ? *value : Json::array({*value});
  for (const Json& item : list) {
    const auto number = as_u32(item);
    if (!number) return mismatch(name, "an id or an array of ids");
    out.push_back(*number);
  }
  return out;
}

Result<std::optional<JsonConfig>> JsonConfig::object(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) return mismatch(name, "an object");
  TANDEM_TRY(JsonConfig nested, from_value(fmt::format("{}: {}", source_, name), *value));
  return nested;
}

Result<uint32_t> JsonConfig::required_u32(std::string_view name) const {
  TANDEM_TRY(const auto value, u32(name));
  if (!value) return missing(name);
  return *value;
}

Result<std::string> JsonConfig::required_string(std::string_view name) const {
  TANDEM_TRY(auto value, string(name));
  if (!value) return missing(name);
  return *std::move(value);
}

Result<uint32_t> JsonConfig::u32_or(std::string_view name, uint32_t otherwise) const {
  TANDEM_TRY(const auto value, u32(name));
  return value.value_or(otherwise);
}

Result<float> JsonConfig::f32_or(std::string_view name, float otherwise) const {
  TANDEM_TRY(const auto value, f32(name));
  return value.value_or(otherwise);
}

Result<bool> JsonConfig::boolean_or(std::string_view name, bool otherwise) const {
  TANDEM_TRY(const auto value, boolean(name));
  return value.value_or(otherwise);
}

Result<std::string> JsonConfig::string_or(std::string_view name, std::string otherwise) const {
  TANDEM_TRY(auto value, string(name));
  return value ? *std::move(value) : std::move(otherwise);
}

}  // namespace tandem
