// How a block of 256 weights shares one scale between sub-blocks.

#include "tensor/blocks/super_block.h"

#include <algorithm>
#include <limits>

namespace tandem::blocks {
namespace {

/// How many integers the largest sub-block scale is tried at: the extreme one and those inside it.
/// Each gives the f16 scale another rounding and the other sub-blocks another grid.
constexpr int kGridTrials = 4;

/// One sub-block's few-bit scale and what it costs.
struct SubChoice {
  int scale = 0;
  int minimum = 0;
  float error = std::numeric_limits<float>::infinity();
};

template <class Format>
float scaled_error(const float* x, int n, Format format, float scale) {
  const float inverse = inverse_or_zero(scale);
  float error = 0.0f;
  for (int i = 0; i < n; ++i) {
    const float difference = scale * format.nearest(x[i] * inverse).value - x[i];
    error += difference * difference;
  }
  return error;
}

/// The best of the three integer scales around `fitted / d`.
template <class Format>
SubChoice choose_scale(const float* x, int n, Format format, float fitted, float d, int magnitude) {
  SubChoice best;
  const int nearest = round_within(fitted * inverse_or_zero(d), -magnitude, magnitude - 1);
  for (const int scale : {nearest, nearest - 1, nearest + 1}) {
    if (scale < -magnitude || scale >= magnitude) continue;
    const float error = scaled_error(x, n, format, d * static_cast<float>(scale));
    if (error < best.error) best = {scale, 0, error};
  }
  return best;
}

/// A block's f16 scales with every sub-block's choice under them.
struct Grid {
  uint16_t d = 0;
  uint16_t dmin = 0;
  SubChoice choices[kMaxSubBlocks];
  float error = 0.0f;
};

/// The cheapest of the grids that `make_grid` gives for 0, 1, ... n_trials - 1; the first one if
/// none can be compared.
template <class MakeGrid>
Grid cheapest_grid(int n_trials, const MakeGrid& make_grid) {
  Grid best = make_grid(0);
  for (int inside = 1; inside < n_trials; ++inside) {
    const Grid grid = make_grid(inside);
    if (grid.error < best.error) best = grid;
  }
  return best;
}

template <class Format>
ScaledSuperBlock fit_scaled(const float* in, int n_sub, int magnitude, Format format) {
  const int n = kSuperBlock / n_sub;
  ScaledSuperBlock out{};
  float fitted[kMaxSubBlocks];
  for (int sub = 0; sub < n_sub; ++sub) {
    fitted[sub] = fit_scale(in + n * sub, n, format, out.codes + n * sub);
  }
  const float max = signed_max(fitted, n_sub);
  const Grid grid = cheapest_grid(kGridTrials, [&](int inside) {
    Grid trial;
    trial.d = f32_to_f16(max / static_cast<float>(inside - magnitude));
    const float d = f16_to_f32(trial.d);
    for (int sub = 0; sub < n_sub; ++sub) {
      trial.choices[sub] = choose_scale(in + n * sub, n, format, fitted[sub], d, magnitude);
      trial.error += trial.choices[sub].error;
    }
    return trial;
  });
  out.d = grid.d;
  for (int i = 0; i < kSuperBlock; ++i) {
    const int sub = i / n;
    out.scales[sub] = static_cast<int8_t>(grid.choices[sub].scale);
    const float scale = f16_to_f32(out.d) * static_cast<float>(out.scales[sub]);
    out.codes[i] = format.nearest(in[i] * inverse_or_zero(scale)).code;
  }
  return out;
}

/// What the sub-block costs at a scale and a minimum; `best_minimum` is the minimum that the codes
/// chosen there would prefer.
float affine_error(const float* x, int n, int high, AffineFit at, float& best_minimum) {
  const float inverse = inverse_or_zero(at.scale);
  float error = 0.0f, sum = 0.0f;
  for (int i = 0; i < n; ++i) {
    const int code = round_within((x[i] + at.minimum) * inverse, 0, high);
    const float above = at.scale * static_cast<float>(code) - x[i];
    sum += above;
    error += (above - at.minimum) * (above - at.minimum);
  }
  best_minimum = sum / static_cast<float>(n);
  return error;
}

/// The best of three integer scales around the fitted one, each with the minimum that suits it.
SubChoice choose_affine(const float* x, int n, int high_code, int high_scale, AffineFit fitted,
                        AffineFit unit) {
  SubChoice best;
  const float inverse_minimum = inverse_or_zero(unit.minimum);
  const int nearest = round_within(fitted.scale * inverse_or_zero(unit.scale), 0, high_scale);
  for (const int scale : {nearest, nearest - 1, nearest + 1}) {
    if (scale < 0 || scale > high_scale) continue;
    float minimum = fitted.minimum;
    for (int round = 0; round < 2; ++round) {
      const int rounded = round_within(minimum * inverse_minimum, 0, high_scale);
      const AffineFit at{unit.scale * static_cast<float>(scale),
                         unit.minimum * static_cast<float>(rounded)};
      const float error = affine_error(x, n, high_code, at, minimum);
      if (error < best.error) best = {scale, rounded, error};
    }
  }
  return best;
}

}  // namespace

ScaledSuperBlock fit_super_block(const float* in, int n_sub, int scale_magnitude,
                                 IntegerCodes format) {
  return fit_scaled(in, n_sub, scale_magnitude, format);
}

ScaledSuperBlock fit_super_block(const float* in, int n_sub, int scale_magnitude,
                                 TableCodes format) {
  return fit_scaled(in, n_sub, scale_magnitude, format);
}

AffineSuperBlock fit_affine_super_block(const float* in, int n_sub, int high_scale, int high_code) {
  const int n = kSuperBlock / n_sub;
  AffineFit fitted[kMaxSubBlocks];
  AffineFit max{};
  for (int sub = 0; sub < n_sub; ++sub) {
    fitted[sub] = fit_affine(in + n * sub, n, high_code);
    max = {std::max(max.scale, fitted[sub].scale), std::max(max.minimum, fitted[sub].minimum)};
  }
  const Grid grid = cheapest_grid(kGridTrials, [&](int inside) {
    Grid trial;
    trial.d = f32_to_f16(max.scale / static_cast<float>(high_scale - inside));
    trial.dmin = f32_to_f16(max.minimum / static_cast<float>(high_scale));
    const AffineFit unit{f16_to_f32(trial.d), f16_to_f32(trial.dmin)};
    for (int sub = 0; sub < n_sub; ++sub) {
      trial.choices[sub] = choose_affine(in + n * sub, n, high_code, high_scale, fitted[sub], unit);
      trial.error += trial.choices[sub].error;
    }
    return trial;
  });
  AffineSuperBlock out{};
  out.d = grid.d;
  out.dmin = grid.dmin;
  for (int i = 0; i < kSuperBlock; ++i) {
    const int sub = i / n;
    out.scales[sub] = static_cast<uint8_t>(grid.choices[sub].scale);
    out.minima[sub] = static_cast<uint8_t>(grid.choices[sub].minimum);
    const float scale = f16_to_f32(out.d) * static_cast<float>(out.scales[sub]);
    const float minimum = f16_to_f32(out.dmin) * static_cast<float>(out.minima[sub]);
    const float inverse = inverse_or_zero(scale);
    out.codes[i] = static_cast<uint8_t>(round_within((in[i] + minimum) * inverse, 0, high_code));
  }
  return out;
}

}  // namespace tandem::blocks
