// The rules of GGUF for names, shapes and type numbers.

#include "formats/gguf_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <limits>

namespace tandem {
namespace {

struct ForeignType {
  uint32_t number;
  std::string_view name;
  bool dropped;  ///< by the format itself, so that no reader knows it any more
};

constexpr std::array kForeignTypes{
    ForeignType{4, "Q4_2", true},        ForeignType{5, "Q4_3", true},
    ForeignType{9, "Q8_1", false},       ForeignType{15, "Q8_K", false},
    ForeignType{16, "IQ2_XXS", false},   ForeignType{17, "IQ2_XS", false},
    ForeignType{18, "IQ3_XXS", false},   ForeignType{19, "IQ1_S", false},
    ForeignType{21, "IQ3_S", false},     ForeignType{22, "IQ2_S", false},
    ForeignType{29, "IQ1_M", false},     ForeignType{31, "Q4_0_4_4", true},
    ForeignType{32, "Q4_0_4_8", true},   ForeignType{33, "Q4_0_8_8", true},
    ForeignType{34, "TQ1_0", false},     ForeignType{35, "TQ2_0", false},
    ForeignType{36, "IQ4_NL_4_4", true}, ForeignType{37, "IQ4_NL_4_8", true},
    ForeignType{38, "IQ4_NL_8_8", true}, ForeignType{40, "NVFP4", false},
    ForeignType{41, "Q1_0", false},      ForeignType{42, "Q2_0", false},
};

/// Length of the UTF-8 sequence at the start of `text`, 0 when it is none. Overlong forms,
/// surrogates and code points above U+10FFFF are none (Unicode 15, table 3-7).
size_t utf8_sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const uint8_t second = byte(1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second >= 0xa0;
  const bool beyond = lead == 0xf4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace

std::string gguf_name_problem(std::string_view name, size_t max_bytes) {
  if (name.empty()) return "the name is empty";
  if (name.size() > max_bytes) {
    return fmt::format("the name has {} bytes, the limit is {}", name.size(), max_bytes);
  }
  for (size_t i = 0; i < name.size();) {
    const size_t length = utf8_sequence_length(name.substr(i));
    const auto byte = static_cast<uint8_t>(name[i]);
    if (length == 0) return fmt::format("byte {} of the name (0x{:02x}) is not UTF-8", i, byte);
    if (byte < 0x20 || byte == 0x7f) {
      return fmt::format("byte {} of the name (0x{:02x}) is a control character", i, byte);
    }
    i += length;
  }
  return {};
}

std::string gguf_alignment_problem(uint64_t alignment) {
  const bool in_range = alignment >= kGgufMinAlignment && alignment <= kGgufMaxAlignment;
  if (in_range && std::has_single_bit(alignment)) return {};
  return fmt::format("{} is {}, which is not a power of two from {} to {}", kGgufAlignmentKey,
                     alignment, kGgufMinAlignment, kGgufMaxAlignment);
}

GgufTensorSize gguf_tensor_size(DType type, std::span<const uint64_t> dims) {
  if (dims.empty() || dims.size() > kGgufMaxDims) {
    return {0, fmt::format("it has {} dimensions, allowed are 1 to {}", dims.size(), kGgufMaxDims)};
  }
  const DTypeInfo& format = info(type);
  uint64_t n_elements = 1;
  bool overflows = false;
  for (const uint64_t dim : dims) {
    if (dim == 0) return {0, fmt::format("a dimension of [{}] is zero", fmt::join(dims, ", "))};
    overflows |= __builtin_mul_overflow(n_elements, dim, &n_elements);
  }
  if (!overflows && dims[0] % format.block_size != 0) {
    return {0, fmt::format("rows of {} elements do not divide into {}'s blocks of {}", dims[0],
                           format.name, format.block_size)};
  }
  uint64_t n_bytes = 0;
  overflows |= __builtin_mul_overflow(n_elements / format.block_size, format.block_bytes, &n_bytes);
  // Sizes stay below 2^63, so that an aligned or added size cannot wrap either.
  constexpr uint64_t kMaxBytes = std::numeric_limits<int64_t>::max();
  if (overflows || n_elements > kMaxBytes || n_bytes > kMaxBytes) {
    return {0, fmt::format("its size, {} of shape [{}], is 2^63 bytes or more", format.name,
                           fmt::join(dims, ", "))};
  }
  return {n_bytes, {}};
}

std::string gguf_foreign_type(uint32_t number) {
  for (const ForeignType& foreign : kForeignTypes) {
    if (foreign.number != number) continue;
    return fmt::format("{}, which {}", foreign.name,
                       foreign.dropped ? "the format has dropped" : "Tandem does not support");
  }
  return "unknown";
}

}  // namespace tandem
