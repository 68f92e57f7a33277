#pragma once

#include <cstdint>

#include "tensor/f16.h"

namespace tandem {

/// Q2_K: 256 weights of 2 bits in 16 sub-blocks of 16, 2.625 bits a weight.
///
///   byte 0            16                     80  81  82  83
///       +-- ... -----+--- ... -------------+-------+-------+
///       | m << 4 | s |  2-bit codes        |   d   | dmin  |
///       +-- ... -----+--- ... -------------+-------+-------+
///
///   Code of weight i: byte 16 + 32 * (i / 128) + i % 32, bits from 2 * (i / 32 % 4).
///   weight i = (d * s[i / 16]) * code - dmin * m[i / 16]
struct BlockQ2_K {
  static constexpr int kElements = 256;
  uint8_t scales[16];
  uint8_t qs[64];
  uint16_t d;
  uint16_t dmin;
};
static_assert(sizeof(BlockQ2_K) == 84);

TANDEM_ALWAYS_INLINE int q2_k_code(const BlockQ2_K& block, int i) {
  return block.qs[i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3;
}

TANDEM_ALWAYS_INLINE void decode(const BlockQ2_K& block, float* out) {
  const float d = f16_to_f32(block.d);
  const float dmin = f16_to_f32(block.dmin);
  for (int sub = 0; sub < 16; ++sub) {
    const float scale = d * static_cast<float>(block.scales[sub] & 15);
    const float minimum = dmin * static_cast<float>(block.scales[sub] >> 4);
    for (int i = 16 * sub; i < 16 * sub + 16; ++i) {
      out[i] = scale * static_cast<float>(q2_k_code(block, i)) - minimum;
    }
  }
}

/// Least-squares scale and minimum of each sub-block, rounded to 4 bits, then codes once more.
void encode(const float* in, BlockQ2_K& out);

}  // namespace tandem
