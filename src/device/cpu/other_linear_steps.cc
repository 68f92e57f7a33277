// Linears in the arithmetic of simulated processors.

#include "device/cpu/other_linear_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "device/cpu/linear_arithmetic.h"
#include "tensor/convert.h"

namespace tandem {
namespace {

constexpr size_t kChunksPerThread = 8;  // as LinearStep

// A 16-bit code is 255 high + low with both halves in [-127, 127], what the int8 kernels take.
constexpr int kHalfBase = 255;
static_assert(kInt16CodeMax == kHalfBase * kInt8CodeMax + kInt8CodeMax);

/// Nearest, ties to even, saturated.
int code_of(float x, float inverse_scale, int largest) {
  const auto limit = static_cast<float>(largest);
  return static_cast<int>(std::clamp(std::nearbyint(x * inverse_scale), -limit, limit));
}

/// round(code / 255), so that the rest is within [-127, 127].
int high_of(int code) { return (code + kInt16CodeMax) / kHalfBase - kInt8CodeMax; }

template <class Run>
void over_tiles(const StepContext& c, size_t n, const Run& run) {
  const size_t n_tiles = (n + kernels::kTileRows - 1) / kernels::kTileRows;
  const size_t grain = std::max<size_t>(1, n_tiles / (c.pool.n_threads() * kChunksPerThread));
  c.pool.parallel_for(n_tiles, grain, [&](size_t begin, size_t end, int) {
    run(begin * kernels::kTileRows, std::min(end * kernels::kTileRows, n));
  });
}

}  // namespace

/// The row's scale: NaN when some element is not finite, 0 for a row of zeros without a static one.
float CodedLinearStep::scale_of(const float* x, size_t k) const {
  float most = 0;
  for (size_t i = 0; i < k; ++i) {
    if (!std::isfinite(x[i])) return std::numeric_limits<float>::quiet_NaN();
    most = std::max(most, std::fabs(x[i]));
  }
  if (format_.static_scale >= 0) return format_.static_scale;
  return most / static_cast<float>(format_.largest);
}

void CodedLinearStep::quantize_row(const float* x, size_t k, Part part,
                                   kernels::QuantizedActivations out) const {
  const float scale = scale_of(x, k);
  const bool has_codes = scale > 0;  // neither zero nor NaN
  const float inverse = has_codes ? 1.0f / scale : 0.0f;
  for (size_t i = 0; i < k; ++i) {
    const int code = has_codes ? code_of(x[i], inverse, format_.largest) : 0;
    const int high = part == Part::kWhole ? 0 : high_of(code);
    out.codes[i] = static_cast<int8_t>(part == Part::kHigh ? high : code - kHalfBase * high);
  }
  const float of_part = part == Part::kHigh ? scale * kHalfBase : scale;
  std::fill_n(out.scales, k / kernels::kActivationGroup, of_part);
  for (size_t h = 0; h < k / kernels::kActivationHalf; ++h) {
    const int8_t* half = out.codes + h * kernels::kActivationHalf;
    out.sums[h] = static_cast<int16_t>(std::accumulate(half, half + kernels::kActivationHalf, 0));
  }
}

void CodedLinearStep::quantize(const StepContext& c, Part part) const {
  const size_t k = c.width(input_);
  const kernels::QuantizedActivations all = c.scratch.quantized();
  c.pool.parallel_for(c.n_rows(input_), 4, [&](size_t begin, size_t end, int) {
    for (size_t row = begin; row < end; ++row) {
      const size_t first = row * k;
      quantize_row(c.value(input_) + first, k, part,
                   {all.codes + first, all.scales + first / kernels::kActivationGroup,
                    all.sums + first / kernels::kActivationHalf});
    }
  });
}

void CodedLinearStep::multiply(const StepContext& c, float* y, const float* bias) const {
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

void CodedLinearStep::run(const StepContext& c) const {
  const float* bias = bias_.empty() ? nullptr : bias_.data();
  float* y = c.value(output_);
  if (format_.largest == kInt8CodeMax) {
    quantize(c, Part::kWhole);
    return multiply(c, y, bias);
  }
  float* low = c.scratch.partial();
  quantize(c, Part::kLow);
  multiply(c, low, bias);
  quantize(c, Part::kHigh);
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
