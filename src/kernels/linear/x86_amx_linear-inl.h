#pragma once

#include <immintrin.h>

#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/repeat.h"
#include "kernels/linear/tiles-inl.h"
#include "kernels/linear/x86_amx_tiles-inl.h"
#include "kernels/linear/x86_avx512_weights-inl.h"

// AMX linear over quantized weights. A tile product gives the exact int32 sums of one weight group
// for sixteen tokens and sixteen outputs; AVX-512 scales and adds them in the order that every
// other row of the table keeps. Weights are widened to signed bytes once for all tokens of a call.

namespace tandem::kernels::avx512_amx {
namespace {

using avx512::Scales;
using avx512::SubScales;
using packed::Format;

/// Below that many tokens widening the weights costs more than the products save.
inline constexpr size_t kMinTokens = 6;
/// Groups along K whose widened weights and activations stay in the first-level cache.
inline constexpr int kDepth = 16;
inline constexpr size_t kGroupCodes = size_t{kQuadRows} * kRowBytes;

[[gnu::always_inline]] inline void prefetch_bytes(const std::byte* p, size_t n_bytes) {
  for (size_t i = 0; i < n_bytes; i += 64) {
    _mm_prefetch(reinterpret_cast<const char*>(p) + i, _MM_HINT_T1);
  }
}

/// Widened weights of one tile of outputs over a stretch of kDepth groups. What widens is a class
/// with these constants, `codes`, `scale` and perhaps more, and `widen`.
template <DType type>
struct Widened {
  using F = Format<type>;
  static constexpr bool kHalves = packed::kHasHalves<F>;
  static constexpr bool kMinimum = packed::kHasMinimum<F>;
  static constexpr int kBlockGroups = F::kGroups;
  static constexpr int kParts = kHalves ? 2 : 1;
  static constexpr int kBlocks = kDepth / F::kGroups;
  /// Tiles of weights that share what is read of the activations.
  static constexpr int kTilesTogether = kHalves ? 2 : 4;

  /// Signed codes quad by quad. With halves two copies of a group: one with the second half zero,
  /// one with the first.
  alignas(64) int8_t codes[kDepth][kParts][kGroupCodes];
  alignas(64) float scale[kDepth][kParts][kTileRows];
  /// Minima of a group, or pairs of int16 with the minima of its halves.
  alignas(64) int32_t minimum[packed::kHasMinimum<F> ? kDepth : 1][kTileRows];
  const std::byte* next;  ///< bytes of the next stretch
  /// With halves: scale, and minus that of the minima, of a block.
  alignas(64) float block_scale[packed::kHasHalves<F> ? kBlocks : 1][2][kTileRows];

  /// Groups [first, first + n_groups) of the tile of outputs that starts at n.
  void widen(const LinearArgs& a, size_t n, size_t first, int n_groups) {
    const size_t tile_bytes = a.w.k / F::kElements * F::kBlockBytes;
    const std::byte* block =
        a.w.data + n / kTileRows * tile_bytes + first / F::kGroups * F::kBlockBytes;
    next = block + n_groups / F::kGroups * F::kBlockBytes;
    for (int g = 0; g < n_groups; g += F::kGroups, block += F::kBlockBytes) {
      if constexpr (packed::kHasHalves<F>) {
        widen_halves_block(block, g);
      } else {
        const Scales<type> scales(block);
        for (int i = 0; i < F::kGroups; ++i) {
          _mm512_store_ps(scale[g + i][0], scales.scale(i));
          if constexpr (packed::kHasMinimum<F>) {
            _mm512_store_ps(reinterpret_cast<float*>(minimum[g + i]), scales.minimum(i));
          }
        }
      }
      const std::byte* group = block + F::kHeaderBytes;
      for (int i = 0; i < F::kGroups; ++i, group += F::kGroupBytes) widen_codes(group, g + i);
    }
  }
  /// Asks for the bytes that the next stretch will widen.
  void prefetch_next(int n_groups) const {
    prefetch_bytes(next, n_groups / F::kGroups * F::kBlockBytes);
  }

 private:
  void widen_codes(const std::byte* group, int g) {
    __m512i q[8];
    avx512::load_codes<F>(group, q);
    const __m512i offset = _mm512_set1_epi8(static_cast<char>(F::kOffset));
    repeat<8>([&]<int i>() TANDEM_INLINE_LAMBDA {
      constexpr int part = kParts == 2 ? i / 4 : 0;
      const __m512i value = F::kOffset == 0 ? q[i] : _mm512_sub_epi8(q[i], offset);
      _mm512_store_si512(codes[g][part] + i * kRowBytes, value);
      if constexpr (kParts == 2) {
        _mm512_store_si512(codes[g][1 - part] + i * kRowBytes, _mm512_setzero_si512());
      }
    });
  }
  void widen_halves_block(const std::byte* block, int g) {
    const SubScales<type> sub_scales(block);
    for (int i = 0; i < F::kGroups; ++i) {
      _mm512_store_ps(scale[g + i][0], sub_scales.sub_scale(2 * i));
      _mm512_store_ps(scale[g + i][1], sub_scales.sub_scale(2 * i + 1));
      if constexpr (packed::kHasMinimum<F>) {
        _mm512_store_si512(minimum[g + i], sub_scales.sub_minima(i));
      }
    }
    _mm512_store_ps(block_scale[g / F::kGroups][0], avx512::halves_at(block));
    if constexpr (packed::kHasMinimum<F>) {
      _mm512_store_ps(block_scale[g / F::kGroups][1],
                      _mm512_sub_ps(_mm512_set1_ps(-0.0f), avx512::halves_at(block + 32)));
    }
  }
};

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

/// Outputs of one tile of weights for the tokens of an Inputs.
struct Outputs {
  float* y;  ///< of the first token and output
  size_t stride;
  __mmask16 columns;
  const float* bias;  ///< null unless this is the last stretch
  bool starts;        ///< no stretch came before

  [[gnu::always_inline]] float* row(int t) const {
    return reinterpret_cast<float*>(reinterpret_cast<std::byte*>(y) + t * stride);
  }
  [[gnu::always_inline]] __m512 load(int t) const {
    return starts ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(columns, row(t));
  }
  [[gnu::always_inline]] void store(int t, __m512 v) const {
    if (bias != nullptr) v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(columns, bias));
    _mm512_mask_storeu_ps(row(t), columns, v);
  }
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
  if constexpr (W::kParts == 2) {
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
                                                  W (&w)[W::kTilesTogether], Sums& sums) {
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
        if (m == 0) w[i].prefetch_next(n_groups);
        const size_t column = n + i * kTileRows;
        const size_t n_columns = a.n_end - column < kTileRows ? a.n_end - column : kTileRows;
        const bool is_last = first + n_groups == all_groups;
        const Outputs out{output_at(a, m, column), a.y_stride,
                          static_cast<__mmask16>((1u << n_columns) - 1),
                          is_last && a.bias != nullptr ? a.bias + column : nullptr, first == 0};
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
  constexpr int kTogether = W::kTilesTogether;
  if (a.m < kMinTokens) return few_tokens(a);
  const int n_rest = static_cast<int>((a.m - 1) % kTokens) + 1;
  const Tiles tiles(n_rest);
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
