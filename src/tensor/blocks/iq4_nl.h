#pragma once

#include <array>
#include <cstdint>

#include "tensor/f16.h"

namespace tandem {

/// What a 4-bit code of IQ4_NL and IQ4_XS stands for: finer near zero, where weights are dense.
inline constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                          1,    13,   25,  38,  53,  69,  89,  113};

/// Halfway from each value to the next, for the encoders.
inline constexpr auto kIq4Middles = [] {
  std::array<float, 15> middles{};
  for (int i = 0; i < 15; ++i) {
    middles[i] = 0.5f * static_cast<float>(kIq4Values[i] + kIq4Values[i + 1]);
  }
  return middles;
}();

/// IQ4_NL: 32 weights of 4 bits on a non-linear scale, 4.5 bits a weight.
///
///   byte  0   1   2          3               17
///       +-------+----------+----------+ ... +----------+
///       |   d   | w16 | w0 | w17 | w1 |     | w31 | w15|     d: f16 scale
///       +-------+----------+----------+ ... +----------+     high nibble | low nibble
///
///   weight = d * kIq4Values[w]
struct BlockIq4Nl {
  static constexpr int kElements = 32;
  uint16_t d;
  uint8_t qs[16];
};
static_assert(sizeof(BlockIq4Nl) == 18);

TANDEM_ALWAYS_INLINE void decode(const BlockIq4Nl& block, float* out) {
  const float d = f16_to_f32(block.d);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(kIq4Values[block.qs[i] & 15]);
    out[i + 16] = d * static_cast<float>(kIq4Values[block.qs[i] >> 4]);
  }
}

/// Least-squares scale over the table's codes.
void encode(const float* in, BlockIq4Nl& out);

}  // namespace tandem
