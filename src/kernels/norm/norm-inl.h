#pragma once

#include "kernels/norm/norm.h"

// RMS norm over a sixteen-lane vector type V; see norm.h for the order of the sum.

namespace tandem::kernels::norm {

template <class V>
[[gnu::always_inline]] inline float sum_of_squares(const float* x, size_t n) {
  V sum = V::zero();
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const V value = V::load(x + i);
    sum = V::fma(value, value, sum);
  }
  if (i < n) {
    const V value = V::load_partial(x + i, static_cast<int>(n - i));
    sum = V::fma(value, value, sum);
  }
  return V::reduce_add(sum);
}

/// y[i] = (x[i] * inverse) * w[i], without a weight x[i] * inverse.
template <class V>
[[gnu::always_inline]] inline void apply(const float* x, const float* weight, float* y, size_t n,
                                         float inverse) {
  const V scale = V::set1(inverse);
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const V scaled = V::load(x + i) * scale;
    (weight != nullptr ? scaled * V::load(weight + i) : scaled).store(y + i);
  }
  if (i < n) {
    const int rest = static_cast<int>(n - i);
    const V scaled = V::load_partial(x + i, rest) * scale;
    (weight != nullptr ? scaled * V::load_partial(weight + i, rest) : scaled)
        .store_partial(y + i, rest);
  }
}

/// HOT: norm_bench.
template <class V>
[[gnu::always_inline]] inline void rms_norm(const RmsNormArgs& args) {
  const std::byte* x_row = reinterpret_cast<const std::byte*>(args.x);
  std::byte* y_row = reinterpret_cast<std::byte*>(args.y);
  for (size_t r = 0; r < args.n_rows; ++r, x_row += args.x_stride, y_row += args.y_stride) {
    const float* x = reinterpret_cast<const float*>(x_row);
    const float mean = sum_of_squares<V>(x, args.n) / static_cast<float>(args.n);
    const float inverse = 1.0f / __builtin_sqrtf(mean + args.eps);
    apply<V>(x, args.weight, reinterpret_cast<float*>(y_row), args.n, inverse);
  }
}

}  // namespace tandem::kernels::norm
