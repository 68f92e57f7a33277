#pragma once

#include <cstddef>
#include <span>

#include "kernels/isa.h"

namespace tandem::kernels {

/// y[r][i] = x[r][i] * w[i] / sqrt(mean_i(x[r][i]^2) + eps)
///
/// The squares are summed in sixteen lanes (lane = i mod 16, each in order of i, fused) that are
/// then reduced pairwise; x is first multiplied by the inverse root, then by w. Every row of the
/// table computes the same bits.
struct RmsNormArgs {
  const float* x;       ///< (n_rows, n), rows `x_stride` bytes apart; no alignment needed
  const float* weight;  ///< (n), or null for ones
  float* y;             ///< (n_rows, n), rows `y_stride` bytes apart; may be x
  size_t n_rows;
  size_t n;
  size_t x_stride;
  size_t y_stride;
  float eps;
};
using RmsNormFn = void (*)(const RmsNormArgs&) noexcept;

struct RmsNormRow {
  Isa isa;
  const char* name;  ///< for instance "rms_norm_f32_avx2"
  RmsNormFn run;
};
/// Every row of this build, scalar first.
std::span<const RmsNormRow> rms_norm_rows();
/// The row of `isa`, or the best one below it.
const RmsNormRow& select_rms_norm(Isa isa);

}  // namespace tandem::kernels
