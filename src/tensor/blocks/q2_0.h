#pragma once

#include <cstdint>

#include "tensor/blocks/rounding.h"
#include "tensor/f16.h"

namespace tandem {

/// Q2_0: 64 weights of 2 bits, 2.25 bits a weight.
///
///   byte  0   1    2                    3                          17
///       +-------+----+----+----+----+----+----+----+----+ ... +-----+
///       |   d   | w3 | w2 | w1 | w0 | w7 | w6 | w5 | w4 |     | ... |     d: f16 scale
///       +-------+----+----+----+----+----+----+----+----+ ... +-----+
///
///   weight = d * (w - 1): -d, 0, d, 2 d; the scale's sign says on which side the longer arm lies
struct BlockQ2_0 {
  static constexpr int kElements = 64;
  uint16_t d;
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ2_0) == 18);

TANDEM_ALWAYS_INLINE int q2_0_code(const BlockQ2_0& block, int i) {
  return block.qs[i / 4] >> (i % 4 * 2) & 3;
}

TANDEM_ALWAYS_INLINE void decode(const BlockQ2_0& block, float* out) {
  const float d = f16_to_f32(block.d);
  for (int i = 0; i < 64; ++i) out[i] = static_cast<float>(q2_0_code(block, i) - 1) * d;
}

/// The scale, of either sign, with the least squared error that a search finds.
void encode(const float* in, BlockQ2_0& out);

}  // namespace tandem
