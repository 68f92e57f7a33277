#include "tensor/blocks/mxfp4.h"

#include <cmath>

namespace tandem {
namespace {

/// Index into kMxfp4Values of the value nearest to x / d.
uint8_t nearest_code(float x, float d) {
  uint8_t best = 0;
  float best_error = std::fabs(x);
  for (uint8_t code = 1; code < 16; ++code) {
    const float error = std::fabs(static_cast<float>(kMxfp4Values[code]) * d - x);
    if (error < best_error) {
      best = code;
      best_error = error;
    }
  }
  return best;
}

/// The biased exponent byte; 0 (2^-127) for blocks too small to represent.
uint8_t shared_exponent(float max) {
  if (max == 0.0f) return 0;
  const int exponent = std::isfinite(max) ? std::ilogb(max) : 128;
  return static_cast<uint8_t>(exponent < -125 ? 0 : exponent - 2 + 127);
}

}  // namespace

void encode(const float* in, BlockMxfp4& out) {
  out.e = shared_exponent(blocks::signed_max(in, 32));
  const float d = mxfp4_half_scale(out.e);
  for (int i = 0; i < 16; ++i) {
    out.qs[i] = static_cast<uint8_t>(nearest_code(in[i], d) | nearest_code(in[i + 16], d) << 4);
  }
}

}  // namespace tandem
