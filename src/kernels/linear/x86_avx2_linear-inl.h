#pragma once

#include <immintrin.h>

#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/repeat.h"
#include "kernels/linear/tiles-inl.h"
#include "kernels/linear/x86_avx2_weights-inl.h"

// AVX2 linear over quantized weights: eight registers hold a group's codes for half a tile while
// all activation rows of the job pass. Sixteen registers leave no room for the accumulators, which
// live in the first-level cache.

namespace tandem::kernels::avx2 {
namespace {

inline constexpr int kMaxRows = 8;
inline constexpr int kChunk = 8;  ///< groups whose activation scales and sums are read at once
/// How far ahead of the weights being read. In one step: two, as some AVX-512 rows ask, cost Q5_0
/// 17 % here.
inline constexpr size_t kPrefetchBytes = 6144;

/// Float accumulators of a job, and what a chunk's activations bring along.
struct Tile {
  __m256 acc[kMaxRows][2];  ///< by halves of the tile of weights
  alignas(32) float x_scale[kMaxRows][kChunk];
  alignas(32) int32_t x_sums[kMaxRows][kChunk];  ///< pairs of int16
};

[[gnu::always_inline]] inline void set_zero(__m256 (&rows)[kMaxRows][2], int n_rows) {
  for (int r = 0; r < n_rows; ++r) rows[r][0] = rows[r][1] = _mm256_setzero_ps();
}

inline __m256i first8(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

inline void load_chunk(const LinearArgs& a, const TileJob& job, size_t first, int n, Tile& tile) {
  const size_t n_groups = a.w.k / kActivationGroup;
  for (int r = 0; r < job.n_rows; ++r) {
    const size_t i = (job.m + r) * n_groups + first;
    const int* sums = reinterpret_cast<const int*>(a.xq.sums + 2 * i);
    _mm256_store_ps(tile.x_scale[r], _mm256_maskload_ps(a.xq.scales + i, first8(n)));
    _mm256_store_si256(reinterpret_cast<__m256i*>(tile.x_sums[r]),
                       _mm256_maskload_epi32(sums, first8(n)));
  }
}

inline __m256i quad_at(const int8_t* x) {
  int32_t quad;
  __builtin_memcpy(&quad, x, sizeof quad);
  return _mm256_set1_epi32(quad);
}

/// Exact dot products of quads [begin, begin + n) with the activations at x: one int32 a row.
template <class F, int begin, int n>
[[gnu::always_inline]] inline __m256i dot(const __m256i (&q)[8], const int8_t* x) {
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i total = _mm256_setzero_si256();
  if constexpr (kSigned<F>) {
    // |w| <= 128 and |x| <= 127: a pair of products stays within int16.
    repeat<n>([&]<int i>() TANDEM_INLINE_LAMBDA {
      const __m256i w = q[begin + i];
      const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w),
                                                 _mm256_sign_epi8(quad_at(x + 4 * (begin + i)), w));
      total = _mm256_add_epi32(total, _mm256_madd_epi16(pairs, ones));
    });
  } else {
    // Small codes: several products of pairs fit int16 before they must be widened.
    constexpr int kPerWord = 32767 / (2 * 127 * kLargestCode<F>);
    static_assert(kPerWord >= 1);
    __m256i word = _mm256_setzero_si256();
    repeat<n>([&]<int i>() TANDEM_INLINE_LAMBDA {
      const __m256i pairs = _mm256_maddubs_epi16(q[begin + i], quad_at(x + 4 * (begin + i)));
      word = i % kPerWord == 0 ? pairs : _mm256_add_epi16(word, pairs);
      if constexpr (i % kPerWord == kPerWord - 1 || i == n - 1) {
        total = _mm256_add_epi32(total, _mm256_madd_epi16(word, ones));
      }
    });
  }
  return total;
}

/// What the offset of unsigned codes adds to the sums of a group, both halves.
template <class F>
[[gnu::always_inline]] inline __m256i minus_offset(int32_t sums) {
  return _mm256_madd_epi16(_mm256_set1_epi32(sums), _mm256_set1_epi16(-F::kOffset));
}
/// As `minus_offset` for one half of the group.
template <class F, int half_group>
[[gnu::always_inline]] inline __m256i minus_half_offset(int32_t sums) {
  constexpr int kWeights = half_group == 0 ? -F::kOffset & 0xffff : -F::kOffset * 0x10000;
  return _mm256_madd_epi16(_mm256_set1_epi32(sums), _mm256_set1_epi32(kWeights));
}

inline void store_outputs(const LinearArgs& a, const TileJob& job, const Tile& tile) {
  for (int half = 0; half < 2; ++half) {
    const __m256i some = first8(job.n_cols - 8 * half);
    const size_t n = job.n + 8 * half;
    const __m256 bias =
        a.bias == nullptr ? _mm256_setzero_ps() : _mm256_maskload_ps(a.bias + n, some);
    for (int r = 0; r < job.n_rows; ++r) {
      const __m256 acc = tile.acc[r][half];
      const __m256 y = a.bias == nullptr ? acc : _mm256_add_ps(acc, bias);
      _mm256_maskstore_ps(output_at(a, job.m + r, n), some, y);
    }
  }
}

/// Asks for the bytes that lie ahead of [p, p + n_bytes).
[[gnu::always_inline]] inline void prefetch(const std::byte* p, size_t n_bytes) {
  for (size_t i = 0; i < n_bytes; i += 64) {
    _mm_prefetch(reinterpret_cast<const char*>(p) + kPrefetchBytes + i, _MM_HINT_T0);
  }
}

/// Adds one group of half a tile for all rows of the job.
template <class F>
[[gnu::always_inline]] inline void add_group(const TileJob& job, const __m256i (&q)[8],
                                             __m256 scale, const int8_t* x, size_t k, int g,
                                             int half, Tile& tile) {
  for (int r = 0; r < job.n_rows; ++r, x += k) {
    __m256i sum = dot<F, 0, 8>(q, x);
    if constexpr (!kSigned<F> && F::kOffset != 0) {
      sum = _mm256_add_epi32(sum, minus_offset<F>(tile.x_sums[r][g]));
    }
    const __m256 both = _mm256_mul_ps(scale, _mm256_set1_ps(tile.x_scale[r][g]));
    __m256& acc = tile.acc[r][half];
    acc = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), both, acc);
  }
}

template <class F>
[[gnu::always_inline]] inline void add_minimum(const TileJob& job, __m256 minimum, int g, int half,
                                               Tile& tile) {
  for (int r = 0; r < job.n_rows; ++r) {
    const int32_t pair = tile.x_sums[r][g];
    const int32_t whole = static_cast<int16_t>(pair) + (pair >> 16);
    const __m256 x_sum = _mm256_set1_ps(tile.x_scale[r][g] * static_cast<float>(whole));
    tile.acc[r][half] = _mm256_fmadd_ps(minimum, x_sum, tile.acc[r][half]);
  }
}

/// HOT: linear_bench. Formats with one float scale, and perhaps a minimum, for each group.
template <DType type, bool one_row>
void groups_tile(const LinearArgs& a, TileJob job) {
  using F = Format<type>;
  if (one_row) job.n_rows = 1;
  const size_t n_groups = a.w.k / kActivationGroup;
  const std::byte* chunk = job.tile;
  const int8_t* x = a.xq.codes + job.m * a.w.k;
  Tile tile;
  set_zero(tile.acc, job.n_rows);
  for (size_t first = 0; first < n_groups; first += kChunk) {
    const int n = n_groups - first < kChunk ? static_cast<int>(n_groups - first) : kChunk;
    load_chunk(a, job, first, n, tile);
    if constexpr (F::kGroups > 1) prefetch(chunk, F::kHeaderBytes);
    const Scales<type> weights(chunk);
    const std::byte* group = chunk + F::kHeaderBytes;
    for (int g = 0; g < n; ++g) {
      for (int half = 0; half < 2; ++half) {
        __m256i q[8];
        load_codes<F>(group, half, q);
        add_group<F>(job, q, weights.scale(g, half), x, a.w.k, g, half, tile);
        if constexpr (packed::kHasMinimum<F>) {
          add_minimum<F>(job, weights.minimum(g, half), g, half, tile);
        }
      }
      const size_t step = F::group_step(g);
      prefetch(group, step);
      group += step;
      x += kActivationGroup;
    }
    chunk += n / F::kGroups * F::kBlockBytes;
  }
  store_outputs(a, job, tile);
}

/// Sums of a super-block before its scales.
struct Block {
  __m256 scaled[kMaxRows][2], minima[kMaxRows][2];
};

template <class F>
[[gnu::always_inline]] inline void add_half_groups(const TileJob& job, const __m256i (&q)[8],
                                                   __m256 scale0, __m256 scale1, const int8_t* x,
                                                   size_t k, int g, int half, Block& block,
                                                   const Tile& tile) {
  for (int r = 0; r < job.n_rows; ++r, x += k) {
    __m256i sum0 = dot<F, 0, 4>(q, x), sum1 = dot<F, 4, 4>(q, x);
    if constexpr (F::kOffset != 0) {
      sum0 = _mm256_add_epi32(sum0, minus_half_offset<F, 0>(tile.x_sums[r][g]));
      sum1 = _mm256_add_epi32(sum1, minus_half_offset<F, 1>(tile.x_sums[r][g]));
    }
    // Exact: every value is an integer below 2^24.
    const __m256 both = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum1), scale1,
                                        _mm256_mul_ps(_mm256_cvtepi32_ps(sum0), scale0));
    const __m256 x_scale = _mm256_set1_ps(tile.x_scale[r][g]);
    block.scaled[r][half] = _mm256_fmadd_ps(both, x_scale, block.scaled[r][half]);
  }
}

[[gnu::always_inline]] inline void add_half_minima(const TileJob& job, __m256i pairs, int g,
                                                   int half, Block& block, const Tile& tile) {
  for (int r = 0; r < job.n_rows; ++r) {
    const __m256i sum = _mm256_madd_epi16(pairs, _mm256_set1_epi32(tile.x_sums[r][g]));
    const __m256 x_scale = _mm256_set1_ps(tile.x_scale[r][g]);
    __m256& minima = block.minima[r][half];
    minima = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), x_scale, minima);
  }
}

template <class F>
[[gnu::always_inline]] inline void finish_block(const TileJob& job, const std::byte* header,
                                                const Block& block, Tile& tile) {
  for (int half = 0; half < 2; ++half) {
    const __m256 d = halves_at(header + 16 * half);
    for (int r = 0; r < job.n_rows; ++r) {
      __m256& acc = tile.acc[r][half];
      acc = _mm256_fmadd_ps(block.scaled[r][half], d, acc);
      if constexpr (packed::kHasMinimum<F>) {
        const __m256 minus_dmin = negated(halves_at(header + 32 + 16 * half));
        acc = _mm256_fmadd_ps(block.minima[r][half], minus_dmin, acc);
      }
    }
  }
}

/// HOT: linear_bench. Formats with integer scales for half groups below one scale for 256.
template <DType type, bool one_row>
void halves_tile(const LinearArgs& a, TileJob job) {
  using F = Format<type>;
  if (one_row) job.n_rows = 1;
  const size_t n_groups = a.w.k / kActivationGroup;
  const std::byte* header = job.tile;
  const int8_t* x = a.xq.codes + job.m * a.w.k;
  Tile tile;
  Block block;
  set_zero(tile.acc, job.n_rows);
  for (size_t first = 0; first < n_groups; first += kChunk, header += F::kBlockBytes) {
    load_chunk(a, job, first, kChunk, tile);
    set_zero(block.scaled, job.n_rows);
    set_zero(block.minima, job.n_rows);
    prefetch(header, F::kHeaderBytes);
    const SubScales<type> weights(header);
    const std::byte* group = header + F::kHeaderBytes;
    for (int g = 0; g < kChunk; ++g, group += F::kGroupBytes, x += kActivationGroup) {
      for (int half = 0; half < 2; ++half) {
        __m256i q[8];
        load_codes<F>(group, half, q);
        add_half_groups<F>(job, q, weights.sub_scale(2 * g, half),
                           weights.sub_scale(2 * g + 1, half), x, a.w.k, g, half, block, tile);
        if constexpr (packed::kHasMinimum<F>) {
          add_half_minima(job, weights.sub_minima(g, half), g, half, block, tile);
        }
      }
      prefetch(group, F::kGroupBytes);
    }
    finish_block<F>(job, header, block, tile);
  }
  store_outputs(a, job, tile);
}

template <DType type, bool one_row>
[[gnu::always_inline]] inline void for_tiles(const LinearArgs& a) {
  using F = Format<type>;
  const size_t tile_bytes = a.w.k / F::kElements * F::kBlockBytes;
  for_each_tile<kMaxRows>(a, tile_bytes, a.w.k, [&](const TileJob& job) TANDEM_INLINE_LAMBDA {
    if constexpr (packed::kHasHalves<F>) {
      halves_tile<type, one_row>(a, job);
    } else {
      groups_tile<type, one_row>(a, job);
    }
  });
}

/// One row alone, as each step of a decode has it, reads its activations once for both halves of a
/// tile.
template <DType type>
[[gnu::noinline]] void linear_quantized(const LinearArgs& a) {
  a.m == 1 ? for_tiles<type, true>(a) : for_tiles<type, false>(a);
}

}  // namespace
}  // namespace tandem::kernels::avx2
