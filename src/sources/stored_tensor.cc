// Element types and shapes of checkpoints.

#include "sources/stored_tensor.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tandem {
namespace {

constexpr std::array<StoredTypeInfo, 15> kTypes{{
    {StoredType::kF64, "F64", "float64", 8},
    {StoredType::kF32, "F32", "float32", 4},
    {StoredType::kF16, "F16", "float16", 2},
    {StoredType::kBF16, "BF16", "bfloat16", 2},
    {StoredType::kF8E4M3, "F8_E4M3", "float8_e4m3fn", 1},
    {StoredType::kF8E5M2, "F8_E5M2", "float8_e5m2", 1},
    {StoredType::kI64, "I64", "int64", 8},
    {StoredType::kI32, "I32", "int32", 4},
    {StoredType::kI16, "I16", "int16", 2},
    {StoredType::kI8, "I8", "int8", 1},
    {StoredType::kU64, "U64", "uint64", 8},
    {StoredType::kU32, "U32", "uint32", 4},
    {StoredType::kU16, "U16", "uint16", 2},
    {StoredType::kU8, "U8", "uint8", 1},
    {StoredType::kBool, "BOOL", "bool", 1},
}};

constexpr uint64_t kMaxBytes = uint64_t{1} << 62;

}  // namespace

const StoredTypeInfo& info(StoredType type) { return kTypes[static_cast<size_t>(type)]; }

std::optional<StoredType> stored_type_from_safetensors(std::string_view name) {
  for (const StoredTypeInfo& t : kTypes) {
    if (t.safetensors_name == name) return t.type;
  }
  return std::nullopt;
}

std::optional<StoredType> stored_type_from_numpy(std::string_view name) {
  for (const StoredTypeInfo& t : kTypes) {
    if (t.numpy_name == name) return t.type;
  }
  return std::nullopt;
}

std::optional<DType> weight_type(StoredType type) {
  switch (type) {
    case StoredType::kF32:
      return DType::kF32;
    case StoredType::kF16:
      return DType::kF16;
    case StoredType::kBF16:
      return DType::kBF16;
    default:
      return std::nullopt;
  }
}

std::string StoredTensor::shape_text() const { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Result<uint64_t> stored_bytes(StoredType type, std::span<const uint64_t> shape) {
  uint64_t product = info(type).n_bytes;
  bool is_empty = false;
  for (const uint64_t dim : shape) {
    is_empty |= dim == 0;
    if (dim != 0 && product > kMaxBytes / dim) {
      return failure(ErrorCode::kCorruptFile, "a shape of [{}] has more than 2^62 bytes",
                     fmt::join(shape, ", "));
    }
    if (dim != 0) product *= dim;
  }
  return is_empty ? 0 : product;
}

Result<void> check_file_name(const std::string& source, std::string_view name) {
  const bool plain =
      !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
      name.find('\\') == std::string_view::npos && name.find('\0') == std::string_view::npos;
  if (plain) return {};
  return failure(ErrorCode::kCorruptFile,
                 "{}: names the file \"{}\", which is no name in its folder", source,
                 name.substr(0, 100));
}

}  // namespace tandem
