// How one scale (and minimum) is fitted to a few weights.

#include "tensor/blocks/fit.h"

#include <algorithm>

namespace tandem::blocks {
namespace {

constexpr int kMaxElements = 32;
/// Alternating refinement converges within a few rounds; the bound only guards against cycles.
constexpr int kMaxRefinements = 8;

/// A choice of codes and how well their values v explain x = s * v: the squared error is
/// sum x^2 - xv^2 / vv at s = xv / vv.
struct Trial {
  int8_t codes[kMaxElements] = {};
  float xv = 0.0f;
  float vv = 0.0f;

  float scale() const { return vv > 0.0f ? xv / vv : 0.0f; }
  float gain() const { return vv > 0.0f ? xv * xv / vv : 0.0f; }
};

template <class Format>
Trial assign(const float* x, int n, Format format, float inverse) {
  Trial trial;
  for (int i = 0; i < n; ++i) {
    const Coded coded = format.nearest(x[i] * inverse);
    trial.codes[i] = coded.code;
    trial.xv += x[i] * coded.value;
    trial.vv += coded.value * coded.value;
  }
  return trial;
}

/// Whether codes at `inverse` beat `best`, which they then become.
template <class Format>
bool improve(const float* x, int n, Format format, float inverse, Trial& best) {
  const Trial trial = assign(x, n, format, inverse);
  if (!(trial.gain() > best.gain())) return false;
  best = trial;
  return true;
}

/// Starts let the largest element land between 0.9 codes inside the extreme value and 0.9 outside.
template <class Format>
float search_scale(const float* x, int n, Format format, int8_t* codes) {
  const float max = signed_max(x, n);
  Trial best = assign(x, n, format, 0.0f);
  if (max != 0.0f) {
    const float step = format.extreme() < -100.0f ? 1.0f : 0.1f;
    for (int k = -9; k <= 9; ++k) {
      improve(x, n, format, (format.extreme() + step * static_cast<float>(k)) / max, best);
    }
    for (int round = 0; round < kMaxRefinements; ++round) {
      if (!improve(x, n, format, inverse_or_zero(best.scale()), best)) break;
    }
  }
  std::copy_n(best.codes, n, codes);
  return best.scale();
}

struct AffineTrial {
  AffineFit fit{};
  float error = 0.0f;
};

/// Codes at `inverse` and `minimum`, then the scale and the minimum >= 0 that explain x best with
/// them. Whether they beat `best`, which they then become.
bool improve_affine(const float* x, int n, int high, float inverse, float minimum,
                    AffineTrial& best) {
  float codes[kMaxElements];
  float c = 0.0f, cc = 0.0f, xc = 0.0f, sum_x = 0.0f;
  for (int i = 0; i < n; ++i) {
    codes[i] = static_cast<float>(round_within((x[i] + minimum) * inverse, 0, high));
    c += codes[i];
    cc += codes[i] * codes[i];
    xc += x[i] * codes[i];
    sum_x += x[i];
  }
  const float determinant = static_cast<float>(n) * cc - c * c;
  if (!(determinant > 0.0f)) return false;
  AffineTrial trial;
  trial.fit.scale = (static_cast<float>(n) * xc - sum_x * c) / determinant;
  trial.fit.minimum = (c * xc - cc * sum_x) / determinant;
  if (trial.fit.minimum < 0.0f) trial.fit = {xc / cc, 0.0f};
  for (int i = 0; i < n; ++i) {
    const float difference = trial.fit.scale * codes[i] - trial.fit.minimum - x[i];
    trial.error += difference * difference;
  }
  if (!(trial.error < best.error)) return false;
  best = trial;
  return true;
}

}  // namespace

float fit_scale(const float* x, int n, IntegerCodes format, int8_t* codes) {
  return search_scale(x, n, format, codes);
}

float fit_scale(const float* x, int n, TableCodes format, int8_t* codes) {
  return search_scale(x, n, format, codes);
}

AffineFit fit_affine(const float* x, int n, int high) {
  const Range range = range_of(x, n);
  const float minimum = range.min < 0.0f ? -range.min : 0.0f;
  const float span = range.max + minimum;
  if (!(span > 0.0f)) return {0.0f, minimum};
  AffineTrial best{{span / static_cast<float>(high), minimum}, span * span * kMaxElements};
  // Starts stretch and shrink the span by up to a code: the extremes may clip for the others' sake.
  for (int k = -10; k <= 10; ++k) {
    const float codes = static_cast<float>(high) + 0.1f * static_cast<float>(k);
    improve_affine(x, n, high, codes / span, minimum, best);
  }
  for (int round = 0; round < kMaxRefinements; ++round) {
    const float inverse = inverse_or_zero(best.fit.scale);
    if (!improve_affine(x, n, high, inverse, best.fit.minimum, best)) break;
  }
  return best.fit;
}

}  // namespace tandem::blocks
