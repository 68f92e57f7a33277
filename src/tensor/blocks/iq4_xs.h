#pragma once

#include <cstdint>

#include "tensor/blocks/iq4_nl.h"
#include "tensor/f16.h"

namespace tandem {

/// IQ4_XS: 256 weights of IQ4_NL's 4-bit codes in 8 sub-blocks of 32, 4.25 bits a weight.
///
///   byte 0   1   2      4          8                        135
///       +-------+------+--- ... ---+------- ... ------------+
///       |   d   | s hi | s low     |  codes                 |
///       +-------+------+--- ... ---+------- ... ------------+
///
///   Scale j: low nibble in byte 4 + j / 2 (low half for even j), upper two bits from bit 2 * j of
///   the little-endian word in bytes 2-3.
///   Code of weight i: byte 8 + 16 * (i / 32) + i % 16, low nibble for i % 32 < 16, else high.
///   weight i = (d * (s[i / 32] - 32)) * kIq4Values[code]
struct BlockIq4Xs {
  static constexpr int kElements = 256;
  uint16_t d;
  uint16_t scales_h;
  uint8_t scales_l[4];
  uint8_t qs[128];
};
static_assert(sizeof(BlockIq4Xs) == 136);

/// The eight scales, made signed (-32 .. 31).
TANDEM_ALWAYS_INLINE void unpack_iq4_xs_scales(const BlockIq4Xs& block, int8_t scales[8]) {
  for (int j = 0; j < 8; ++j) {
    const int low = block.scales_l[j / 2] >> (j % 2 * 4) & 15;
    const int high = block.scales_h >> (2 * j) & 3;
    scales[j] = static_cast<int8_t>((low | high << 4) - 32);
  }
}

/// The inverse, for scales in [-32, 31].
TANDEM_ALWAYS_INLINE void pack_iq4_xs_scales(const int8_t scales[8], BlockIq4Xs& block) {
  block.scales_h = 0;
  for (int j = 0; j < 4; ++j) block.scales_l[j] = 0;
  for (int j = 0; j < 8; ++j) {
    const int value = scales[j] + 32;
    block.scales_l[j / 2] |= static_cast<uint8_t>((value & 15) << (j % 2 * 4));
    block.scales_h |= static_cast<uint16_t>(value >> 4 << (2 * j));
  }
}

/// Index into kIq4Values.
TANDEM_ALWAYS_INLINE int iq4_xs_code(const BlockIq4Xs& block, int i) {
  return block.qs[i / 32 * 16 + i % 16] >> (i / 16 % 2 * 4) & 15;
}

TANDEM_ALWAYS_INLINE void decode(const BlockIq4Xs& block, float* out) {
  const float d = f16_to_f32(block.d);
  int8_t scales[8];
  unpack_iq4_xs_scales(block, scales);
  for (int sub = 0; sub < 8; ++sub) {
    const float scale = d * static_cast<float>(scales[sub]);
    for (int i = 32 * sub; i < 32 * sub + 32; ++i) {
      out[i] = scale * static_cast<float>(kIq4Values[iq4_xs_code(block, i)]);
    }
  }
}

/// Least-squares scale of each sub-block, rounded to 6 bits, then codes once more.
void encode(const float* in, BlockIq4Xs& out);

}  // namespace tandem
