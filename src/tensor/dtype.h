#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tandem {

/// Element formats of tensors. The values are the type numbers in GGUF files, so a file's number
/// converts directly once `dtype_from_gguf` has accepted it.
enum class DType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kIQ4_NL = 20,
  kIQ4_XS = 23,
  kI8 = 24,
  kI16 = 25,
  kI32 = 26,
  kI64 = 27,
  kF64 = 28,
  kBF16 = 30,
  kMXFP4 = 39,
  kQ2_0 = 42,
  // GGUF has no number for these: ours ("TN" in the upper half), so other readers refuse the file.
  kMXFP8 = 0x544e0001,
  kQ4_24 = 0x544e0002,
};

/// What is constant about a format: elements come in blocks of `block_size` along a row (the
/// innermost dimension), each `block_bytes` long.
struct DTypeInfo {
  DType type;
  std::string_view name;  ///< as GGUF tools print it: "Q4_K"
  uint32_t block_size;
  uint32_t block_bytes;
};

/// Every known format, by rising number.
std::span<const DTypeInfo> all_dtypes();

const DTypeInfo& info(DType type);
inline std::string_view name(DType type) { return info(type).name; }

/// Nothing when the number is not in DType.
std::optional<DType> dtype_from_gguf(uint32_t number);

/// Accepts "q4_k", "Q4_K", "f16".
std::optional<DType> dtype_from_name(std::string_view name);

/// Bytes of `n` consecutive elements; `n` must be a multiple of the block size.
inline size_t row_bytes(DType type, size_t n) {
  const DTypeInfo& i = info(type);
  return n / i.block_size * i.block_bytes;
}

}  // namespace tandem
