#pragma once

#include <cstdint>

#include "tensor/f16.h"

namespace tandem {

/// Q3_K: 256 weights of 3 bits around zero in 16 sub-blocks of 16, 3.4375 bits a weight.
///
///   byte 0               32                   96           108 109
///       +--- ... --------+--- ... ------------+--- ... ----+-------+
///       | high bits      |  low 2 bits        |  scales    |   d   |
///       +--- ... --------+--- ... ------------+--- ... ----+-------+
///
///   Weight i: low bits in byte 32 + 32 * (i / 128) + i % 32, from bit 2 * (i / 32 % 4);
///             high bit in byte i % 32, bit i / 32.
///   weight i = (d * (s[i / 16] - 32)) * (high << 2 | low, less 4)
struct BlockQ3_K {
  static constexpr int kElements = 256;
  uint8_t hmask[32];
  uint8_t qs[64];
  uint8_t scales[12];
  uint16_t d;
};
static_assert(sizeof(BlockQ3_K) == 110);

/// The sixteen 6-bit scales, made signed (-32 .. 31). Low nibbles: byte j % 8, low half for j < 8,
/// high half above; upper two bits: byte 8 + j % 4, from bit 2 * (j / 4).
TANDEM_ALWAYS_INLINE void unpack_q3_k_scales(const uint8_t packed[12], int8_t scales[16]) {
  for (int j = 0; j < 16; ++j) {
    const int low = packed[j % 8] >> (j / 8 * 4) & 15;
    const int high = packed[8 + j % 4] >> (j / 4 * 2) & 3;
    scales[j] = static_cast<int8_t>((low | high << 4) - 32);
  }
}

/// The inverse, for scales in [-32, 31].
TANDEM_ALWAYS_INLINE void pack_q3_k_scales(const int8_t scales[16], uint8_t packed[12]) {
  for (int j = 0; j < 12; ++j) packed[j] = 0;
  for (int j = 0; j < 16; ++j) {
    const int value = scales[j] + 32;
    packed[j % 8] |= static_cast<uint8_t>((value & 15) << (j / 8 * 4));
    packed[8 + j % 4] |= static_cast<uint8_t>(value >> 4 << (j / 4 * 2));
  }
}

/// In [-4, 3].
TANDEM_ALWAYS_INLINE int q3_k_code(const BlockQ3_K& block, int i) {
  const int low = block.qs[i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3;
  const int high = block.hmask[i % 32] >> (i / 32) & 1;
  return low - 4 * (1 - high);
}

TANDEM_ALWAYS_INLINE void decode(const BlockQ3_K& block, float* out) {
  const float d = f16_to_f32(block.d);
  int8_t scales[16];
  unpack_q3_k_scales(block.scales, scales);
  for (int sub = 0; sub < 16; ++sub) {
    const float scale = d * static_cast<float>(scales[sub]);
    for (int i = 16 * sub; i < 16 * sub + 16; ++i) {
      out[i] = scale * static_cast<float>(q3_k_code(block, i));
    }
  }
}

/// Least-squares scale of each sub-block, rounded to 6 bits, then codes once more.
void encode(const float* in, BlockQ3_K& out);

}  // namespace tandem
