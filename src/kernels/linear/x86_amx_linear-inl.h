#pragma once

#include <immintrin.h>

#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/repeat.h"
#include "kernels/linear/x86_amx_tiles-inl.h"
#include "kernels/linear/x86_avx512_widened-inl.h"

// AMX linear over quantized weights. A tile product gives the exact int32 sums of one weight group
// for sixteen tokens and sixteen outputs; AVX-512 scales and adds them in the order that every
// other row of the table keeps.

namespace tandem::kernels::avx512_amx {
namespace {

using avx512::CodeForm;
using avx512::Outputs;
inline constexpr int kDepth = avx512::kDepthOf<CodeForm::kSignedByHalves>;
template <DType type>
using Widened = avx512::Widened<type, CodeForm::kSignedByHalves>;

/// Below that many tokens widening the weights costs more than the products save.
inline constexpr size_t kMinTokens = 12;
/// Tiles of weights that share what is read of the activations.
template <class W>
inline constexpr int kTilesTogether = W::kHalves ? 2 : 4;
/// Sums of a group: one, or one for each half.
template <class W>
inline constexpr int kParts = W::kHalves ? 2 : 1;

/// Scales and sums of the activations of up to sixteen tokens over a stretch.
struct Inputs {
  const int8_t* codes;  ///< of the first token, rows k bytes apart
  size_t k;
  int n_tokens, n_groups;
  alignas(64) float scale[kTokens][kDepth];
  alignas(64) float sum[kTokens][kDepth];     ///< scale times the sum of the group's codes
  alignas(64) int32_t sums[kTokens][kDepth];  ///< pairs of int16, one for each half group

  template <class W>
  [[gnu::always_inline]] void read(const LinearArgs& a, size_t m, int tokens, size_t first_group,
                                   int groups) {
    const size_t row_groups = a.w.k / kActivationGroup;
    const __mmask16 some = static_cast<__mmask16>((1u << groups) - 1);
    k = a.w.k;
    codes = a.xq.codes + m * k + first_group * kActivationGroup;
    n_tokens = tokens;
    n_groups = groups;
    for (int t = 0; t < tokens; ++t) {
      const size_t at = (m + t) * row_groups + first_group;
      const __m512 scales = _mm512_maskz_loadu_ps(some, a.xq.scales + at);
      _mm512_store_ps(scale[t], scales);
      if constexpr (W::kMinimum) {
        const __m512i halves = _mm512_maskz_loadu_epi32(some, a.xq.sums + 2 * at);
        if constexpr (W::kHalves) {
          _mm512_store_si512(sums[t], halves);
        } else {
          const __m512i whole = _mm512_madd_epi16(halves, _mm512_set1_epi16(1));
          _mm512_store_ps(sum[t], _mm512_mul_ps(scales, _mm512_cvtepi32_ps(whole)));
        }
      }
    }
  }
};

/// Products under way while one group is scaled: they take about 90 cycles from load to store, the
/// scaling of a group 30.
inline constexpr int kAhead = 2;
/// Where the sums of tile products wait for their scaling, each group of one or two parts.
struct alignas(64) Sums {
  int32_t at[kAhead + 1][2][kTokens][kTileRows];
};

/// Starts the products of group g; they arrive in `sums`.
template <class W, bool is_rest>
[[gnu::always_inline]] inline void multiply_group(const Inputs& x, const W& w, int g, Sums& sums) {
  using Set = TileSet<is_rest>;
  int32_t(&to)[2][kTokens][kTileRows] = sums.at[g % (kAhead + 1)];
  load_tile<Set::kActivations>(x.codes + g * kCodeBytes, x.k);
  load_tile<kWeights0>(w.codes[g][0], kRowBytes);
  zero_tile<Set::kSums0>();
  multiply_tiles<Set::kSums0, Set::kActivations, kWeights0>();
  store_tile<Set::kSums0>(to[0], kRowBytes);
  if constexpr (kParts<W> == 2) {
    load_tile<kWeights1>(w.codes[g][1], kRowBytes);
    zero_tile<Set::kSums1>();
    multiply_tiles<Set::kSums1, Set::kActivations, kWeights1>();
    store_tile<Set::kSums1>(to[1], kRowBytes);
  }
}

/// HOT: linear_bench. Formats with one float scale, and perhaps a minimum, for each group.
template <class W, int n_rows, bool is_rest>
[[gnu::noinline]] void groups_stretch(const Inputs& x, const W& w, const Outputs& out, Sums& sums) {
  __m512 acc[n_rows];
  repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
    acc[r] = !is_rest || r < x.n_tokens ? out.load(r) : _mm512_setzero_ps();
  });
  for (int g = 0; g < kAhead && g < x.n_groups; ++g) multiply_group<W, is_rest>(x, w, g, sums);
  for (int g = 0; g < x.n_groups; ++g) {
    if (g + kAhead < x.n_groups) multiply_group<W, is_rest>(x, w, g + kAhead, sums);
    const int32_t(&sum)[kTokens][kTileRows] = sums.at[g % (kAhead + 1)][0];
    const __m512 scale = _mm512_load_ps(w.scale[g][0]);
    repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
      acc[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_load_si512(sum[r])),
                               _mm512_mul_ps(scale, _mm512_set1_ps(x.scale[r][g])), acc[r]);
    });
    if constexpr (W::kMinimum) {
      const __m512 minimum = _mm512_castsi512_ps(_mm512_load_si512(w.minimum[g]));
      repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
        acc[r] = _mm512_fmadd_ps(minimum, _mm512_set1_ps(x.sum[r][g]), acc[r]);
      });
    }
  }
  repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
    if (!is_rest || r < x.n_tokens) out.store(r, acc[r]);
  });
}

/// HOT: linear_bench. Formats with integer scales for half groups below one scale for 256.
template <class W, int n_rows, bool is_rest>
[[gnu::noinline]] void halves_stretch(const Inputs& x, const W& w, const Outputs& out, Sums& sums) {
  Outputs block_out = out;
  for (int g = 0; g < kAhead && g < x.n_groups; ++g) multiply_group<W, is_rest>(x, w, g, sums);
  for (int first = 0; first < x.n_groups; first += W::kBlockGroups) {
    __m512 scaled[n_rows];
    repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA { scaled[r] = _mm512_setzero_ps(); });
    for (int g = first; g < first + W::kBlockGroups; ++g) {
      if (g + kAhead < x.n_groups) multiply_group<W, is_rest>(x, w, g + kAhead, sums);
      const auto& sum = sums.at[g % (kAhead + 1)];
      const __m512 scale0 = _mm512_load_ps(w.scale[g][0]), scale1 = _mm512_load_ps(w.scale[g][1]);
      repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
        const __m512 sum0 = _mm512_cvtepi32_ps(_mm512_load_si512(sum[0][r]));
        const __m512 sum1 = _mm512_cvtepi32_ps(_mm512_load_si512(sum[1][r]));
        // Exact: every value is an integer below 2^24.
        const __m512 both = _mm512_fmadd_ps(sum1, scale1, _mm512_mul_ps(sum0, scale0));
        scaled[r] = _mm512_fmadd_ps(both, _mm512_set1_ps(x.scale[r][g]), scaled[r]);
      });
    }
    const auto& block_scale = w.block_scale[first / W::kBlockGroups];
    const bool is_last = first + W::kBlockGroups >= x.n_groups;
    block_out.bias = is_last && !W::kMinimum ? out.bias : nullptr;
    repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
      if (is_rest && r >= x.n_tokens) return;
      block_out.store(
          r, _mm512_fmadd_ps(scaled[r], _mm512_load_ps(block_scale[0]), block_out.load(r)));
    });
    block_out.starts = false;
    if constexpr (W::kMinimum) {
      repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA { scaled[r] = _mm512_setzero_ps(); });
      for (int g = first; g < first + W::kBlockGroups; ++g) {
        const __m512i pairs = _mm512_load_si512(w.minimum[g]);
        repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
          const __m512i sum =
              _mm512_dpwssd_epi32(_mm512_setzero_si512(), pairs, _mm512_set1_epi32(x.sums[r][g]));
          scaled[r] =
              _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(x.scale[r][g]), scaled[r]);
        });
      }
      block_out.bias = is_last ? out.bias : nullptr;
      repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
        if (is_rest && r >= x.n_tokens) return;
        block_out.store(
            r, _mm512_fmadd_ps(scaled[r], _mm512_load_ps(block_scale[1]), block_out.load(r)));
      });
    }
  }
}

template <class W, int n_rows, bool is_rest>
[[gnu::always_inline]] inline void run_stretch(const Inputs& x, const W& w, const Outputs& out,
                                               Sums& sums) {
  if constexpr (W::kHalves) {
    halves_stretch<W, n_rows, is_rest>(x, w, out, sums);
  } else {
    groups_stretch<W, n_rows, is_rest>(x, w, out, sums);
  }
}

/// The tiles of outputs [n, n + 16 n_tiles) for all tokens.
template <class W>
[[gnu::always_inline]] inline void tiles_together(const LinearArgs& a, size_t n, int n_tiles,
                                                  W (&w)[kTilesTogether<W>], Sums& sums) {
  const size_t all_groups = a.w.k / kActivationGroup;
  Inputs x;
  for (size_t first = 0; first < all_groups; first += kDepth) {
    const size_t left = all_groups - first;
    const int n_groups = left < kDepth ? static_cast<int>(left) : kDepth;
    for (int i = 0; i < n_tiles; ++i) w[i].widen(a, n + i * kTileRows, first, n_groups);
    for (size_t m = 0; m < a.m; m += kTokens) {
      const int n_tokens = a.m - m < kTokens ? static_cast<int>(a.m - m) : kTokens;
      x.read<W>(a, m, n_tokens, first, n_groups);
      for (int i = 0; i < n_tiles; ++i) {
        if (m == 0) {
          for (int g = 0; g < n_groups; ++g) w[i].prefetch_next(g);
        }
        const Outputs out = Outputs(
            OutputRows::at(a, m, n + i * kTileRows, first == 0, first + n_groups == all_groups));
        if (n_tokens == kTokens) {
          run_stretch<W, kTokens, false>(x, w[i], out, sums);
        } else if (n_tokens > kTokens / 2) {
          run_stretch<W, kTokens, true>(x, w[i], out, sums);
        } else {
          run_stretch<W, kTokens / 2, true>(x, w[i], out, sums);
        }
      }
    }
  }
}

template <class W>
void linear_tiles(const LinearArgs& a, LinearFn few_tokens) {
  constexpr int kTogether = kTilesTogether<W>;
  if (a.m < kMinTokens) return few_tokens(a);
  const int n_rest = static_cast<int>((a.m - 1) % kTokens) + 1;
  const Tiles tiles(int8_shapes(n_rest));
  W w[kTogether];
  Sums sums = {};
  for (size_t n = a.n_begin; n < a.n_end; n += kTogether * kTileRows) {
    const size_t left = (a.n_end - n + kTileRows - 1) / kTileRows;
    const int n_tiles = left < kTogether ? static_cast<int>(left) : kTogether;
    tiles_together<W>(a, n, n_tiles, w, sums);
  }
}

}  // namespace
}  // namespace tandem::kernels::avx512_amx
