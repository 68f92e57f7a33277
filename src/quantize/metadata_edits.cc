#include "quantize/metadata_edits.h"

#include <charconv>
#include <cmath>

namespace tandem {
namespace {

template <class T>
Result<MetadataValue> number(std::string_view key, std::string_view text, std::string_view type) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool good = error == std::errc() && end == text.data() + text.size();
  if constexpr (std::is_floating_point_v<T>) good = good && std::isfinite(value);
  if (good) return MetadataValue(value);
  return failure(ErrorCode::kInvalidArgument, "key '{}': \"{}\" is no {}", key, text, type);
}

Result<MetadataValue> parse_value(std::string_view key, std::string_view type,
                                  std::string_view text) {
  if (type == "str" || type == "string") return MetadataValue(std::string(text));
  if (type == "u32") return number<uint32_t>(key, text, type);
  if (type == "i32") return number<int32_t>(key, text, type);
  if (type == "u64") return number<uint64_t>(key, text, type);
  if (type == "i64") return number<int64_t>(key, text, type);
  if (type == "f32") return number<float>(key, text, type);
  if (type == "bool" && (text == "true" || text == "false")) return MetadataValue(text == "true");
  return failure(
      ErrorCode::kInvalidArgument,
      "key '{}': \"{}\" is no value of type {}; types are str, u32, i32, u64, i64, f32 and "
      "bool (true, false)",
      key, text, type);
}

void remove_key(std::string_view key, Metadata& metadata) {
  Metadata out(metadata.source());
  for (const auto& [name, value] : metadata.entries()) {
    if (name != key) out.set(name, value);
  }
  metadata = std::move(out);
}

}  // namespace

Result<void> apply_key_edit(std::string_view text, Metadata& metadata) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return failure(ErrorCode::kInvalidArgument, "\"{}\" is not of the form KEY=TYPE:VALUE", text);
  }
  const std::string_view key = text.substr(0, equals), rest = text.substr(equals + 1);
  if (rest.empty()) {
    remove_key(key, metadata);
    return {};
  }
  for (const std::string_view type : {"str", "u32", "i32", "u64", "i64", "f32", "bool"}) {
    if (!rest.starts_with(type) || rest.substr(type.size()).substr(0, 1) != ":") continue;
    TANDEM_TRY(MetadataValue value, parse_value(key, type, rest.substr(type.size() + 1)));
    metadata.set(std::string(key), std::move(value));
    return {};
  }
  const MetadataValue* old = metadata.find(key);
  if (old == nullptr) {
    return failure(
        ErrorCode::kInvalidArgument,
        "key '{}' is new, so its type is needed: {}=TYPE:VALUE with str, u32, i32, u64, i64, "
        "f32 or bool",
        key, key);
  }
  TANDEM_TRY(MetadataValue value, parse_value(key, type_name(*old), rest));
  metadata.set(std::string(key), std::move(value));
  return {};
}

Result<void> set_context_window(uint32_t n, Metadata& metadata) {
  TANDEM_TRY(const std::string architecture, metadata.string("general.architecture"));
  const std::string key = architecture + ".context_length";
  TANDEM_TRY(const uint32_t trained, metadata.u32(key));
  if (n == 0 || n > trained) {
    return failure(
        ErrorCode::kInvalidArgument,
        "context window is {}, must be between 1 and {}, which the model was trained for", n,
        trained);
  }
  metadata.set(key, n);
  return {};
}

}  // namespace tandem
