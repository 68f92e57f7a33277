#pragma once

// The parts of the GGUF format that its reader and its writer must agree on (docs/gguf.md).

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tensor/dtype.h"

namespace tandem {

static_assert(std::endian::native == std::endian::little,
              "GGUF files are read in place and little-endian ones only");

inline constexpr std::string_view kGgufMagic = "GGUF";
inline constexpr uint32_t kGgufOldestVersion = 2;
inline constexpr uint32_t kGgufNewestVersion = 3;

inline constexpr std::string_view kGgufAlignmentKey = "general.alignment";
inline constexpr uint32_t kGgufDefaultAlignment = 32;
/// The format asks for a multiple of 8; it lets kernels read any element type in place.
inline constexpr uint32_t kGgufMinAlignment = 8;
/// Ours; bounds the padding that an input can make us write.
inline constexpr uint32_t kGgufMaxAlignment = 1u << 20;

inline constexpr size_t kGgufMaxKeyBytes = 65535;
/// The format says 64, but tools for image models write longer names.
inline constexpr size_t kGgufMaxTensorNameBytes = 256;
inline constexpr size_t kGgufMaxDims = 4;
/// Arrays within arrays; bounds the reader's recursion.
inline constexpr int kGgufMaxArrayDepth = 8;

/// Type numbers of metadata values in the file.
enum class GgufValueType : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

/// Calls `use` with a zero of the C++ type of a numeric value type, `otherwise` for bool, string,
/// array and numbers that are no value type. Both must return the same type.
template <class Use, class Otherwise>
auto with_number_type(GgufValueType type, Use use, Otherwise otherwise) -> decltype(otherwise()) {
  switch (type) {
    case GgufValueType::kU8:
      return use(uint8_t{});
    case GgufValueType::kI8:
      return use(int8_t{});
    case GgufValueType::kU16:
      return use(uint16_t{});
    case GgufValueType::kI16:
      return use(int16_t{});
    case GgufValueType::kU32:
      return use(uint32_t{});
    case GgufValueType::kI32:
      return use(int32_t{});
    case GgufValueType::kF32:
      return use(float{});
    case GgufValueType::kU64:
      return use(uint64_t{});
    case GgufValueType::kI64:
      return use(int64_t{});
    case GgufValueType::kF64:
      return use(double{});
    default:
      return otherwise();
  }
}

/// Why a key or tensor name may not stand in a file: empty, longer than `max_bytes`, not UTF-8, or
/// with control characters (which would reach terminals through messages). Empty when it may.
std::string gguf_name_problem(std::string_view name, size_t max_bytes);

/// Why `alignment` may not be general.alignment; empty when it may.
std::string gguf_alignment_problem(uint64_t alignment);

/// The size of a tensor in bytes, or what is wrong with its shape.
struct GgufTensorSize {
  uint64_t n_bytes = 0;
  std::string problem;  ///< empty when the shape is good
};

/// Checks 1 to 4 dimensions, none zero, rows of whole blocks, and products below 2^63.
GgufTensorSize gguf_tensor_size(DType type, std::span<const uint64_t> dims);

/// What is known of a tensor type number that DType lacks: "Q4_2, which the format has dropped".
std::string gguf_foreign_type(uint32_t number);

/// Appends the bytes of a number as the file holds them.
template <class T>
void append_gguf_number(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// Appends a 64-bit length and the text.
inline void append_gguf_string(std::string& out, std::string_view text) {
  append_gguf_number(out, uint64_t{text.size()});
  out.append(text);
}

/// The smallest multiple of `alignment`, a power of two, that is not below `n`.
constexpr uint64_t gguf_align_up(uint64_t n, uint64_t alignment) {
  return (n + alignment - 1) & ~(alignment - 1);
}

}  // namespace tandem
