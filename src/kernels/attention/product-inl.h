#pragma once

// The product that scores and outputs share: a few query rows times one block of the cache, with
// all sums of a tile in registers.

#include <cstddef>

namespace tandem::kernels::attention {

/// a[r][k] = data[r * kRow + k * kStep]
template <size_t kRow, size_t kStep>
struct LeftView {
  const float* data;
};

/// b[k][j] = lane j % 16 of the vector at data + k * step + (j / 16) * chunk, as Source loads it.
template <class Source>
struct RightView {
  const typename Source::Element* data;
  size_t step;
  size_t chunk;
  size_t next;  ///< elements to the same place of the next block
};

enum class Start { kFromZero, kFromOut };

/// out[r][j] = start + sum_k a[r][k] b[k][j] for R rows and 16 C columns. The terms are added one
/// by one in order of k, each product fused with its addition, so R and C change no bit of the
/// result. Not inlined: a call costs nothing beside its products, and one function with all tiles
/// takes compilers many times longer.
template <Start kStart, class Source, int R, int C, size_t kRow, size_t kStep>
[[gnu::noinline]] void multiply_tile(LeftView<kRow, kStep> a, RightView<Source> b, size_t n,
                                     float* out, size_t out_row) {
  using V = typename Source::V;
  V sum[R][C];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) {
      sum[r][c] = kStart == Start::kFromZero ? V::zero() : V::load(out + r * out_row + c * 16);
    }
  }
  for (size_t k = 0; k < n; ++k) {
    V right[C];
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) {
      right[c] = Source::load(b.data + c * b.chunk);
      Source::prefetch(b.data + c * b.chunk, b.next);
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const V left = V::set1(a.data[r * kRow]);
#pragma GCC unroll 16
      for (int c = 0; c < C; ++c) sum[r][c] = V::fma(left, right[c], sum[r][c]);
    }
    a.data += kStep;
    b.data += b.step;
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) sum[r][c].store(out + r * out_row + c * 16);
  }
}

/// multiply_tile over `n_chunks` times 16 columns, C chunks at a time, the rest by halves.
template <Start kStart, class Source, int R, int C, class Left>
[[gnu::always_inline]] inline void multiply_chunks(Left a, RightView<Source> b, size_t n,
                                                   size_t n_chunks, float* out, size_t out_row) {
  size_t chunk = 0;
  for (; chunk + C <= n_chunks; chunk += C) {
    const RightView<Source> at{b.data + chunk * b.chunk, b.step, b.chunk, b.next};
    multiply_tile<kStart, Source, R, C>(a, at, n, out + chunk * 16, out_row);
  }
  if constexpr (C > 1) {
    const RightView<Source> rest{b.data + chunk * b.chunk, b.step, b.chunk, b.next};
    multiply_chunks<kStart, Source, R, C / 2>(a, rest, n, n_chunks - chunk, out + chunk * 16,
                                              out_row);
  }
}

/// The product for `n_rows` <= R rows; T::chunks(R) says how many columns fit T's registers.
template <class T, Start kStart, int R = T::kTileRows, class Left, class Source>
[[gnu::always_inline]] inline void multiply(size_t n_rows, Left a, RightView<Source> b, size_t n,
                                            size_t n_chunks, float* out, size_t out_row) {
  if constexpr (R > 1) {
    if (n_rows < R) return multiply<T, kStart, R - 1>(n_rows, a, b, n, n_chunks, out, out_row);
  }
  multiply_chunks<kStart, Source, R, T::chunks(R)>(a, b, n, n_chunks, out, out_row);
}

}  // namespace tandem::kernels::attention
