#pragma once

#include <cstdint>

#include "tensor/blocks/k_scales.h"
#include "tensor/f16.h"

namespace tandem {

/// Q5_K: 256 weights of 5 bits in 8 sub-blocks of 32, 5.5 bits a weight.
///
///   byte 0   1   2   3   4            16             48                     175
///       +-------+-------+--- ... -----+--- ... ------+------ ... -----------+
///       |   d   | dmin  |  s, m       |  high bits   |  low 4 bits          |
///       +-------+-------+--- ... -----+--- ... ------+------ ... -----------+
///
///   Weight i: low bits in byte 48 + 32 * (i / 64) + i % 32, low nibble for even i / 32, else high;
///             high bit in byte 16 + i % 32, bit i / 32. s, m: blocks/k_scales.h
///   weight i = (d * s[i / 32]) * code - dmin * m[i / 32]
struct BlockQ5_K {
  static constexpr int kElements = 256;
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12];
  uint8_t qh[32];
  uint8_t qs[128];
};
static_assert(sizeof(BlockQ5_K) == 176);

TANDEM_ALWAYS_INLINE int q5_k_code(const BlockQ5_K& block, int i) {
  const int low = block.qs[i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15;
  const int high = block.qh[i % 32] >> (i / 32) & 1;
  return low | high << 4;
}

TANDEM_ALWAYS_INLINE void decode(const BlockQ5_K& block, float* out) {
  const float d = f16_to_f32(block.d);
  const float dmin = f16_to_f32(block.dmin);
  uint8_t scales[8], minima[8];
  unpack_k_scales(block.scales, scales, minima);
  for (int sub = 0; sub < 8; ++sub) {
    const float scale = d * static_cast<float>(scales[sub]);
    const float minimum = dmin * static_cast<float>(minima[sub]);
    for (int i = 32 * sub; i < 32 * sub + 32; ++i) {
      out[i] = scale * static_cast<float>(q5_k_code(block, i)) - minimum;
    }
  }
}

/// Least-squares scale and minimum of each sub-block, rounded to 6 bits, then codes once more.
void encode(const float* in, BlockQ5_K& out);

}  // namespace tandem
