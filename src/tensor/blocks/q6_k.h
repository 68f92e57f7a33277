#pragma once

#include <cstdint>

#include "tensor/f16.h"

namespace tandem {

/// Q6_K: 256 weights of 6 bits around zero in 16 sub-blocks of 16, 6.5625 bits a weight.
///
///   byte 0                 128               192           208 209
///       +------ ... -------+---- ... --------+--- ... -----+-------+
///       |  low 4 bits      |  high 2 bits    |  s (int8)   |   d   |
///       +------ ... -------+---- ... --------+--- ... -----+-------+
///
///   Weight i, with half = i / 128, quarter = i / 32 % 4, lane = i % 32:
///     low bits in byte 64 * half + 32 * (quarter % 2) + lane, high nibble for quarter >= 2;
///     high bits in byte 128 + 32 * half + lane, from bit 2 * quarter.
///   weight i = (d * s[i / 16]) * (high << 4 | low, less 32)
struct BlockQ6_K {
  static constexpr int kElements = 256;
  uint8_t ql[128];
  uint8_t qh[64];
  int8_t scales[16];
  uint16_t d;
};
static_assert(sizeof(BlockQ6_K) == 210);

/// In [-32, 31].
TANDEM_ALWAYS_INLINE int q6_k_code(const BlockQ6_K& block, int i) {
  const int half = i / 128, quarter = i / 32 % 4, lane = i % 32;
  const int low = block.ql[64 * half + 32 * (quarter % 2) + lane] >> (quarter / 2 * 4) & 15;
  const int high = block.qh[32 * half + lane] >> (2 * quarter) & 3;
  return (low | high << 4) - 32;
}

TANDEM_ALWAYS_INLINE void decode(const BlockQ6_K& block, float* out) {
  const float d = f16_to_f32(block.d);
  for (int sub = 0; sub < 16; ++sub) {
    const float scale = d * static_cast<float>(block.scales[sub]);
    for (int i = 16 * sub; i < 16 * sub + 16; ++i) {
      out[i] = scale * static_cast<float>(q6_k_code(block, i));
    }
  }
}

/// Least-squares scale of each sub-block, rounded to 8 bits, then codes once more.
void encode(const float* in, BlockQ6_K& out);

}  // namespace tandem
