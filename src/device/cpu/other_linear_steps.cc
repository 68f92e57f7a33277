// Linears in the arithmetic of simulated processors.

#include "device/cpu/other_linear_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/convert.h"

namespace tandem {
namespace {

constexpr size_t kChunksPerThread = 8;  // as LinearStep

// A code is 255 high + low with both halves in [-127, 127], the range that the int8 kernels take.
constexpr int kHalfBase = 255;
constexpr int kHalfMax = 127;
constexpr float kCodeMax = kHalfBase * kHalfMax + kHalfMax;  // 32512

/// max|x| of a row over the largest code; 0 for a row of zeros, NaN when some element is not
/// finite.
float row_scale(const float* x, size_t n) {
  float most = 0;
  for (size_t i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) return std::numeric_limits<float>::quiet_NaN();
    most = std::max(most, std::fabs(x[i]));
  }
  return most / kCodeMax;
}

/// Nearest, ties to even, saturated.
int code_of(float x, float inverse_scale) {
  const float code = std::nearbyint(x * inverse_scale);
  return static_cast<int>(std::clamp(code, -kCodeMax, kCodeMax));
}

/// round(code / 255), so that the rest is within [-127, 127].
int high_of(int code) {
  const int shifted = code + kHalfBase * kHalfMax + kHalfMax;  // >= 0
  return shifted / kHalfBase - kHalfMax;
}

template <class Run>
void over_tiles(const StepContext& c, size_t n, const Run& run) {
  const size_t n_tiles = (n + kernels::kTileRows - 1) / kernels::kTileRows;
  const size_t grain = std::max<size_t>(1, n_tiles / (c.pool.n_threads() * kChunksPerThread));
  c.pool.parallel_for(n_tiles, grain, [&](size_t begin, size_t end, int) {
    run(begin * kernels::kTileRows, std::min(end * kernels::kTileRows, n));
  });
}

}  // namespace

void Int16LinearStep::quantize(const StepContext& c, Half half) const {
  const size_t k = c.width(input_);
  const kernels::QuantizedActivations all = c.scratch.quantized();
  c.pool.parallel_for(c.n_rows(input_), 4, [&](size_t begin, size_t end, int) {
    for (size_t row = begin; row < end; ++row) {
      const float* x = c.value(input_) + row * k;
      const float scale = row_scale(x, k);
      const bool has_codes = scale > 0;  // neither zeros nor NaN
      const float inverse = has_codes ? 1.0f / scale : 0.0f;
      int8_t* codes = all.codes + row * k;
      for (size_t i = 0; i < k; ++i) {
        const int code = has_codes ? code_of(x[i], inverse) : 0;
        const int high = high_of(code);
        codes[i] = static_cast<int8_t>(half == Half::kHigh ? high : code - kHalfBase * high);
      }
      const float of_half = half == Half::kHigh ? scale * kHalfBase : scale;
      std::fill_n(all.scales + row * k / kernels::kActivationGroup, k / kernels::kActivationGroup,
                  of_half);
      for (size_t h = 0; h < k / kernels::kActivationHalf; ++h) {
        int sum = 0;
        for (size_t i = 0; i < kernels::kActivationHalf; ++i) {
          sum += codes[h * kernels::kActivationHalf + i];
        }
        all.sums[row * k / kernels::kActivationHalf + h] = static_cast<int16_t>(sum);
      }
    }
  });
}

void Int16LinearStep::multiply(const StepContext& c, float* y, const float* bias) const {
  const kernels::PackedMatrix w = weight_->view(c.bindings.planes);
  const kernels::LinearFn run = w.low == nullptr ? kernel_.run : nested_.run;
  over_tiles(c, w.n, [&](size_t begin, size_t end) {
    run({.w = w,
         .x = c.value(input_),
         .x_stride = c.row_bytes(input_),
         .xq = c.scratch.quantized(),
         .bias = bias,
         .y = y,
         .y_stride = c.row_bytes(output_),
         .m = c.n_rows(output_),
         .n_begin = begin,
         .n_end = end});
  });
}

void Int16LinearStep::run(const StepContext& c) const {
  float* low = c.scratch.partial();
  quantize(c, Half::kLow);
  multiply(c, low, bias_.empty() ? nullptr : bias_.data());
  quantize(c, Half::kHigh);
  float* y = c.value(output_);
  multiply(c, y, nullptr);
  const size_t n = c.n_rows(output_) * c.width(output_);
  c.pool.parallel_for(n, 16384, [&](size_t begin, size_t end, int) {
    for (size_t i = begin; i < end; ++i) y[i] += low[i];
  });
}

void RoundedLinearStep::run(const StepContext& c) const {
  const size_t k = c.width(input_);
  const DType type = weight_->matrix.type;
  float* rounded = c.scratch.partial();
  c.pool.parallel_for(c.n_rows(input_), 4, [&](size_t begin, size_t end, int thread) {
    std::byte* encoded = c.scratch.rounding(thread);
    for (size_t row = begin; row < end; ++row) {
      encode_row(type, c.value(input_) + row * k, encoded, k);
      decode_row(type, encoded, rounded + row * k, k);
    }
  });
  over_tiles(c, weight_->matrix.n, [&](size_t begin, size_t end) {
    kernel_.run({.w = weight_->matrix,
                 .x = rounded,
                 .x_stride = k * sizeof(float),
                 .xq = {},
                 .bias = bias_.empty() ? nullptr : bias_.data(),
                 .y = c.value(output_),
                 .y_stride = c.row_bytes(output_),
                 .m = c.n_rows(output_),
                 .n_begin = begin,
                 .n_end = end});
  });
}

}  // namespace tandem
