#pragma once

#include <cstdint>

#include "tensor/blocks/rounding.h"
#include "tensor/f16.h"

namespace tandem {

/// Q4_24: of every four weights two are kept, at 4 bits; 32 weights in 14 bytes, 3.5 bits a weight.
/// GGUF has no number for it.
///
///   byte  0   1   2        3              9          10                 13
///       +-------+--------+--------+ ... +---------+--------------+ ... +--------------+
///       |   d   | c8 | c0| c9 | c1|     | c15 | c7| p12 p8 p4 p0 |     | p15 p11 p7 p3|
///       +-------+--------+--------+ ... +---------+--------------+ ... +--------------+
///
///   d: f16 scale; kept weight i (0 to 15) belongs to weights 4 (i / 2) to 4 (i / 2) + 3, is the
///   one at place p_i (2 bits) among them and has the value d * (c_i - 8). All others are 0.
///
/// The bytes are those of the packed layout (docs/packed_weights.md), where kept weights 4 q to
/// 4 q + 3 share a 32-bit lane. Two kept weights at one place add up.
struct BlockQ4_24 {
  static constexpr int kElements = 32;
  static constexpr int kKept = 16;
  uint16_t d;
  uint8_t qs[8];
  uint8_t places[4];
};
static_assert(sizeof(BlockQ4_24) == 14);

TANDEM_ALWAYS_INLINE int q4_24_code(const BlockQ4_24& block, int kept) {
  return block.qs[kept % 8] >> (kept / 8 * 4) & 15;
}
TANDEM_ALWAYS_INLINE void q4_24_set_code(BlockQ4_24& block, int kept, int code) {
  const int shift = kept / 8 * 4;
  block.qs[kept % 8] = static_cast<uint8_t>((block.qs[kept % 8] & ~(15 << shift)) | code << shift);
}
/// Which of the 32 weights it is.
TANDEM_ALWAYS_INLINE int q4_24_position(const BlockQ4_24& block, int kept) {
  return kept / 2 * 4 + (block.places[kept % 4] >> (kept / 4 * 2) & 3);
}

TANDEM_ALWAYS_INLINE void decode(const BlockQ4_24& block, float* out) {
  int values[32] = {};
  for (int i = 0; i < BlockQ4_24::kKept; ++i) {
    values[q4_24_position(block, i)] += q4_24_code(block, i) - 8;
  }
  const float d = f16_to_f32(block.d);
  for (int i = 0; i < 32; ++i) out[i] = static_cast<float>(values[i]) * d;
}

/// Keeps the two of each four whose squared weight times `importance` (of its input channel, (32),
/// or null: 1) is largest, the first of equals, and gives them the scale of least squared error.
void encode(const float* in, const float* importance, BlockQ4_24& out);
inline void encode(const float* in, BlockQ4_24& out) { encode(in, nullptr, out); }

}  // namespace tandem
