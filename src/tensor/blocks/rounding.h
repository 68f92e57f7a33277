#pragma once

#include <bit>
#include <cstdint>

#include "tensor/f16.h"

// Float to code conversions that are defined for every input: a plain cast of a NaN or of a value
// outside the integer's range is undefined, and weights come from files.

namespace tandem::blocks {

/// x cut towards zero, within [low, high]; NaN gives low.
TANDEM_ALWAYS_INLINE int truncate_within(float x, int low, int high) {
  if (!(x > static_cast<float>(low))) return low;
  return x >= static_cast<float>(high) ? high : static_cast<int>(x);
}

/// x rounded to nearest, ties to even, within [low, high]; NaN gives low. |low|, |high| < 2^21.
TANDEM_ALWAYS_INLINE int round_within(float x, int low, int high) {
  const float above = x > static_cast<float>(low) ? x : static_cast<float>(low);
  const float inside = above < static_cast<float>(high) ? above : static_cast<float>(high);
  // At 1.5 * 2^23 a float counts in ones, so the addition rounds and leaves the integer's bits.
  return static_cast<int>(std::bit_cast<uint32_t>(inside + 0x1.8p23f) - 0x4b400000u);
}

/// x rounded to nearest, ties away from zero, within [low, high]; NaN gives low.
TANDEM_ALWAYS_INLINE int round_away_within(float x, int low, int high) {
  const int whole = truncate_within(x, low, high);
  if (whole == low || whole == high) return whole;
  const float rest = x - static_cast<float>(whole);
  return whole + (rest >= 0.5f) - (rest <= -0.5f);
}

/// 1 / x, or 0 for 0.
TANDEM_ALWAYS_INLINE float inverse_or_zero(float x) { return x != 0.0f ? 1.0f / x : 0.0f; }

/// The element of largest magnitude, with its sign; the first of equals, 0 for an all-zero block.
TANDEM_ALWAYS_INLINE float signed_max(const float* x, int n) {
  float max = 0.0f;
  float magnitude = 0.0f;
  for (int i = 0; i < n; ++i) {
    const float candidate = x[i] < 0.0f ? -x[i] : x[i];
    if (candidate > magnitude) {
      magnitude = candidate;
      max = x[i];
    }
  }
  return max;
}

struct Range {
  float min;
  float max;
};

TANDEM_ALWAYS_INLINE Range range_of(const float* x, int n) {
  Range range{x[0], x[0]};
  for (int i = 1; i < n; ++i) {
    if (x[i] < range.min) range.min = x[i];
    if (x[i] > range.max) range.max = x[i];
  }
  return range;
}

}  // namespace tandem::blocks
