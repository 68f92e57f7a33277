#include "tensor/blocks/super_block.h"

#include <algorithm>

#include "tensor/blocks/fit.h"

namespace tandem::blocks {
namespace {

/// Rounds `n` values >= 0 to [0, high] times the returned f16 scale.
uint16_t round_magnitudes(const float* values, int n, int high, uint8_t* rounded) {
  const float max = *std::max_element(values, values + n);
  const float inverse = max > 0.0f ? static_cast<float>(high) / max : 0.0f;
  for (int i = 0; i < n; ++i) {
    rounded[i] = static_cast<uint8_t>(round_within(values[i] * inverse, 0, high));
  }
  return f32_to_f16(max / static_cast<float>(high));
}

}  // namespace

uint16_t round_scales(const float* scales, int n, int magnitude, int8_t* rounded) {
  const float d = signed_max(scales, n) / static_cast<float>(-magnitude);
  const float inverse = inverse_or_zero(d);
  for (int i = 0; i < n; ++i) {
    rounded[i] = static_cast<int8_t>(round_within(scales[i] * inverse, -magnitude, magnitude - 1));
  }
  return f32_to_f16(d);
}

AffineSuperBlock fit_affine_super_block(const float* in, int n_sub, int high_scale, int high_code) {
  AffineSuperBlock out{};
  const int n = kSuperBlock / n_sub;
  float scales[16], minima[16];
  for (int sub = 0; sub < n_sub; ++sub) {
    const AffineFit fit = fit_affine(in + n * sub, n, high_code, out.codes + n * sub);
    scales[sub] = fit.scale;
    minima[sub] = fit.minimum;
  }
  out.d = round_magnitudes(scales, n_sub, high_scale, out.scales);
  out.dmin = round_magnitudes(minima, n_sub, high_scale, out.minima);
  for (int i = 0; i < kSuperBlock; ++i) {
    const float scale = f16_to_f32(out.d) * static_cast<float>(out.scales[i / n]);
    const float minimum = f16_to_f32(out.dmin) * static_cast<float>(out.minima[i / n]);
    const float inverse = inverse_or_zero(scale);
    out.codes[i] = static_cast<uint8_t>(round_within((in[i] + minimum) * inverse, 0, high_code));
  }
  return out;
}

SymmetricSuperBlock fit_symmetric_super_block(const float* in, int scale_magnitude,
                                              int code_magnitude) {
  SymmetricSuperBlock out;
  float scales[16];
  for (int sub = 0; sub < 16; ++sub) {
    scales[sub] =
        fit_symmetric(in + 16 * sub, 16, -code_magnitude, code_magnitude - 1, out.codes + 16 * sub);
  }
  out.d = round_scales(scales, 16, scale_magnitude, out.scales);
  for (int i = 0; i < kSuperBlock; ++i) {
    const float scale = f16_to_f32(out.d) * static_cast<float>(out.scales[i / 16]);
    const float inverse = inverse_or_zero(scale);
    out.codes[i] =
        static_cast<int8_t>(round_within(in[i] * inverse, -code_magnitude, code_magnitude - 1));
  }
  return out;
}

}  // namespace tandem::blocks
