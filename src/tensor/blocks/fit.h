#pragma once

#include <cstdint>

#include "tensor/blocks/rounding.h"

// The least-squares searches behind the encoders of formats whose best scale has no closed form.
// All are deterministic, defined for every input (non-finite input gives meaningless codes), and
// need n <= 32.

namespace tandem::blocks {

/// Chooses codes in [low, high] and returns the scale s that minimise sum (x - s * code)^2, as far
/// as a search over starting scales with alternating refinement finds it. 0 for an all-zero x.
float fit_symmetric(const float* x, int n, int low, int high, int8_t* codes);

struct AffineFit {
  float scale;
  float minimum;  ///< >= 0, subtracted
};
/// The same for x ~ scale * code - minimum with codes in [0, high].
AffineFit fit_affine(const float* x, int n, int high, uint8_t* codes);

/// The same for x ~ s * table[code] over sixteen rising table values.
float fit_table(const float* x, int n, const int8_t* table, uint8_t* codes);

/// The nearest code to x in a rising table of sixteen; the lower one on a tie or NaN.
TANDEM_ALWAYS_INLINE uint8_t nearest_in_table(float x, const int8_t* table) {
  uint8_t code = 0;
  for (int i = 0; i < 15; ++i) {
    code += x > 0.5f * static_cast<float>(table[i] + table[i + 1]);
  }
  return code;
}

}  // namespace tandem::blocks
