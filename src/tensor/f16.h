#pragma once

#include <bit>
#include <cstdint>

// Always inlined: sources built for one instruction set include this header, and a shared copy of a
// function could carry their instructions into the baseline build.
#define TANDEM_ALWAYS_INLINE [[gnu::always_inline]] inline

namespace tandem {

/// IEEE binary16 to binary32, exact for every pattern (subnormals and infinities included). NaN
/// keeps its payload and becomes quiet, as with the F16C instruction.
TANDEM_ALWAYS_INLINE float f16_to_f32(uint16_t h) {
  const uint32_t sign = (h & 0x8000u) << 16;
  const uint32_t magnitude = h & 0x7fffu;
  if (magnitude > 0x7c00u) return std::bit_cast<float>(sign | 0x7fc00000u | magnitude << 13);
  if (magnitude == 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u);
  if (magnitude >= 0x0400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(subnormal));
}

/// binary32 to binary16, round to nearest even, overflow to infinity; as the F16C instruction does.
TANDEM_ALWAYS_INLINE uint16_t f32_to_f16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u | (magnitude >> 13 & 0x1ffu);
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;
  if (magnitude < 0x38800000u) {
    // Adding 0.5 lets the float unit shift and round the subnormal's bits into place.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3f000000u);
  }
  const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return sign | static_cast<uint16_t>((rounded - 0x38000000u) >> 13);
}

TANDEM_ALWAYS_INLINE float bf16_to_f32(uint16_t h) {
  return std::bit_cast<float>(uint32_t{h} << 16);
}

/// Round to nearest even; NaN stays NaN.
TANDEM_ALWAYS_INLINE uint16_t f32_to_bf16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace tandem
