#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/linear/linear.h"

// How every row of the table walks a linear: blocks of activation rows that stay in the
// second-level cache; for each of them all tiles of weights; for each tile a few activation rows at
// a time.

namespace tandem::kernels {

/// One tile of weights against a few rows of activations.
struct TileJob {
  const std::byte* tile;
  size_t m;    ///< first activation row
  int n_rows;  ///< activation rows
  size_t n;    ///< first output
  int n_cols;  ///< outputs, 16 except in the last tile
};

/// Bytes of activations that are used again and again while the weights stream past. Half of the
/// smallest second-level cache worth tuning for.
inline constexpr size_t kActivationCacheBytes = 256 << 10;

template <int max_rows>
[[gnu::always_inline]] inline size_t rows_in_cache(size_t row_bytes) {
  const size_t rows = kActivationCacheBytes / (row_bytes + 1) / max_rows * max_rows;
  return rows < max_rows ? max_rows : rows;
}

/// Calls `f(TileJob)` for every tile and at most `max_rows` rows; `x_row_bytes` is the size of one
/// row of activations.
template <int max_rows, class F>
[[gnu::always_inline]] inline void for_each_tile(const LinearArgs& a, size_t tile_bytes,
                                                 size_t x_row_bytes, F&& f) {
  const size_t step = rows_in_cache<max_rows>(x_row_bytes);
  for (size_t m_begin = 0; m_begin < a.m; m_begin += step) {
    const size_t m_end = m_begin + step < a.m ? m_begin + step : a.m;
    for (size_t n = a.n_begin; n < a.n_end; n += kTileRows) {
      const std::byte* tile = a.w.data + n / kTileRows * tile_bytes;
      const size_t left = a.n_end - n;
      const int n_cols = left < kTileRows ? static_cast<int>(left) : static_cast<int>(kTileRows);
      for (size_t m = m_begin; m < m_end; m += max_rows) {
        const size_t rows = m_end - m;
        f(TileJob{tile, m, rows < max_rows ? static_cast<int>(rows) : max_rows, n, n_cols});
      }
    }
  }
}

/// Address of y[m][n].
[[gnu::always_inline]] inline float* output_at(const LinearArgs& a, size_t m, size_t n) {
  return reinterpret_cast<float*>(reinterpret_cast<std::byte*>(a.y) + m * a.y_stride) + n;
}
/// Address of x[m][0] of a float linear.
[[gnu::always_inline]] inline const float* input_at(const LinearArgs& a, size_t m) {
  return reinterpret_cast<const float*>(reinterpret_cast<const std::byte*>(a.x) + m * a.x_stride);
}

}  // namespace tandem::kernels
