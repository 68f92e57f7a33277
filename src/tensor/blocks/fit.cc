#include "tensor/blocks/fit.h"

#include <algorithm>

namespace tandem::blocks {
namespace {

constexpr int kMaxElements = 32;
/// Alternating refinement converges within a few rounds; the bound only guards against cycles.
constexpr int kMaxRefinements = 8;

/// How well a set of codes c explains x = s * c: the error is sum x^2 - xc^2 / cc at s = xc / cc.
struct Moments {
  float xc = 0.0f;
  float cc = 0.0f;

  float scale() const { return cc > 0.0f ? xc / cc : 0.0f; }
  float gain() const { return cc > 0.0f ? xc * xc / cc : 0.0f; }
};

/// `encode_one(x_i)` gives {code, value}; fills `codes` and returns their moments with x.
template <class Code, class EncodeOne>
Moments assign(const float* x, int n, Code* codes, const EncodeOne& encode_one) {
  Moments m;
  for (int i = 0; i < n; ++i) {
    const auto [code, value] = encode_one(x[i]);
    codes[i] = static_cast<Code>(code);
    m.xc += x[i] * value;
    m.cc += value * value;
  }
  return m;
}

template <class Code>
struct Best {
  Moments moments;
  Code codes[kMaxElements] = {};

  bool take_if_better(const Moments& candidate, const Code* candidate_codes, int n) {
    if (!(candidate.gain() > moments.gain())) return false;
    moments = candidate;
    std::copy_n(candidate_codes, n, codes);
    return true;
  }
};

/// Tries each inverse scale of `starts` and refines the best one.
/// `encode_at(inverse)` gives the function for `assign`.
template <class Code, class EncodeAt, class Starts>
float search_scale(const float* x, int n, Code* codes, const EncodeAt& encode_at,
                   const Starts& starts) {
  Best<Code> best;
  Code trial[kMaxElements];
  for (const float inverse : starts) {
    best.take_if_better(assign(x, n, trial, encode_at(inverse)), trial, n);
  }
  for (int round = 0; round < kMaxRefinements; ++round) {
    const float inverse = inverse_or_zero(best.moments.scale());
    if (!best.take_if_better(assign(x, n, trial, encode_at(inverse)), trial, n)) break;
  }
  std::copy_n(best.codes, n, codes);
  return best.moments.scale();
}

struct AffineTrial {
  AffineFit fit{};
  float error = 0.0f;
  uint8_t codes[kMaxElements] = {};
};

float squared_error(const float* x, int n, const AffineTrial& trial) {
  float error = 0.0f;
  for (int i = 0; i < n; ++i) {
    const float difference =
        trial.fit.scale * static_cast<float>(trial.codes[i]) - trial.fit.minimum - x[i];
    error += difference * difference;
  }
  return error;
}

/// The scale and the minimum >= 0 that explain x best with these codes; false when all codes agree.
bool regress(const float* x, int n, AffineTrial& trial) {
  float c = 0.0f, cc = 0.0f, xc = 0.0f, sum_x = 0.0f;
  for (int i = 0; i < n; ++i) {
    const float code = static_cast<float>(trial.codes[i]);
    c += code;
    cc += code * code;
    xc += x[i] * code;
    sum_x += x[i];
  }
  const float determinant = static_cast<float>(n) * cc - c * c;
  if (!(determinant > 0.0f)) return false;
  trial.fit.scale = (static_cast<float>(n) * xc - sum_x * c) / determinant;
  trial.fit.minimum = (c * xc - cc * sum_x) / determinant;
  if (trial.fit.minimum < 0.0f) trial.fit = {xc / cc, 0.0f};
  return true;
}

void assign_affine(const float* x, int n, int high, float inverse, float minimum,
                   AffineTrial& trial) {
  for (int i = 0; i < n; ++i) {
    trial.codes[i] = static_cast<uint8_t>(round_within((x[i] + minimum) * inverse, 0, high));
  }
}

/// Assigns codes at `inverse` and `minimum`, regresses, and keeps the result in `best` if better.
bool try_affine(const float* x, int n, int high, float inverse, float minimum, AffineTrial& best) {
  AffineTrial trial;
  assign_affine(x, n, high, inverse, minimum, trial);
  if (!regress(x, n, trial)) return false;
  trial.error = squared_error(x, n, trial);
  if (!(trial.error < best.error)) return false;
  best = trial;
  return true;
}

}  // namespace

float fit_symmetric(const float* x, int n, int low, int high, int8_t* codes) {
  const float max = signed_max(x, n);
  if (max == 0.0f) {
    std::fill_n(codes, n, int8_t{0});
    return 0.0f;
  }
  // Starts let the largest element land between 0.9 codes inside and 0.9 outside of `low`.
  float starts[19];
  for (int k = -9; k <= 9; ++k) starts[k + 9] = (static_cast<float>(low) + 0.1f * k) / max;
  const auto encode_at = [low, high](float inverse) {
    return [low, high, inverse](float value) {
      const int code = round_within(value * inverse, low, high);
      return std::pair{code, static_cast<float>(code)};
    };
  };
  return search_scale(x, n, codes, encode_at, starts);
}

AffineFit fit_affine(const float* x, int n, int high, uint8_t* codes) {
  const Range range = range_of(x, n);
  const float minimum = range.min < 0.0f ? -range.min : 0.0f;
  const float span = range.max + minimum;
  if (!(span > 0.0f)) {
    std::fill_n(codes, n, uint8_t{0});
    return {0.0f, minimum};
  }
  AffineTrial best;
  best.fit = {span / static_cast<float>(high), minimum};
  assign_affine(x, n, high, static_cast<float>(high) / span, minimum, best);
  best.error = squared_error(x, n, best);
  // Starts stretch and shrink the span by up to a code: the extremes may clip for the others' sake.
  for (int k = -10; k <= 10; ++k) {
    try_affine(x, n, high, (static_cast<float>(high) + 0.1f * k) / span, minimum, best);
  }
  for (int round = 0; round < kMaxRefinements; ++round) {
    const float inverse = inverse_or_zero(best.fit.scale);
    if (!try_affine(x, n, high, inverse, best.fit.minimum, best)) break;
  }
  std::copy_n(best.codes, n, codes);
  return best.fit;
}

float fit_table(const float* x, int n, const int8_t* table, uint8_t* codes) {
  const float max = signed_max(x, n);
  if (max == 0.0f) {
    std::fill_n(codes, n, nearest_in_table(0.0f, table));
    return 0.0f;
  }
  float starts[15];
  for (int k = -7; k <= 7; ++k) starts[k + 7] = static_cast<float>(table[0] + k) / max;
  const auto encode_at = [table](float inverse) {
    return [table, inverse](float value) {
      const uint8_t code = nearest_in_table(value * inverse, table);
      return std::pair{code, static_cast<float>(table[code])};
    };
  };
  return search_scale(x, n, codes, encode_at, starts);
}

}  // namespace tandem::blocks
