// Metadata pairs between GGUF's bytes and our values, both ways.

#include "formats/gguf_metadata.h"

#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "formats/gguf_format.h"

namespace tandem {
namespace {

tl::unexpected<Error> unknown_type(const GgufCursor& cursor, GgufValueType type) {
  return cursor.fail(ErrorCode::kCorruptFile, "value type {} before byte {} is unknown",
                     static_cast<uint32_t>(type), cursor.offset());
}

Result<GgufValueType> read_type(GgufCursor& cursor) {
  TANDEM_TRY(const uint32_t number, cursor.number<uint32_t>("value type"));
  return static_cast<GgufValueType>(number);
}

Result<bool> read_bool(GgufCursor& cursor) {
  TANDEM_TRY(const uint8_t byte, cursor.number<uint8_t>("bool"));
  if (byte <= 1) return byte == 1;
  return cursor.fail(ErrorCode::kCorruptFile, "bool at byte {} is {}, allowed are 0 and 1",
                     cursor.offset() - 1, byte);
}

/// The fewest bytes an element takes, 0 when the type is unknown.
uint64_t min_element_bytes(GgufValueType type) {
  switch (type) {
    case GgufValueType::kBool:
      return 1;
    case GgufValueType::kString:
      return 8;
    case GgufValueType::kArray:
      return 12;
    default:
      break;
  }
  return with_number_type(
      type, [](auto zero) -> uint64_t { return sizeof(zero); }, [] { return uint64_t{0}; });
}

struct ArrayHeader {
  GgufValueType type;
  uint64_t n_elements;
};

/// The count has been checked against the bytes that remain.
Result<ArrayHeader> read_array_header(GgufCursor& cursor) {
  TANDEM_TRY(const GgufValueType type, read_type(cursor));
  const uint64_t min_bytes = min_element_bytes(type);
  if (min_bytes == 0) return unknown_type(cursor, type);
  TANDEM_TRY(const uint64_t n_elements, cursor.count(min_bytes, "array length"));
  return ArrayHeader{type, n_elements};
}

/// Passes over an array that lies `depth` arrays deep, checking that all of it is there.
Result<void> skip_array(GgufCursor& cursor, int depth) {
  if (depth > kGgufMaxArrayDepth) {
    return cursor.fail(ErrorCode::kCorruptFile, "arrays are nested deeper than {} levels",
                       kGgufMaxArrayDepth);
  }
  TANDEM_TRY(const ArrayHeader header, read_array_header(cursor));
  const bool fixed_size =
      header.type != GgufValueType::kString && header.type != GgufValueType::kArray;
  if (fixed_size) {
    TANDEM_TRY(cursor.take(header.n_elements * min_element_bytes(header.type), "array"));
    return {};
  }
  for (uint64_t i = 0; i < header.n_elements; ++i) {
    if (header.type == GgufValueType::kString) {
      TANDEM_TRY(cursor.string("array element"));
    } else {
      TANDEM_TRY(skip_array(cursor, depth + 1));
    }
  }
  return {};
}

Result<MetadataValue> read_bools(GgufCursor& cursor, uint64_t n) {
  std::vector<bool> values(n);
  for (uint64_t i = 0; i < n; ++i) {
    TANDEM_TRY(values[i], read_bool(cursor));
  }
  return values;
}

Result<MetadataValue> read_strings(GgufCursor& cursor, uint64_t n) {
  std::vector<std::string> values;
  values.reserve(n);
  for (uint64_t i = 0; i < n; ++i) {
    TANDEM_TRY(const std::string_view text, cursor.string("array element"));
    values.emplace_back(text);
  }
  return values;
}

template <class T>
Result<MetadataValue> read_numbers(GgufCursor& cursor, uint64_t n) {
  TANDEM_TRY(const auto bytes, cursor.take(n * sizeof(T), "array"));
  std::vector<T> values(n);
  if (n > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Result<MetadataValue> read_array(GgufCursor& cursor) {
  GgufCursor start = cursor;
  TANDEM_TRY(const ArrayHeader header, read_array_header(cursor));
  switch (header.type) {
    case GgufValueType::kBool:
      return read_bools(cursor, header.n_elements);
    case GgufValueType::kString:
      return read_strings(cursor, header.n_elements);
    case GgufValueType::kArray: {
      cursor = start;
      TANDEM_TRY(skip_array(cursor, 1));
      TANDEM_TRY(const auto bytes, start.take(cursor.offset() - start.offset(), "array"));
      return NestedArray{header.n_elements, {bytes.begin(), bytes.end()}};
    }
    default:
      break;
  }
  return with_number_type(
      header.type,
      [&](auto zero) { return read_numbers<decltype(zero)>(cursor, header.n_elements); },
      [&]() -> Result<MetadataValue> { return unknown_type(cursor, header.type); });
}

Result<MetadataValue> read_value(GgufCursor& cursor) {
  TANDEM_TRY(const GgufValueType type, read_type(cursor));
  switch (type) {
    case GgufValueType::kBool:
      return read_bool(cursor);
    case GgufValueType::kArray:
      return read_array(cursor);
    case GgufValueType::kString: {
      TANDEM_TRY(const std::string_view text, cursor.string("string"));
      return std::string(text);
    }
    default:
      break;
  }
  return with_number_type(
      type,
      [&](auto zero) -> Result<MetadataValue> { return cursor.number<decltype(zero)>("value"); },
      [&]() -> Result<MetadataValue> { return unknown_type(cursor, type); });
}

template <class T>
constexpr GgufValueType value_type() {
  if constexpr (std::is_same_v<T, uint8_t>) return GgufValueType::kU8;
  if constexpr (std::is_same_v<T, int8_t>) return GgufValueType::kI8;
  if constexpr (std::is_same_v<T, uint16_t>) return GgufValueType::kU16;
  if constexpr (std::is_same_v<T, int16_t>) return GgufValueType::kI16;
  if constexpr (std::is_same_v<T, uint32_t>) return GgufValueType::kU32;
  if constexpr (std::is_same_v<T, int32_t>) return GgufValueType::kI32;
  if constexpr (std::is_same_v<T, float>) return GgufValueType::kF32;
  if constexpr (std::is_same_v<T, bool>) return GgufValueType::kBool;
  if constexpr (std::is_same_v<T, std::string>) return GgufValueType::kString;
  if constexpr (std::is_same_v<T, uint64_t>) return GgufValueType::kU64;
  if constexpr (std::is_same_v<T, int64_t>) return GgufValueType::kI64;
  if constexpr (std::is_same_v<T, double>) return GgufValueType::kF64;
}

/// Appends values without their type; a bool takes one byte.
struct AppendPayload {
  std::string& out;

  void operator()(const std::string& text) const { append_gguf_string(out, text); }
  void operator()(bool value) const { append_gguf_number(out, uint8_t{value}); }
  template <class T>
  void operator()(T value) const {
    append_gguf_number(out, value);
  }
};

/// Appends a value with its type.
struct AppendValue {
  std::string& out;

  void operator()(const NestedArray& array) const {
    append_gguf_number(out, GgufValueType::kArray);
    out.append(reinterpret_cast<const char*>(array.encoded.data()), array.encoded.size());
  }
  template <class T>
  void operator()(const std::vector<T>& array) const {
    append_gguf_number(out, GgufValueType::kArray);
    append_gguf_number(out, value_type<T>());
    append_gguf_number(out, uint64_t{array.size()});
    for (const auto& element : array) AppendPayload{out}(static_cast<const T&>(element));
  }
  template <class T>
  void operator()(const T& value) const {
    append_gguf_number(out, value_type<T>());
    AppendPayload{out}(value);
  }
};

}  // namespace

Result<Metadata> read_gguf_metadata(GgufCursor& cursor, uint64_t n_pairs, std::string source) {
  Metadata metadata(std::move(source));
  for (uint64_t i = 0; i < n_pairs; ++i) {
    cursor.set_subject(fmt::format("key {} of {}", i + 1, n_pairs));
    const uint64_t key_offset = cursor.offset();
    TANDEM_TRY(const std::string_view key, cursor.string("key"));
    const std::string problem = gguf_name_problem(key, kGgufMaxKeyBytes);
    if (!problem.empty()) {
      return cursor.fail(ErrorCode::kCorruptFile, "at byte {}: {}", key_offset, problem);
    }
    cursor.set_subject(fmt::format("key '{}'", key));
    if (metadata.contains(key)) {
      return cursor.fail(ErrorCode::kCorruptFile, "it appears twice, again at byte {}", key_offset);
    }
    TANDEM_TRY(MetadataValue value, read_value(cursor));
    metadata.set(std::string(key), std::move(value));
  }
  return metadata;
}

Result<void> check_nested_array(std::span<const std::byte> encoded) {
  GgufCursor cursor("metadata", encoded);
  cursor.set_subject("nested array");
  if (auto whole = skip_array(cursor, 1); !whole) {
    return failure(ErrorCode::kInvalidArgument, "{}", whole.error().message);
  }
  if (cursor.remaining() == 0) return {};
  return failure(ErrorCode::kInvalidArgument, "nested array: {} bytes follow its end",
                 cursor.remaining());
}

void append_gguf_value(std::string& out, const MetadataValue& value) {
  std::visit(AppendValue{out}, value);
}

}  // namespace tandem
