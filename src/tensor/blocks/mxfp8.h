#pragma once

#include <bit>
#include <cstdint>

#include "tensor/blocks/rounding.h"
#include "tensor/f16.h"

namespace tandem {

/// MXFP8 (E4M3) of the OCP microscaling specification 1.0: 32 weights of FP8 with a shared power of
/// two, 8.25 bits a weight. GGUF has no number for it.
///
///   byte  0   1    2         32
///       +---+----+----+ ... +-----+
///       | e | w0 | w1 |     | w31 |     e: exponent, 127 means 2^0; w: sign, 4 exponent bits of
///       +---+----+----+ ... +-----+     bias 7, 3 mantissa bits
///
///   weight = 2^(e - 127) * w
///
/// Two corners differ from the specification, so that kernels need no case for them: codes 0x7f and
/// 0xff, NaN there, count as 480 and -480, and exponents from 247 as infinity. `encode` writes
/// neither, `is_finite` finds both.
struct BlockMxfp8 {
  static constexpr int kElements = 32;
  uint8_t e;
  uint8_t qs[32];
};
static_assert(sizeof(BlockMxfp8) == 33);

/// 2^(e - 119): the scale of values whose bits are read as f16 (`fp8_as_f16`).
TANDEM_ALWAYS_INLINE float mxfp8_f16_scale(uint8_t e) {
  const uint32_t exponent = e < 247 ? e + 8u : 255u;
  return std::bit_cast<float>(exponent << 23);
}

/// An E4M3 code as the f16 number 2^-8 times its value: both have a sign and subnormals, f16 has
/// one exponent bit more, of a bias 8 higher, and seven mantissa bits more.
TANDEM_ALWAYS_INLINE uint16_t fp8_as_f16(uint8_t code) {
  return static_cast<uint16_t>((code & 0x80) << 8 | (code & 0x7f) << 7);
}

TANDEM_ALWAYS_INLINE void decode(const BlockMxfp8& block, float* out) {
  const float scale = mxfp8_f16_scale(block.e);
  for (int i = 0; i < 32; ++i) out[i] = f16_to_f32(fp8_as_f16(block.qs[i])) * scale;
}

TANDEM_ALWAYS_INLINE bool is_finite(const BlockMxfp8& block) {
  bool finite = block.e < 247;
  for (int i = 0; i < 32; ++i) finite &= (block.qs[i] & 0x7f) != 0x7f;
  return finite;
}

/// The code nearest to x, the even one on a tie; magnitudes above 448 become 448, NaN 448 as well.
uint8_t fp8_from_f32(float x);

/// The exponent is the specification's, which puts the largest magnitude into [256, 512), or the
/// one above, whichever leaves the smaller squared error: at the first, magnitudes above 448 are
/// cut.
void encode(const float* in, BlockMxfp8& out);

}  // namespace tandem
