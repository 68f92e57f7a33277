#pragma once

#include <cstddef>

#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/repeat.h"
#include "kernels/linear/tiles-inl.h"

// Linear over F32, F16 and BF16 weights, once over the sixteen-lane vector V of an ISA: a lane is
// an output, every output one accumulator that takes fused multiply-adds in K order. `Weights`
// widens:
//   kStep                      elements along K that one load gives, 1 or 2
//   kElementBytes
//   load(p, V (&w)[kStep])

namespace tandem::kernels {

/// Elements of K whose activations (of kFloatRows rows) stay in the second-level cache while all
/// tiles pass; a multiple of every kStep.
inline constexpr size_t kFloatDepth = 512;
inline constexpr size_t kFloatRows = 64;

/// A tile between two places along K; the accumulators wait in y in between.
struct FloatJob {
  TileJob tile;
  size_t k_begin, k_end;
};

template <class V, int n_rows>
[[gnu::always_inline]] inline void start_outputs(const LinearArgs& a, const FloatJob& job,
                                                 V (&acc)[n_rows]) {
  repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
    acc[r] = job.k_begin == 0
                 ? V::zero()
                 : V::load_partial(output_at(a, job.tile.m + r, job.tile.n), job.tile.n_cols);
  });
}

template <class V, int n_rows>
[[gnu::always_inline]] inline void finish_outputs(const LinearArgs& a, const FloatJob& job,
                                                  const V (&acc)[n_rows]) {
  const TileJob& tile = job.tile;
  const bool add_bias = job.k_end == a.w.k && a.bias != nullptr;
  const V bias = add_bias ? V::load_partial(a.bias + tile.n, tile.n_cols) : V::zero();
  repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
    const V y = add_bias ? acc[r] + bias : acc[r];
    y.store_partial(output_at(a, tile.m + r, tile.n), tile.n_cols);
  });
}

/// HOT: linear_bench.
template <class V, class Weights, int n_rows>
[[gnu::noinline]] void float_tile(const LinearArgs& a, const FloatJob& job) {
  constexpr int kStep = Weights::kStep;
  constexpr size_t kLoadBytes = kTileRows * kStep * Weights::kElementBytes;
  constexpr size_t kPrefetchBytes = 6144;
  constexpr int kUnrolled = 4 / kStep;
  const float* x[n_rows];
  repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA { x[r] = input_at(a, job.tile.m + r); });
  V acc[n_rows];
  start_outputs<V, n_rows>(a, job, acc);

  const auto step = [&](const std::byte* p, size_t k) TANDEM_INLINE_LAMBDA {
    V w[kStep];
    Weights::load(p, w);
    repeat<kStep>([&]<int s>() TANDEM_INLINE_LAMBDA {
      repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
        acc[r] = V::fma(w[s], V::set1(x[r][k + s]), acc[r]);
      });
    });
  };
  const std::byte* p = job.tile.tile + job.k_begin * kTileRows * Weights::kElementBytes;
  size_t k = job.k_begin;
  for (; k + 4 <= job.k_end; k += 4) {
    repeat<kUnrolled>([&]<int u>()
                          TANDEM_INLINE_LAMBDA { step(p + u * kLoadBytes, k + u * kStep); });
    for (size_t i = 0; i < kUnrolled * kLoadBytes; i += 64) {
      __builtin_prefetch(p + kPrefetchBytes + i);
    }
    p += kUnrolled * kLoadBytes;
  }
  for (; k + kStep <= job.k_end; k += kStep, p += kLoadBytes) step(p, k);
  if constexpr (kStep == 2) {
    if (k < job.k_end) {
      V w[kStep];
      Weights::load(p, w);
      repeat<n_rows>([&]<int r>()
                         TANDEM_INLINE_LAMBDA { acc[r] = V::fma(w[0], V::set1(x[r][k]), acc[r]); });
    }
  }
  finish_outputs<V, n_rows>(a, job, acc);
}

template <class V, class Weights, int max_rows, int... rows>
[[gnu::always_inline]] inline void run_float_tile(const LinearArgs& a, const FloatJob& job,
                                                  std::integer_sequence<int, rows...>) {
  using TileFn = void (*)(const LinearArgs&, const FloatJob&);
  static constexpr TileFn kTiles[max_rows] = {float_tile<V, Weights, rows + 1>...};
  kTiles[job.tile.n_rows - 1](a, job);
}

template <class V, class Weights, int max_rows>
[[gnu::always_inline]] inline void linear_float(const LinearArgs& a) {
  constexpr size_t kStep = Weights::kStep;
  const size_t padded_k = (a.w.k + kStep - 1) / kStep * kStep;
  const size_t tile_bytes = padded_k * kTileRows * Weights::kElementBytes;
  // Few rows read every weight once, so those stream without interruption.
  const size_t depth = a.m <= max_rows ? a.w.k : kFloatDepth;
  LinearArgs part = a;
  for (size_t m = 0; m < a.m; m += kFloatRows) {
    part.m = a.m - m < kFloatRows ? a.m - m : kFloatRows;
    part.x = input_at(a, m);
    part.y = output_at(a, m, 0);
    for (size_t k = 0; k < a.w.k; k += depth) {
      const size_t k_end = k + depth < a.w.k ? k + depth : a.w.k;
      for_each_tile<max_rows>(part, tile_bytes, 0, [&](const TileJob& job) TANDEM_INLINE_LAMBDA {
        run_float_tile<V, Weights, max_rows>(part, {job, k, k_end},
                                             std::make_integer_sequence<int, max_rows>{});
      });
    }
  }
}

}  // namespace tandem::kernels
