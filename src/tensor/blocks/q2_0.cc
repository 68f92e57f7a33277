// Chooses a scale for 64 weights of 2 bits.

#include "tensor/blocks/q2_0.h"

#include <initializer_list>
#include <limits>

namespace tandem {
namespace {

constexpr int kElements = BlockQ2_0::kElements;

struct Fit {
  uint16_t d = 0;
  double error = std::numeric_limits<double>::infinity();
  double refit = 0;  ///< the scale of least squares for these codes
  uint8_t codes[kElements];
};

/// Nearest codes under a scale, as f16 stores it.
Fit fit_at(const float* in, float scale) {
  Fit out;
  out.d = f32_to_f16(scale);
  out.error = 0;
  const float d = f16_to_f32(out.d);
  const float inverse = blocks::inverse_or_zero(d);
  double products = 0, squares = 0;
  for (int i = 0; i < kElements; ++i) {
    const int value = blocks::round_within(in[i] * inverse, -1, 2);
    const double rest = static_cast<double>(in[i]) - static_cast<double>(d) * value;
    out.codes[i] = static_cast<uint8_t>(value + 1);
    out.error += rest * rest;
    products += static_cast<double>(in[i]) * value;
    squares += value * value;
  }
  out.refit = squares > 0 ? products / squares : 0;
  return out;
}

/// The starting scale, then least squares and nearest codes in turn while that helps.
Fit refined(const float* in, float scale) {
  constexpr int kMaxSteps = 8;
  Fit best = fit_at(in, scale);
  for (int i = 0; i < kMaxSteps; ++i) {
    const Fit next = fit_at(in, static_cast<float>(best.refit));
    if (!(next.error < best.error)) break;
    best = next;
  }
  return best;
}

}  // namespace

void encode(const float* in, BlockQ2_0& out) {
  // From the long arm at the largest weight down to a short arm far below it.
  constexpr float kShares[] = {0.5f, 0.42f, 0.36f, 0.31f, 0.27f, 0.23f, 0.2f, 1.0f};
  const float largest = blocks::signed_max(in, kElements);
  Fit best = fit_at(in, largest);
  for (const float share : kShares) {
    for (const float sign : {1.0f, -1.0f}) {
      const Fit fit = refined(in, sign * share * largest);
      if (fit.error < best.error) best = fit;
    }
  }
  out.d = best.d;
  for (int i = 0; i < kElements / 4; ++i) {
    const uint8_t* c = best.codes + 4 * i;
    out.qs[i] = static_cast<uint8_t>(c[0] | c[1] << 2 | c[2] << 4 | c[3] << 6);
  }
}

}  // namespace tandem
