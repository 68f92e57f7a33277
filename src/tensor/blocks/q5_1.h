#pragma once

#include <cstdint>

#include "tensor/blocks/rounding.h"
#include "tensor/f16.h"

namespace tandem {

/// Q5_1: 32 weights of 5 bits above a minimum, 6 bits a weight.
///
///   byte  0   1   2   3   4   5   6   7   8               23
///       +-------+-------+---------------+----------+ ... +----------+
///       |   d   |   m   | h0 ..... h31  | w16 | w0 |     | w31 | w15|     d, m: f16
///       +-------+-------+---------------+----------+ ... +----------+
///
///   weight i = d * (h_i << 4 | w_i) + m;  h_i is bit i of the little-endian word in bytes 4-7
struct BlockQ5_1 {
  static constexpr int kElements = 32;
  uint16_t d;
  uint16_t m;
  uint8_t qh[4];
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ5_1) == 24);

TANDEM_ALWAYS_INLINE void decode(const BlockQ5_1& block, float* out) {
  const float d = f16_to_f32(block.d);
  const float m = f16_to_f32(block.m);
  for (int i = 0; i < 32; ++i) {
    const int low = block.qs[i % 16] >> (i / 16 * 4) & 15;
    const int high = block.qh[i / 8] >> (i % 8) & 1;
    out[i] = static_cast<float>(low | high << 4) * d + m;
  }
}

/// The codes span the block's range exactly.
TANDEM_ALWAYS_INLINE void encode(const float* in, BlockQ5_1& out) {
  const blocks::Range range = blocks::range_of(in, 32);
  const float d = (range.max - range.min) / 31.0f;
  const float inverse = blocks::inverse_or_zero(d);
  out = {f32_to_f16(d), f32_to_f16(range.min), {}, {}};
  for (int i = 0; i < 32; ++i) {
    const int code = blocks::truncate_within((in[i] - range.min) * inverse + 0.5f, 0, 31);
    out.qs[i % 16] |= static_cast<uint8_t>((code & 15) << (i / 16 * 4));
    out.qh[i / 8] |= static_cast<uint8_t>(code >> 4 << (i % 8));
  }
}

}  // namespace tandem
