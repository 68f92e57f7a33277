#pragma once

#include <cstdint>

#include "tensor/blocks/rounding.h"
#include "tensor/f16.h"

namespace tandem {

/// Q4_0: 32 weights of 4 bits around zero, 4.5 bits a weight.
///
///   byte  0   1   2          3               17
///       +-------+----------+----------+ ... +----------+
///       |   d   | w16 | w0 | w17 | w1 |     | w31 | w15|     d: f16 scale
///       +-------+----------+----------+ ... +----------+     high nibble | low nibble
///
///   weight = d * (w - 8)
struct BlockQ4_0 {
  static constexpr int kElements = 32;
  uint16_t d;
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ4_0) == 18);

TANDEM_ALWAYS_INLINE void decode(const BlockQ4_0& block, float* out) {
  const float d = f16_to_f32(block.d);
  for (int i = 0; i < 16; ++i) {
    out[i] = static_cast<float>((block.qs[i] & 15) - 8) * d;
    out[i + 16] = static_cast<float>((block.qs[i] >> 4) - 8) * d;
  }
}

/// The element of largest magnitude becomes exactly code 0 (-8), so its sign decides the scale's.
TANDEM_ALWAYS_INLINE void encode(const float* in, BlockQ4_0& out) {
  const float d = blocks::signed_max(in, 32) / -8.0f;
  const float inverse = blocks::inverse_or_zero(d);
  out.d = f32_to_f16(d);
  for (int i = 0; i < 16; ++i) {
    const int low = blocks::truncate_within(in[i] * inverse + 8.5f, 0, 15);
    const int high = blocks::truncate_within(in[i + 16] * inverse + 8.5f, 0, 15);
    out.qs[i] = static_cast<uint8_t>(low | high << 4);
  }
}

}  // namespace tandem
