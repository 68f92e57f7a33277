#pragma once

#include <cstddef>

#include "kernels/linear/fp8_format.h"
#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/repeat.h"
#include "kernels/linear/tiles-inl.h"

// Linear over MXFP8 and float activations, once over the sixteen-lane vector V of an ISA: a lane is
// an output; the elements of a group are summed before the group's scale. `Codes` widens:
//   load(p)    sixteen codes as the f16 numbers that fp8_as_f16 makes of them, widened
//   scales(p)  mxfp8_f16_scale of sixteen exponents

namespace tandem::kernels {

/// HOT: linear_bench.
template <class V, class Codes, int n_rows>
[[gnu::noinline]] void fp8_tile(const LinearArgs& a, const TileJob& job) {
  using packed::Fp8;
  constexpr size_t kPrefetchBytes = 6144;
  const float* x[n_rows];
  V acc[n_rows];
  repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
    x[r] = input_at(a, job.m + r);
    acc[r] = V::zero();
  });
  const std::byte* block = job.tile;
  for (size_t k = 0; k < a.w.k; k += Fp8::kElements, block += Fp8::kBlockBytes) {
    for (size_t i = 0; i < Fp8::kBlockBytes; i += 64) {
      __builtin_prefetch(block + kPrefetchBytes + i);
    }
    V sum[n_rows];
    repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA { sum[r] = V::zero(); });
    const std::byte* codes = block + Fp8::kHeaderBytes;
    for (int i = 0; i < Fp8::kElements; ++i, codes += packed::kRows) {
      const V w = Codes::load(codes);
      repeat<n_rows>(
          [&]<int r>() TANDEM_INLINE_LAMBDA { sum[r] = V::fma(w, V::set1(x[r][k + i]), sum[r]); });
    }
    const V scale = Codes::scales(block);
    repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA { acc[r] = V::fma(sum[r], scale, acc[r]); });
  }
  const V bias = a.bias == nullptr ? V::zero() : V::load_partial(a.bias + job.n, job.n_cols);
  repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
    const V y = a.bias == nullptr ? acc[r] : acc[r] + bias;
    y.store_partial(output_at(a, job.m + r, job.n), job.n_cols);
  });
}

template <class V, class Codes, int max_rows, int... rows>
[[gnu::always_inline]] inline void linear_fp8(const LinearArgs& a,
                                              std::integer_sequence<int, rows...>) {
  using TileFn = void (*)(const LinearArgs&, const TileJob&);
  static constexpr TileFn kTiles[max_rows] = {fp8_tile<V, Codes, rows + 1>...};
  const size_t tile_bytes = a.w.k / packed::Fp8::kElements * packed::Fp8::kBlockBytes;
  for_each_tile<max_rows>(a, tile_bytes, a.w.k * sizeof(float),
                          [&](const TileJob& job)
                              TANDEM_INLINE_LAMBDA { kTiles[job.n_rows - 1](a, job); });
}

}  // namespace tandem::kernels
