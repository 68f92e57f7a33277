#pragma once

#include <immintrin.h>

#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/repeat.h"
#include "kernels/linear/tiles-inl.h"
#include "kernels/linear/x86_avx512_weights-inl.h"

// AVX-512 VNNI linear over quantized weights: a lane is an output, unsigned weight codes meet
// broadcast signed activation codes in vpdpbusd, and what the codes' offset adds is taken off by
// the accumulator's start value.

namespace tandem::kernels::avx512 {
namespace {

inline constexpr int kMaxRows = 8;
inline constexpr int kChunk = 8;  ///< groups whose activation scales and sums are read at once
/// How far ahead of the weights being read: the fewer rows, the sooner the next bytes are due.
template <int n_rows>
inline constexpr size_t kFarBytes = n_rows == 1 ? 10240 : 6144;
inline constexpr size_t kNearBytes = 2048;
/// Kernels that compute much for each byte have few loads under way, so their bytes come in two
/// steps, to the second-level cache and then to the first; for the others one step is faster.
/// EPYC (Zen 4), one thread, GMAC/s with one step and two: Q5_0 1 row 31 and 41, 8 rows 109 and
/// 154; Q4_0 1 row 46 and 44, 8 rows 150 and 168; Q4_0 1 row from 1 KB ahead 43, from 10 KB 55.
template <class F, int n_rows>
inline constexpr bool kTwoSteps = n_rows > 2 || F::kHighBits > 0;

/// Asks for the bytes that lie ahead of [p, p + n_bytes).
template <class F, int n_rows>
[[gnu::always_inline]] inline void prefetch(const std::byte* p, size_t n_bytes) {
  const char* far = reinterpret_cast<const char*>(p) + kFarBytes<n_rows>;
  const char* near = reinterpret_cast<const char*>(p) + kNearBytes;
  for (size_t i = 0; i < n_bytes; i += 64) {
    if constexpr (kTwoSteps<F, n_rows>) {
      _mm_prefetch(far + i, _MM_HINT_T1);
      _mm_prefetch(near + i, _MM_HINT_T0);
    } else {
      _mm_prefetch(far + i, _MM_HINT_T0);
    }
  }
}

inline __mmask8 first8(int n) { return static_cast<__mmask8>((1u << n) - 1); }

/// Activations of the rows of a job.
template <int n_rows>
struct Input {
  const int8_t* codes;
  const float* scales;
  const int16_t* sums;
  size_t k, n_groups;

  Input(const LinearArgs& a, size_t m) : k(a.w.k), n_groups(a.w.k / kActivationGroup) {
    codes = a.xq.codes + m * k;
    scales = a.xq.scales + m * n_groups;
    sums = a.xq.sums + m * n_groups * 2;
  }
  __m256 scales_at(int row, size_t g, __mmask8 some) const {
    return _mm256_maskz_loadu_ps(some, scales + row * n_groups + g);
  }
  __m256i sums_at(int row, size_t g, __mmask8 some) const {
    return _mm256_maskz_loadu_epi32(some, sums + (row * n_groups + g) * 2);
  }
};

/// acc += four codes of each lane's weights times the four activation codes at x.
[[gnu::always_inline]] inline __m512i dot4(__m512i acc, __m512i weights, const int8_t* x) {
  int32_t quad;
  __builtin_memcpy(&quad, x, sizeof quad);
  return _mm512_dpbusd_epi32(acc, weights, _mm512_set1_epi32(quad));
}

template <int n_rows>
[[gnu::always_inline]] inline void store_outputs(const LinearArgs& a, const TileJob& job,
                                                 const __m512 (&acc)[n_rows]) {
  const __mmask16 some = static_cast<__mmask16>((1u << job.n_cols) - 1);
  const __m512 bias =
      a.bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(some, a.bias + job.n);
  repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
    const __m512 y = a.bias == nullptr ? acc[r] : _mm512_add_ps(acc[r], bias);
    _mm512_mask_storeu_ps(output_at(a, job.m + r, job.n), some, y);
  });
}

/// HOT: linear_bench. Formats with one float scale, and perhaps a minimum, for each group.
template <DType type, int n_rows>
void groups_tile(const LinearArgs& a, const TileJob& job) {
  using F = Format<type>;
  const Input<n_rows> x(a, job.m);
  const std::byte* chunk = job.tile;
  const int8_t* x_codes = x.codes;
  __m512 acc[n_rows];
  repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA { acc[r] = _mm512_setzero_ps(); });

  for (size_t first = 0; first < x.n_groups; first += kChunk) {
    const size_t left = x.n_groups - first;
    const int n = left < kChunk ? static_cast<int>(left) : kChunk;
    alignas(64) int32_t start[n_rows][kChunk];
    alignas(64) float x_scale[n_rows][kChunk], x_sum[n_rows][kChunk];
    for (int r = 0; r < n_rows; ++r) {
      const __m256 scales = x.scales_at(r, first, first8(n));
      const __m256i sums = x.sums_at(r, first, first8(n));
      _mm256_store_ps(x_scale[r], scales);
      if constexpr (packed::kHasMinimum<F>) {
        const __m256i whole = _mm256_madd_epi16(sums, _mm256_set1_epi16(1));
        _mm256_store_ps(x_sum[r], _mm256_mul_ps(scales, _mm256_cvtepi32_ps(whole)));
      } else {
        _mm256_store_si256(reinterpret_cast<__m256i*>(start[r]),
                           _mm256_madd_epi16(sums, _mm256_set1_epi16(-F::kOffset)));
      }
    }
    if constexpr (F::kGroups > 1) prefetch<F, n_rows>(chunk, F::kHeaderBytes);
    const Scales<type> weights(chunk);
    const std::byte* group = chunk + F::kHeaderBytes;
    for (int g = 0; g < n; ++g) {
      __m512i q[8];
      load_codes<F>(group, q);
      const __m512 scale = weights.scale(g);
      repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
        const int8_t* codes = x_codes + r * x.k;
        __m512i sum =
            packed::kHasMinimum<F> ? _mm512_setzero_si512() : _mm512_set1_epi32(start[r][g]);
        repeat<8>([&]<int i>() TANDEM_INLINE_LAMBDA { sum = dot4(sum, q[i], codes + 4 * i); });
        acc[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum),
                                 _mm512_mul_ps(scale, _mm512_set1_ps(x_scale[r][g])), acc[r]);
      });
      if constexpr (packed::kHasMinimum<F>) {
        const __m512 minimum = weights.minimum(g);
        repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
          acc[r] = _mm512_fmadd_ps(minimum, _mm512_set1_ps(x_sum[r][g]), acc[r]);
        });
      }
      const size_t step = F::group_step(g);
      prefetch<F, n_rows>(group, step);
      group += step;
      x_codes += kActivationGroup;
    }
    chunk += n / F::kGroups * F::kBlockBytes;
  }
  store_outputs<n_rows>(a, job, acc);
}

/// HOT: linear_bench. Formats with integer scales for half groups below one scale for 256.
template <DType type, int n_rows>
void halves_tile(const LinearArgs& a, const TileJob& job) {
  using F = Format<type>;
  const Input<n_rows> x(a, job.m);
  const std::byte* block = job.tile;
  const int8_t* x_codes = x.codes;
  __m512 acc[n_rows];
  repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA { acc[r] = _mm512_setzero_ps(); });

  for (size_t first = 0; first < x.n_groups; first += kChunk) {
    alignas(64) int32_t start[n_rows][2 * kChunk], x_sums[n_rows][kChunk];
    alignas(64) float x_scale[n_rows][kChunk];
    for (int r = 0; r < n_rows; ++r) {
      const __m256i sums = x.sums_at(r, first, first8(kChunk));
      _mm256_store_ps(x_scale[r], x.scales_at(r, first, first8(kChunk)));
      _mm256_store_si256(reinterpret_cast<__m256i*>(x_sums[r]), sums);
      _mm512_store_si512(start[r], _mm512_mullo_epi32(_mm512_cvtepi16_epi32(sums),
                                                      _mm512_set1_epi32(-F::kOffset)));
    }
    prefetch<F, n_rows>(block, F::kHeaderBytes);
    const SubScales<type> weights(block);
    __m512 scaled[n_rows], minima[n_rows];
    repeat<n_rows>([&]<int r>()
                       TANDEM_INLINE_LAMBDA { scaled[r] = minima[r] = _mm512_setzero_ps(); });
    const std::byte* group = block + F::kHeaderBytes;
    for (int g = 0; g < kChunk; ++g) {
      __m512i q[8];
      load_codes<F>(group, q);
      const __m512 scale0 = weights.sub_scale(2 * g), scale1 = weights.sub_scale(2 * g + 1);
      repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
        const int8_t* codes = x_codes + r * x.k;
        __m512i sum0 = _mm512_set1_epi32(start[r][2 * g]);
        __m512i sum1 = _mm512_set1_epi32(start[r][2 * g + 1]);
        repeat<4>([&]<int i>() TANDEM_INLINE_LAMBDA {
          sum0 = dot4(sum0, q[i], codes + 4 * i);
          sum1 = dot4(sum1, q[i + 4], codes + 4 * i + 16);
        });
        // Exact: every value is an integer below 2^24.
        const __m512 both = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum1), scale1,
                                            _mm512_mul_ps(_mm512_cvtepi32_ps(sum0), scale0));
        scaled[r] = _mm512_fmadd_ps(both, _mm512_set1_ps(x_scale[r][g]), scaled[r]);
      });
      if constexpr (packed::kHasMinimum<F>) {
        const __m512i pairs = weights.sub_minima(g);
        repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
          const __m512i sum =
              _mm512_dpwssd_epi32(_mm512_setzero_si512(), pairs, _mm512_set1_epi32(x_sums[r][g]));
          minima[r] =
              _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(x_scale[r][g]), minima[r]);
        });
      }
      prefetch<F, n_rows>(group, F::kGroupBytes);
      group += F::kGroupBytes;
      x_codes += kActivationGroup;
    }
    const __m512 d = halves_at(block);
    repeat<n_rows>([&]<int r>()
                       TANDEM_INLINE_LAMBDA { acc[r] = _mm512_fmadd_ps(scaled[r], d, acc[r]); });
    if constexpr (packed::kHasMinimum<F>) {
      const __m512 minus_dmin = _mm512_sub_ps(_mm512_set1_ps(-0.0f), halves_at(block + 32));
      repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
        acc[r] = _mm512_fmadd_ps(minima[r], minus_dmin, acc[r]);
      });
    }
    block += F::kBlockBytes;
  }
  store_outputs<n_rows>(a, job, acc);
}

template <DType type, int n_rows>
void tile_rows(const LinearArgs& a, const TileJob& job) {
  if constexpr (packed::kHasHalves<Format<type>>) {
    halves_tile<type, n_rows>(a, job);
  } else {
    groups_tile<type, n_rows>(a, job);
  }
}

template <DType type>
void linear_quantized(const LinearArgs& a) {
  using F = Format<type>;
  using TileFn = void (*)(const LinearArgs&, const TileJob&);
  static constexpr TileFn kRows[kMaxRows] = {
      tile_rows<type, 1>, tile_rows<type, 2>, tile_rows<type, 3>, tile_rows<type, 4>,
      tile_rows<type, 5>, tile_rows<type, 6>, tile_rows<type, 7>, tile_rows<type, 8>};
  const size_t tile_bytes = a.w.k / F::kElements * F::kBlockBytes;
  for_each_tile<kMaxRows>(a, tile_bytes, a.w.k, [&](const TileJob& job) TANDEM_INLINE_LAMBDA {
    kRows[job.n_rows - 1](a, job);
  });
}

}  // namespace
}  // namespace tandem::kernels::avx512
