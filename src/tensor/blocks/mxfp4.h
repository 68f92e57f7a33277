#pragma once

#include <cstdint>

#include "tensor/blocks/rounding.h"
#include "tensor/f16.h"

namespace tandem {

/// Twice the values of the sixteen FP4 (E2M1) codes: sign, two exponent bits, one mantissa bit.
inline constexpr int8_t kMxfp4Values[16] = {0, 1,  2,  3,  4,  6,  8,  12,
                                            0, -1, -2, -3, -4, -6, -8, -12};

/// MXFP4 of the OCP microscaling specification 1.0: 32 weights of FP4 with a shared power of two,
/// 4.25 bits a weight.
///
///   byte  0   1          2               16
///       +---+----------+----------+ ... +----------+
///       | e | w16 | w0 | w17 | w1 |     | w31 | w15|     e: exponent, 127 means 2^0
///       +---+----------+----------+ ... +----------+     high nibble | low nibble
///
///   weight = 2^(e - 128) * kMxfp4Values[w];  e = 255, NaN in the specification, counts as 2^127
///   here as it does in GGUF's other readers.
struct BlockMxfp4 {
  static constexpr int kElements = 32;
  uint8_t e;
  uint8_t qs[16];
};
static_assert(sizeof(BlockMxfp4) == 17);

/// 2^(e - 128), half the block's scale because the value table is doubled. Exact; subnormal for
/// e < 2.
TANDEM_ALWAYS_INLINE float mxfp4_half_scale(uint8_t e) {
  const uint32_t bits = e < 2 ? 0x00200000u << e : (e - 1u) << 23;
  return std::bit_cast<float>(bits);
}

TANDEM_ALWAYS_INLINE void decode(const BlockMxfp4& block, float* out) {
  const float d = mxfp4_half_scale(block.e);
  for (int i = 0; i < 16; ++i) {
    out[i] = static_cast<float>(kMxfp4Values[block.qs[i] & 15]) * d;
    out[i + 16] = static_cast<float>(kMxfp4Values[block.qs[i] >> 4]) * d;
  }
}

/// The exponent puts the largest magnitude into [4, 8) of FP4's [-6, 6], as the specification says;
/// every weight takes the nearest code, the smaller code on a tie.
void encode(const float* in, BlockMxfp4& out);

}  // namespace tandem
