#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace tandem {

/// An array of arrays. No known key holds one, so it is kept as it was read and only written again.
struct NestedArray {
  uint64_t n_elements = 0;         ///< of the outermost array
  std::vector<std::byte> encoded;  ///< in GGUF's encoding: element type, count, elements

  bool operator==(const NestedArray&) const = default;
};

/// One value of a model's metadata, in the types GGUF defines. Arrays hold one element type.
using MetadataValue =
    std::variant<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t, float,
                 double, bool, std::string, std::vector<uint8_t>, std::vector<int8_t>,
                 std::vector<uint16_t>, std::vector<int16_t>, std::vector<uint32_t>,
                 std::vector<int32_t>, std::vector<uint64_t>, std::vector<int64_t>,
                 std::vector<float>, std::vector<double>, std::vector<bool>,
                 std::vector<std::string>, NestedArray>;

/// The type of a value as it is named in messages and listings: "u32", "string", "f32[]".
std::string_view type_name(const MetadataValue& value);

/// A model's key/value pairs under GGUF's key names, whatever file format they came from. Readers
/// of other formats translate into these names, so that the layers above know one vocabulary.
class Metadata {
 public:
  Metadata() = default;
  /// Where the pairs came from, for messages.
  explicit Metadata(std::string source) : source_(std::move(source)) {}

  const std::string& source() const { return source_; }
  const std::map<std::string, MetadataValue, std::less<>>& entries() const { return entries_; }
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  const MetadataValue* find(std::string_view key) const;
  /// Replaces an earlier value of the same key.
  void set(std::string key, MetadataValue value);

  /// Typed reads. A missing key is kNotFound; another type or a value out of range is kCorruptFile
  /// naming source, key, type found and type wanted. Integers convert between widths by value, f64
  /// rounds to f32; a single float that is not finite is out of range.
  Result<std::string> string(std::string_view key) const;
  Result<uint32_t> u32(std::string_view key) const;
  Result<float> f32(std::string_view key) const;
  Result<bool> boolean(std::string_view key) const;
  Result<std::vector<std::string>> strings(std::string_view key) const;
  /// Any integer array whose elements fit; a scalar reads as an array of one.
  Result<std::vector<int32_t>> integers(std::string_view key) const;
  Result<std::vector<bool>> booleans(std::string_view key) const;
  /// Float arrays only; GGUF tools never store these any narrower.
  Result<std::vector<float>> floats(std::string_view key) const;

  /// As above with a default for a missing key (a wrong type is still an error).
  Result<std::string> string_or(std::string_view key, std::string otherwise) const;
  Result<uint32_t> u32_or(std::string_view key, uint32_t otherwise) const;
  Result<float> f32_or(std::string_view key, float otherwise) const;
  Result<bool> boolean_or(std::string_view key, bool otherwise) const;

 private:
  std::string source_;
  std::map<std::string, MetadataValue, std::less<>> entries_;
};

}  // namespace tandem
