// Names and widths of the number formats.

#include "soc/numeric_type.h"

namespace tandem::soc {
namespace {

struct Entry {
  NumericType type;
  const char* name;
  uint32_t bits;
};

constexpr Entry kEntries[kNumericTypes] = {
    {NumericType::kInt2, "int2", 2},  {NumericType::kInt4, "int4", 4},
    {NumericType::kInt8, "int8", 8},  {NumericType::kInt16, "int16", 16},
    {NumericType::kFp8, "fp8", 8},    {NumericType::kFp16, "fp16", 16},
    {NumericType::kBf16, "bf16", 16}, {NumericType::kFp32, "fp32", 32},
};

}  // namespace

const char* to_string(NumericType type) { return kEntries[static_cast<int>(type)].name; }

std::optional<NumericType> numeric_type_from(std::string_view name) {
  for (const Entry& entry : kEntries) {
    if (name == entry.name) return entry.type;
  }
  return std::nullopt;
}

uint32_t bits_of(NumericType type) { return kEntries[static_cast<int>(type)].bits; }

bool is_integer(NumericType type) { return type <= NumericType::kInt16; }

}  // namespace tandem::soc
