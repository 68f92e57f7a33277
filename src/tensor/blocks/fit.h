#pragma once

#include <cstdint>

#include "tensor/blocks/rounding.h"

// The least-squares searches behind the encoders of formats whose best scale has no closed form.
// All are deterministic, defined for every input (non-finite input gives meaningless codes), and
// need n <= 32.

namespace tandem::blocks {

/// A code and the multiple of the scale that it stands for.
struct Coded {
  int8_t code;
  float value;
};

/// Codes that are the integers [low, high] themselves.
struct IntegerCodes {
  int low;
  int high;

  TANDEM_ALWAYS_INLINE Coded nearest(float x) const {
    const int code = round_within(x, low, high);
    return {static_cast<int8_t>(code), static_cast<float>(code)};
  }
  /// The value of largest magnitude.
  float extreme() const { return static_cast<float>(low); }
};

/// Codes that index sixteen rising values, of which the first has the largest magnitude.
struct TableCodes {
  const int8_t* values;  ///< (16)
  const float* middles;  ///< (15): halfway from each value to the next

  /// The lower code on a tie.
  TANDEM_ALWAYS_INLINE Coded nearest(float x) const {
    int code = 0;
    for (int step = 8; step > 0; step /= 2) code += x > middles[code + step - 1] ? step : 0;
    return {static_cast<int8_t>(code), static_cast<float>(values[code])};
  }
  float extreme() const { return static_cast<float>(values[0]); }
};

/// Chooses codes and returns the scale s that minimise sum (x - s * value)^2, as far as a search
/// over starting scales with alternating refinement finds it. 0 for an all-zero x.
float fit_scale(const float* x, int n, IntegerCodes format, int8_t* codes);
float fit_scale(const float* x, int n, TableCodes format, int8_t* codes);

struct AffineFit {
  float scale;
  float minimum;  ///< >= 0, subtracted
};
/// The same for x ~ scale * code - minimum with codes in [0, high].
AffineFit fit_affine(const float* x, int n, int high);

}  // namespace tandem::blocks
