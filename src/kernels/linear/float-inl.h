#pragma once

#include <cstddef>

#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/repeat.h"
#include "kernels/linear/tiles-inl.h"

// Linear over F32, F16 and BF16 weights, once over the sixteen-lane vector V of an ISA: a lane is
// an output, every output one accumulator that takes its products in K order. `Weights` says how:
//   kElementBytes
//   kStep                      elements along K that one load gives, 1 or 2
//   load(p, w)                 w: a register, or several, of the sixteen outputs
//   Input, kElementsPerInput   what activations are read as
//   add<steps>(w, x, acc)      the first `steps` of the elements at x
//   Room, deepest, read        where activations wait that are not read as they lie; see below

namespace tandem::kernels {

/// Elements of K whose activations (of kFloatRows rows) stay in the second-level cache while all
/// tiles pass; a multiple of every kStep.
inline constexpr size_t kFloatDepth = 512;
inline constexpr size_t kFloatRows = 64;

/// Activations of some rows over a stretch of K, from its first element.
template <class Input>
struct InputBlock {
  const Input* first_row;
  size_t row_bytes;

  [[gnu::always_inline]] const Input* row(size_t m) const {
    return reinterpret_cast<const Input*>(reinterpret_cast<const std::byte*>(first_row) +
                                          m * row_bytes);
  }
};

/// Weights that load as `step` vectors of floats, one for each element along K.
template <class V, int step>
struct WidenedToFloat {
  static constexpr int kStep = step;
  using Loaded = V[step];
  using Input = float;
  static constexpr int kElementsPerInput = 1;
  template <int steps>
  [[gnu::always_inline]] static V add(const Loaded& w, const float* x, V acc) {
    repeat<steps>([&]<int s>() TANDEM_INLINE_LAMBDA { acc = V::fma(w[s], V::set1(x[s]), acc); });
    return acc;
  }

  struct Room {};
  /// Elements of K that one pass over at most max_rows rows may take.
  [[gnu::always_inline]] static size_t deepest(size_t k) { return k; }
  [[gnu::always_inline]] static InputBlock<float> read(const LinearArgs& a, size_t k_begin, size_t,
                                                       Room&) {
    return {a.x + k_begin, a.x_stride};
  }
};

/// Tiles between two places along K; the accumulators wait in y in between.
template <class Input>
struct FloatJob {
  InputBlock<Input> x;
  TileJob tile;       ///< the last one, at k_begin; the others lie before it and are whole
  size_t tile_bytes;  ///< from one tile to the next
  size_t k_begin, k_end;
};

/// Calls f.template operator()<tile, row>(first output, outputs).
template <int n_tiles, int n_rows, class F>
[[gnu::always_inline]] inline void for_each_output(const TileJob& last, F&& f) {
  repeat<n_tiles * n_rows>([&]<int i>() TANDEM_INLINE_LAMBDA {
    constexpr int tile = i / n_rows, before_last = n_tiles - 1 - tile;
    f.template operator()<tile, i % n_rows>(
        last.n - before_last * kTileRows,
        before_last == 0 ? last.n_cols : static_cast<int>(kTileRows));
  });
}

/// HOT: linear_bench. Several tiles go together: one row leaves an accumulator to each, and alone
/// they would wait for the latency of every multiply-add; with more rows they share what is read of
/// x.
template <class V, class Weights, int n_tiles, int n_rows>
[[gnu::noinline]] void float_tiles(const LinearArgs& a,
                                   const FloatJob<typename Weights::Input>& job) {
  constexpr int kStep = Weights::kStep;
  constexpr size_t kLoadBytes = kTileRows * kStep * Weights::kElementBytes;
  constexpr size_t kPrefetchBytes = 6144;
  constexpr int kUnrolled = 4 / kStep;
  constexpr size_t kPerInput = Weights::kElementsPerInput;
  const typename Weights::Input* x[n_rows];
  repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA { x[r] = job.x.row(job.tile.m + r); });
  V acc[n_tiles][n_rows];
  for_each_output<n_tiles, n_rows>(
      job.tile, [&]<int t, int r>(size_t n, int n_cols) TANDEM_INLINE_LAMBDA {
        acc[t][r] =
            job.k_begin == 0 ? V::zero() : V::load_partial(output_at(a, job.tile.m + r, n), n_cols);
      });

  // The first `steps` of the kStep elements at k.
  const auto add_products = [&]<int steps>(const std::byte* p, size_t k) TANDEM_INLINE_LAMBDA {
    repeat<n_tiles>([&]<int t>() TANDEM_INLINE_LAMBDA {
      typename Weights::Loaded w;
      Weights::load(p + t * job.tile_bytes, w);
      repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
        acc[t][r] = Weights::template add<steps>(w, x[r] + k / kPerInput, acc[t][r]);
      });
    });
  };
  const std::byte* p = job.tile.tile - (n_tiles - 1) * job.tile_bytes;
  const size_t n_elements = job.k_end - job.k_begin;
  size_t k = 0;
  for (; k + 4 <= n_elements; k += 4) {
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
  for (; k + kStep <= n_elements; k += kStep, p += kLoadBytes) {
    add_products.template operator()<kStep>(p, k);
  }
  if constexpr (kStep == 2) {
    if (k < n_elements) add_products.template operator()<1>(p, k);
  }

  const bool add_bias = job.k_end == a.w.k && a.bias != nullptr;
  for_each_output<n_tiles, n_rows>(
      job.tile, [&]<int t, int r>(size_t n, int n_cols) TANDEM_INLINE_LAMBDA {
        const V y = add_bias ? acc[t][r] + V::load_partial(a.bias + n, n_cols) : acc[t][r];
        y.store_partial(output_at(a, job.tile.m + r, n), n_cols);
      });
}

template <class V, class Weights, int n_tiles, int max_rows>
[[gnu::always_inline]] inline void run_float_tiles(const LinearArgs& a,
                                                   const FloatJob<typename Weights::Input>& job) {
  [&]<int... rows>(std::integer_sequence<int, rows...>) TANDEM_INLINE_LAMBDA {
    using TileFn = void (*)(const LinearArgs&, const FloatJob<typename Weights::Input>&);
    static constexpr TileFn kTiles[max_rows] = {float_tiles<V, Weights, n_tiles, rows + 1>...};
    kTiles[job.tile.n_rows - 1](a, job);
  }
  (std::make_integer_sequence<int, max_rows>{});
}

/// All outputs and rows of `a`, n_tiles at once as long as there are so many.
template <class V, class Weights, int n_tiles, int max_rows>
[[gnu::always_inline]] inline void float_stretch(const LinearArgs& a,
                                                 FloatJob<typename Weights::Input> job) {
  for (size_t n = a.n_begin; n < a.n_end;) {
    const size_t left = (a.n_end - n + kTileRows - 1) / kTileRows;
    const size_t last = n + (left < n_tiles ? 0 : n_tiles - 1) * kTileRows;
    job.tile.n = last;
    job.tile.n_cols = static_cast<int>(a.n_end - last < kTileRows ? a.n_end - last : kTileRows);
    job.tile.tile = a.w.data + last / kTileRows * job.tile_bytes +
                    job.k_begin * kTileRows * Weights::kElementBytes;
    for (size_t m = 0; m < a.m; m += max_rows) {
      job.tile.m = m;
      job.tile.n_rows = static_cast<int>(a.m - m < max_rows ? a.m - m : max_rows);
      left < n_tiles ? run_float_tiles<V, Weights, 1, max_rows>(a, job)
                     : run_float_tiles<V, Weights, n_tiles, max_rows>(a, job);
    }
    n = last + kTileRows;
  }
}

/// `n_tiles` go together from two rows on, and at most `max_rows` rows.
template <class V, class Weights, int n_tiles, int max_rows>
[[gnu::always_inline]] inline void linear_float(const LinearArgs& a) {
  constexpr int kTilesOfOneRow = 4;
  constexpr size_t kStep = Weights::kStep;
  const size_t padded_k = (a.w.k + kStep - 1) / kStep * kStep;
  // Few rows read every weight once, so those stream without interruption.
  const size_t depth = a.m <= max_rows ? Weights::deepest(a.w.k) : kFloatDepth;
  typename Weights::Room room;
  LinearArgs part = a;
  for (size_t m = 0; m < a.m; m += kFloatRows) {
    part.m = a.m - m < kFloatRows ? a.m - m : kFloatRows;
    part.x = input_at(a, m);
    part.y = output_at(a, m, 0);
    for (size_t k = 0; k < a.w.k; k += depth) {
      const size_t k_end = k + depth < a.w.k ? k + depth : a.w.k;
      const FloatJob<typename Weights::Input> job{
          .x = Weights::read(part, k, k_end, room),
          .tile = {},
          .tile_bytes = padded_k * kTileRows * Weights::kElementBytes,
          .k_begin = k,
          .k_end = k_end};
      a.m == 1 ? float_stretch<V, Weights, kTilesOfOneRow, 1>(part, job)
               : float_stretch<V, Weights, n_tiles, max_rows>(part, job);
    }
  }
}

}  // namespace tandem::kernels
