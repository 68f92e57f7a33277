#pragma once

#include <cstdint>

#include "tensor/blocks/rounding.h"
#include "tensor/f16.h"

namespace tandem {

/// Q8_0: 32 weights of 8 bits, 8.5 bits a weight.
///
///   byte  0   1   2    3         33
///       +-------+----+----+ ... +-----+
///       |   d   | w0 | w1 |     | w31 |     d: f16 scale; w: int8
///       +-------+----+----+ ... +-----+
///
///   weight = d * w
struct BlockQ8_0 {
  static constexpr int kElements = 32;
  uint16_t d;
  int8_t qs[32];
};
static_assert(sizeof(BlockQ8_0) == 34);

TANDEM_ALWAYS_INLINE void decode(const BlockQ8_0& block, float* out) {
  const float d = f16_to_f32(block.d);
  for (int i = 0; i < 32; ++i) out[i] = static_cast<float>(block.qs[i]) * d;
}

/// Codes span [-127, 127]; ties round away from zero.
TANDEM_ALWAYS_INLINE void encode(const float* in, BlockQ8_0& out) {
  const float max = blocks::signed_max(in, 32);
  const float d = (max < 0.0f ? -max : max) / 127.0f;
  const float inverse = blocks::inverse_or_zero(d);
  out.d = f32_to_f16(d);
  for (int i = 0; i < 32; ++i) {
    out.qs[i] = static_cast<int8_t>(blocks::round_away_within(in[i] * inverse, -127, 127));
  }
}

}  // namespace tandem
