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

/// Tiles between two places along K; the accumulators wait in y in between.
struct FloatJob {
  TileJob tile;       ///< the last one; the others lie before it and are whole
  size_t tile_bytes;  ///< from one tile to the next
  size_t k_begin, k_end;
};

/// Calls f.template operator()<tile, row>(first output, outputs).
template <int n_tiles, int n_rows, class F>
[[gnu::always_inline]] inline void for_each_output(const FloatJob& job, F&& f) {
  repeat<n_tiles * n_rows>([&]<int i>() TANDEM_INLINE_LAMBDA {
    constexpr int tile = i / n_rows, before_last = n_tiles - 1 - tile;
    f.template operator()<tile, i % n_rows>(
        job.tile.n - before_last * kTileRows,
        before_last == 0 ? job.tile.n_cols : static_cast<int>(kTileRows));
  });
}

/// HOT: linear_bench. One row leaves an accumulator to each tile, so several tiles go together:
/// alone they would wait for the latency of every multiply-add.
template <class V, class Weights, int n_tiles, int n_rows>
[[gnu::noinline]] void float_tiles(const LinearArgs& a, const FloatJob& job) {
  constexpr int kStep = Weights::kStep;
  constexpr size_t kLoadBytes = kTileRows * kStep * Weights::kElementBytes;
  constexpr size_t kPrefetchBytes = 6144;
  constexpr int kUnrolled = 4 / kStep;
  const float* x[n_rows];
  repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA { x[r] = input_at(a, job.tile.m + r); });
  V acc[n_tiles][n_rows];
  for_each_output<n_tiles, n_rows>(
      job, [&]<int t, int r>(size_t n, int n_cols) TANDEM_INLINE_LAMBDA {
        acc[t][r] =
            job.k_begin == 0 ? V::zero() : V::load_partial(output_at(a, job.tile.m + r, n), n_cols);
      });

  // The first `steps` of the kStep elements at k.
  const auto add_products = [&]<int steps>(const std::byte* p, size_t k) TANDEM_INLINE_LAMBDA {
    repeat<n_tiles>([&]<int t>() TANDEM_INLINE_LAMBDA {
      V w[kStep];
      Weights::load(p + t * job.tile_bytes, w);
      repeat<steps * n_rows>([&]<int i>() TANDEM_INLINE_LAMBDA {
        constexpr int s = i / n_rows, r = i % n_rows;
        acc[t][r] = V::fma(w[s], V::set1(x[r][k + s]), acc[t][r]);
      });
    });
  };
  const std::byte* p = job.tile.tile - (n_tiles - 1) * job.tile_bytes +
                       job.k_begin * kTileRows * Weights::kElementBytes;
  size_t k = job.k_begin;
  for (; k + 4 <= job.k_end; k += 4) {
    repeat<kUnrolled>([&]<int u>() TANDEM_INLINE_LAMBDA {
      add_products.template operator()<kStep>(p + u * kLoadBytes, k + u * kStep);
    });
    repeat<n_tiles>([&]<int t>() TANDEM_INLINE_LAMBDA {
      for (size_t i = 0; i < kUnrolled * kLoadBytes; i += 64) {
        __builtin_prefetch(p + t * job.tile_bytes + kPrefetchBytes + i);
      }
    });
    p += kUnrolled * kLoadBytes;
  }
  for (; k + kStep <= job.k_end; k += kStep, p += kLoadBytes) {
    add_products.template operator()<kStep>(p, k);
  }
  if constexpr (kStep == 2) {
    if (k < job.k_end) add_products.template operator()<1>(p, k);
  }

  const bool add_bias = job.k_end == a.w.k && a.bias != nullptr;
  for_each_output<n_tiles, n_rows>(
      job, [&]<int t, int r>(size_t n, int n_cols) TANDEM_INLINE_LAMBDA {
        const V y = add_bias ? acc[t][r] + V::load_partial(a.bias + n, n_cols) : acc[t][r];
        y.store_partial(output_at(a, job.tile.m + r, n), n_cols);
      });
}

template <class V, class Weights, int max_rows, int... rows>
[[gnu::always_inline]] inline void run_float_tile(const LinearArgs& a, const FloatJob& job,
                                                  std::integer_sequence<int, rows...>) {
  using TileFn = void (*)(const LinearArgs&, const FloatJob&);
  static constexpr TileFn kTiles[max_rows] = {float_tiles<V, Weights, 1, rows + 1>...};
  kTiles[job.tile.n_rows - 1](a, job);
}

/// One row: every weight is read once, four tiles side by side.
template <class V, class Weights>
[[gnu::always_inline]] inline void linear_float_row(const LinearArgs& a, size_t tile_bytes) {
  constexpr int kTilesAtOnce = 4;
  for (size_t n = a.n_begin; n < a.n_end;) {
    const size_t left = (a.n_end - n + kTileRows - 1) / kTileRows;
    const size_t n_tiles = left < kTilesAtOnce ? 1 : kTilesAtOnce;
    const size_t last = n + (n_tiles - 1) * kTileRows;
    const size_t n_cols = a.n_end - last < kTileRows ? a.n_end - last : kTileRows;
    const FloatJob job{
        {a.w.data + last / kTileRows * tile_bytes, 0, 1, last, static_cast<int>(n_cols)},
        tile_bytes,
        0,
        a.w.k};
    n_tiles == 1 ? float_tiles<V, Weights, 1, 1>(a, job)
                 : float_tiles<V, Weights, kTilesAtOnce, 1>(a, job);
    n = last + kTileRows;
  }
}

template <class V, class Weights, int max_rows>
[[gnu::always_inline]] inline void linear_float(const LinearArgs& a) {
  constexpr size_t kStep = Weights::kStep;
  const size_t padded_k = (a.w.k + kStep - 1) / kStep * kStep;
  const size_t tile_bytes = padded_k * kTileRows * Weights::kElementBytes;
  if (a.m == 1) return linear_float_row<V, Weights>(a, tile_bytes);
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
        run_float_tile<V, Weights, max_rows>(part, {job, tile_bytes, k, k_end},
                                             std::make_integer_sequence<int, max_rows>{});
      });
    }
  }
}

}  // namespace tandem::kernels
