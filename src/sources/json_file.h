#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tandem {

/// An object of a configuration file with typed reads. A missing member and null are the same. A
/// member of another type is kCorruptFile naming file, member and what was wanted.
class JsonConfig {
 public:
  /// Parses a text that must be one JSON object. `source` names it in messages.
  static Result<JsonConfig> parse(std::string source, std::string_view text);
  /// Reads a file of at most 64 MiB. Errors also: kNotFound, kIo.
  static Result<JsonConfig> load(const std::string& path);
  /// As `load`; an empty object when there is no such file.
  static Result<JsonConfig> load_if_present(const std::string& path);
  static Result<JsonConfig> from_value(std::string source, nlohmann::json value);

  const std::string& source() const { return source_; }
  const nlohmann::json& value() const { return value_; }
  /// Null when it is missing.
  const nlohmann::json* find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  void set(const std::string& name, nlohmann::json value) { value_[name] = std::move(value); }
  void erase(const std::string& name) { value_.erase(name); }

  Result<std::optional<uint32_t>> u32(std::string_view name) const;
  /// A float that is finite; integers count as floats.
  Result<std::optional<float>> f32(std::string_view name) const;
  Result<std::optional<bool>> boolean(std::string_view name) const;
  Result<std::optional<std::string>> string(std::string_view name) const;
  Result<std::optional<std::vector<float>>> floats(std::string_view name) const;
  Result<std::optional<std::vector<std::string>>> strings(std::string_view name) const;
  /// An integer or an array of them; empty when it is missing.
  Result<std::vector<uint32_t>> u32_list(std::string_view name) const;
  /// A nested object under "source: name"; nothing when it is missing.
  Result<std::optional<JsonConfig>> object(std::string_view name) const;

  /// As above, but a missing member is kCorruptFile too.
  Result<uint32_t> required_u32(std::string_view name) const;
  Result<std::string> required_string(std::string_view name) const;

  Result<uint32_t> u32_or(std::string_view name, uint32_t otherwise) const;
  Result<float> f32_or(std::string_view name, float otherwise) const;
  Result<bool> boolean_or(std::string_view name, bool otherwise) const;
  Result<std::string> string_or(std::string_view name, std::string otherwise) const;

 private:
  tl::unexpected<Error> mismatch(std::string_view name, std::string_view wanted) const;
  tl::unexpected<Error> missing(std::string_view name) const;

  std::string source_;
  nlohmann::json value_ = nlohmann::json::object();
};

/// A number that is an integer and not negative.
std::optional<uint64_t> as_size(const nlohmann::json& value);

/// The text of a file of at most `limit` bytes.
Result<std::string> read_text_file(const std::string& path, uint64_t limit);

}  // namespace tandem
