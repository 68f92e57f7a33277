#include "tensor/dtype.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tandem {
namespace {

constexpr std::array<DTypeInfo, 24> kInfos{{
    {DType::kF32, "F32", 1, 4},         {DType::kF16, "F16", 1, 2},
    {DType::kQ4_0, "Q4_0", 32, 18},     {DType::kQ4_1, "Q4_1", 32, 20},
    {DType::kQ5_0, "Q5_0", 32, 22},     {DType::kQ5_1, "Q5_1", 32, 24},
    {DType::kQ8_0, "Q8_0", 32, 34},     {DType::kQ2_K, "Q2_K", 256, 84},
    {DType::kQ3_K, "Q3_K", 256, 110},   {DType::kQ4_K, "Q4_K", 256, 144},
    {DType::kQ5_K, "Q5_K", 256, 176},   {DType::kQ6_K, "Q6_K", 256, 210},
    {DType::kIQ4_NL, "IQ4_NL", 32, 18}, {DType::kIQ4_XS, "IQ4_XS", 256, 136},
    {DType::kI8, "I8", 1, 1},           {DType::kI16, "I16", 1, 2},
    {DType::kI32, "I32", 1, 4},         {DType::kI64, "I64", 1, 8},
    {DType::kF64, "F64", 1, 8},         {DType::kBF16, "BF16", 1, 2},
    {DType::kMXFP4, "MXFP4", 32, 17},   {DType::kQ2_0, "Q2_0", 64, 18},
    {DType::kMXFP8, "MXFP8", 32, 33},   {DType::kQ4_24, "Q4_24", 32, 14},
}};

constexpr uint32_t kFirstOwn = static_cast<uint32_t>(DType::kMXFP8);
constexpr uint32_t kMaxShared = static_cast<uint32_t>(DType::kQ2_0);  ///< of GGUF's own numbers
constexpr uint32_t kMaxOwn = static_cast<uint32_t>(DType::kQ4_24);

/// GGUF's numbers, and behind them ours.
constexpr uint32_t slot(uint32_t number) {
  return number <= kMaxShared ? number : number - kFirstOwn + kMaxShared + 1;
}

/// Position in kInfos by slot, or -1.
constexpr auto kIndex = [] {
  std::array<int8_t, slot(kMaxOwn) + 1> index{};
  index.fill(-1);
  for (size_t i = 0; i < kInfos.size(); ++i) index[slot(static_cast<uint32_t>(kInfos[i].type))] = i;
  return index;
}();

}  // namespace

std::span<const DTypeInfo> all_dtypes() { return kInfos; }

const DTypeInfo& info(DType type) { return kInfos[kIndex[slot(static_cast<uint32_t>(type))]]; }

std::optional<DType> dtype_from_gguf(uint32_t number) {
  const bool is_own = number >= kFirstOwn && number <= kMaxOwn;
  if (!is_own && (number > kMaxShared || kIndex[number] < 0)) return std::nullopt;
  return static_cast<DType>(number);
}

std::optional<DType> dtype_from_name(std::string_view name) {
  const auto same = [](char a, char b) { return std::toupper(static_cast<unsigned char>(a)) == b; };
  for (const DTypeInfo& i : kInfos) {
    if (std::equal(name.begin(), name.end(), i.name.begin(), i.name.end(), same)) return i.type;
  }
  return std::nullopt;
}

}  // namespace tandem
