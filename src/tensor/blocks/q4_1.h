#pragma once

#include <cstdint>

#include "tensor/blocks/rounding.h"
#include "tensor/f16.h"

namespace tandem {

/// Q4_1: 32 weights of 4 bits above a minimum, 5 bits a weight.
///
///   byte  0   1   2   3   4               19
///       +-------+-------+----------+ ... +----------+
///       |   d   |   m   | w16 | w0 |     | w31 | w15|     d, m: f16 scale and minimum
///       +-------+-------+----------+ ... +----------+     high nibble | low nibble
///
///   weight = d * w + m
struct BlockQ4_1 {
  static constexpr int kElements = 32;
  uint16_t d;
  uint16_t m;
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ4_1) == 20);

TANDEM_ALWAYS_INLINE void decode(const BlockQ4_1& block, float* out) {
  const float d = f16_to_f32(block.d);
  const float m = f16_to_f32(block.m);
  for (int i = 0; i < 16; ++i) {
    out[i] = static_cast<float>(block.qs[i] & 15) * d + m;
    out[i + 16] = static_cast<float>(block.qs[i] >> 4) * d + m;
  }
}

/// The codes span the block's range exactly.
TANDEM_ALWAYS_INLINE void encode(const float* in, BlockQ4_1& out) {
  const blocks::Range range = blocks::range_of(in, 32);
  const float d = (range.max - range.min) / 15.0f;
  const float inverse = blocks::inverse_or_zero(d);
  out.d = f32_to_f16(d);
  out.m = f32_to_f16(range.min);
  for (int i = 0; i < 16; ++i) {
    const int low = blocks::truncate_within((in[i] - range.min) * inverse + 0.5f, 0, 15);
    const int high = blocks::truncate_within((in[i + 16] - range.min) * inverse + 0.5f, 0, 15);
    out.qs[i] = static_cast<uint8_t>(low | high << 4);
  }
}

}  // namespace tandem
