#pragma once

#include <cstdint>

#include "tensor/blocks/rounding.h"
#include "tensor/f16.h"

namespace tandem {

/// Q5_0: 32 weights of 5 bits around zero, 5.5 bits a weight.
///
///   byte  0   1   2   3   4   5   6               21
///       +-------+---------------+----------+ ... +----------+
///       |   d   | h0 ..... h31  | w16 | w0 |     | w31 | w15|     d: f16 scale
///       +-------+---------------+----------+ ... +----------+     high nibble | low nibble
///
///   weight i = d * ((h_i << 4 | w_i) - 16);  h_i is bit i of the little-endian word in bytes 2-5,
///   kept as bytes because a block starts at any even address.
struct BlockQ5_0 {
  static constexpr int kElements = 32;
  uint16_t d;
  uint8_t qh[4];
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ5_0) == 22);

TANDEM_ALWAYS_INLINE void decode(const BlockQ5_0& block, float* out) {
  const float d = f16_to_f32(block.d);
  for (int i = 0; i < 32; ++i) {
    const int low = block.qs[i % 16] >> (i / 16 * 4) & 15;
    const int high = block.qh[i / 8] >> (i % 8) & 1;
    out[i] = static_cast<float>((low | high << 4) - 16) * d;
  }
}

/// The element of largest magnitude becomes exactly code 0 (-16).
TANDEM_ALWAYS_INLINE void encode(const float* in, BlockQ5_0& out) {
  const float d = blocks::signed_max(in, 32) / -16.0f;
  const float inverse = blocks::inverse_or_zero(d);
  out = {f32_to_f16(d), {}, {}};
  for (int i = 0; i < 32; ++i) {
    const int code = blocks::truncate_within(in[i] * inverse + 16.5f, 0, 31);
    out.qs[i % 16] |= static_cast<uint8_t>((code & 15) << (i / 16 * 4));
    out.qh[i / 8] |= static_cast<uint8_t>(code >> 4 << (i % 8));
  }
}

}  // namespace tandem
