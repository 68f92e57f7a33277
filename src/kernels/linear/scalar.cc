// The reference rows: what docs/packed_weights.md writes down, in portable C++.

#include <algorithm>
#include <cstring>

#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/packed_format.h"
#include "kernels/linear/tiles-inl.h"

namespace tandem::kernels {
namespace {

using packed::Format;
using packed::kGroup;
using packed::kRows;

constexpr int kMaxRows = 8;
using Accumulators = float[kMaxRows][kRows];

void store_outputs(const LinearArgs& a, const TileJob& job, const Accumulators& acc) {
  for (int r = 0; r < job.n_rows; ++r) {
    float* y = output_at(a, job.m + r, job.n);
    for (int i = 0; i < job.n_cols; ++i) {
      y[i] = a.bias == nullptr ? acc[r][i] : acc[r][i] + a.bias[job.n + i];
    }
  }
}

/// Values of one group, (row, element).
template <class F>
void decode_group(const std::byte* group, int8_t out[kRows][kGroup]) {
  for (int row = 0; row < kRows; ++row) {
    for (int e = 0; e < kGroup; ++e) {
      out[row][e] = static_cast<int8_t>(packed::value_of<F>(packed::code_at<F>(group, e, row)));
    }
  }
}

int dot(const int8_t* w, const int8_t* x, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += w[i] * x[i];
  return sum;
}

/// One group of one row of activations.
struct GroupInput {
  const int8_t* codes;
  float scale;
  int sums[2];
};
GroupInput input_group(const LinearArgs& a, size_t m, size_t group) {
  const size_t i = m * (a.w.k / kGroup) + group;
  return {a.xq.codes + i * kGroup, a.xq.scales[i], {a.xq.sums[2 * i], a.xq.sums[2 * i + 1]}};
}

/// Adds a block of groups that each have a float scale.
template <class F>
void add_groups(const LinearArgs& a, const TileJob& job, const std::byte* block, size_t first_group,
                Accumulators& acc) {
  int8_t values[kRows][kGroup];
  for (int g = 0; g < F::kGroups; ++g) {
    decode_group<F>(block + F::kHeaderBytes + g * F::kGroupBytes, values);
    float scales[kRows], minima[kRows] = {};
    for (int i = 0; i < kRows; ++i) {
      scales[i] = F::scale(block, g, i);
      if constexpr (packed::kHasMinimum<F>) minima[i] = F::minimum(block, g, i);
    }
    for (int r = 0; r < job.n_rows; ++r) {
      const GroupInput x = input_group(a, job.m + r, first_group + g);
      const float x_sum = x.scale * static_cast<float>(x.sums[0] + x.sums[1]);
      for (int i = 0; i < kRows; ++i) {
        const float sum = static_cast<float>(dot(values[i], x.codes, kGroup));
        acc[r][i] = __builtin_fmaf(sum, scales[i] * x.scale, acc[r][i]);
        if constexpr (packed::kHasMinimum<F>) {
          acc[r][i] = __builtin_fmaf(minima[i], x_sum, acc[r][i]);
        }
      }
    }
  }
}

/// Adds a super-block whose halves of groups have integer scales.
template <class F>
void add_halves(const LinearArgs& a, const TileJob& job, const std::byte* block, size_t first_group,
                Accumulators& acc) {
  int8_t values[kRows][kGroup];
  Accumulators scaled = {}, minima = {};
  for (int g = 0; g < F::kGroups; ++g) {
    decode_group<F>(block + F::kHeaderBytes + g * F::kGroupBytes, values);
    for (int i = 0; i < kRows; ++i) {
      const int scale[2] = {F::sub_scale(block, 2 * g, i), F::sub_scale(block, 2 * g + 1, i)};
      for (int r = 0; r < job.n_rows; ++r) {
        const GroupInput x = input_group(a, job.m + r, first_group + g);
        const int sum = scale[0] * dot(values[i], x.codes, 16) +
                        scale[1] * dot(values[i] + 16, x.codes + 16, 16);
        scaled[r][i] = __builtin_fmaf(static_cast<float>(sum), x.scale, scaled[r][i]);
        if constexpr (packed::kHasMinimum<F>) {
          const int offset = F::sub_minimum(block, 2 * g, i) * x.sums[0] +
                             F::sub_minimum(block, 2 * g + 1, i) * x.sums[1];
          minima[r][i] = __builtin_fmaf(static_cast<float>(offset), x.scale, minima[r][i]);
        }
      }
    }
  }
  for (int r = 0; r < job.n_rows; ++r) {
    for (int i = 0; i < kRows; ++i) {
      acc[r][i] = __builtin_fmaf(scaled[r][i], F::d(block, i), acc[r][i]);
      if constexpr (packed::kHasMinimum<F>) {
        acc[r][i] = __builtin_fmaf(minima[r][i], F::dmin(block, i), acc[r][i]);
      }
    }
  }
}

template <DType type>
void linear_quantized(const LinearArgs& a) {
  using F = Format<type>;
  const size_t n_blocks = a.w.k / F::kElements;
  for_each_tile<kMaxRows>(a, n_blocks * F::kBlockBytes, a.w.k, [&](const TileJob& job) {
    Accumulators acc = {};
    for (size_t b = 0; b < n_blocks; ++b) {
      const std::byte* block = job.tile + b * F::kBlockBytes;
      if constexpr (packed::kHasHalves<F>) {
        add_halves<F>(a, job, block, b * F::kGroups, acc);
      } else {
        add_groups<F>(a, job, block, b * F::kGroups, acc);
      }
    }
    store_outputs(a, job, acc);
  });
}

struct F32Weights {
  static constexpr size_t kBytes = 4;
  static float at(const std::byte* tile, size_t k, int row) {
    float value;
    std::memcpy(&value, tile + (k * kRows + row) * kBytes, kBytes);
    return value;
  }
};
struct F16Weights {
  static constexpr size_t kBytes = 2;
  static float at(const std::byte* tile, size_t k, int row) {
    return packed::f16_at(tile, static_cast<int>(k * kRows) + row);
  }
};
struct Bf16Weights {
  static constexpr size_t kBytes = 2;
  static float at(const std::byte* tile, size_t k, int row) {
    uint16_t half;
    std::memcpy(&half, tile + (k / 2 * 2 * kRows + row * 2 + k % 2) * kBytes, kBytes);
    return bf16_to_f32(half);
  }
};

template <class Weights, size_t pad>
void linear_float(const LinearArgs& a) {
  const size_t tile_bytes = (a.w.k + a.w.k % pad) * kRows * Weights::kBytes;
  for_each_tile<kMaxRows>(a, tile_bytes, a.w.k * sizeof(float), [&](const TileJob& job) {
    Accumulators acc = {};
    for (size_t k = 0; k < a.w.k; ++k) {
      for (int i = 0; i < kRows; ++i) {
        const float w = Weights::at(job.tile, k, i);
        for (int r = 0; r < job.n_rows; ++r) {
          acc[r][i] = __builtin_fmaf(w, input_at(a, job.m + r)[k], acc[r][i]);
        }
      }
    }
    store_outputs(a, job, acc);
  });
}

}  // namespace

void linear_f32_f32_16_scalar(const LinearArgs& a) noexcept { linear_float<F32Weights, 1>(a); }
void linear_f16_f32_16_scalar(const LinearArgs& a) noexcept { linear_float<F16Weights, 1>(a); }
void linear_bf16_f32_16_scalar(const LinearArgs& a) noexcept { linear_float<Bf16Weights, 2>(a); }

#define TANDEM_TYPE(type, name)                                     \
  void linear_##name##_i8_16_scalar(const LinearArgs& a) noexcept { \
    linear_quantized<DType::type>(a);                               \
  }
#include "kernels/linear/types_blocks32.inc"

#define TANDEM_TYPE(type, name)                                     \
  void linear_##name##_i8_16_scalar(const LinearArgs& a) noexcept { \
    linear_quantized<DType::type>(a);                               \
  }
#include "kernels/linear/types_blocks256.inc"

void linear_q2_0_i8_16_scalar(const LinearArgs& a) noexcept { linear_quantized<DType::kQ2_0>(a); }

}  // namespace tandem::kernels
