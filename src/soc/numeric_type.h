#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tandem::soc {

/// Number formats that arithmetic units of a SoC tell apart. Storage formats of weights (block
/// scales and so on) only matter here by their bytes.
enum class NumericType : uint8_t {
  kInt2,
  kInt4,
  kInt8,
  kInt16,
  kFp8,
  kFp16,
  kBf16,
  kFp32,
};
inline constexpr int kNumericTypes = 8;

/// The name in profiles and reports: "int8".
const char* to_string(NumericType type);
std::optional<NumericType> numeric_type_from(std::string_view name);

uint32_t bits_of(NumericType type);
bool is_integer(NumericType type);

}  // namespace tandem::soc
