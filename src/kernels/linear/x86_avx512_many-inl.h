#pragma once

#include "kernels/linear/many-inl.h"
#include "kernels/linear/x86_avx512_widened-inl.h"

// AVX-512 VNNI linear for many tokens: two tiles of widened weights against six tokens. A
// broadcast of four activation codes serves both tiles, so the two products that start each cycle
// need little more than one load (docs/performance.md).

namespace tandem::kernels::avx512 {
namespace {

inline constexpr int kTilesAtOnce = 2;
inline constexpr int kTokensAtOnce = 6;
/// Activation codes that the tiles of a call go over again and again: half of the smallest
/// second-level cache of the processors with VNNI.
inline constexpr size_t kManyCodes = 512 << 10;

/// What each group of up to kManyCodes activations adds besides its products; made once for all
/// tiles of a call.
template <class W>
struct GroupSums {
  static constexpr size_t kGroups = kManyCodes / kActivationGroup + 16;
  static constexpr size_t kParts = W::kHalves ? 2 : 1;
  /// Where the int32 sums of a group, or of its halves, start: what the offset of the weights'
  /// codes adds, negated.
  alignas(64) int32_t starts[W::kOffset != 0 ? kGroups * kParts : 1];
  /// What the group's minimum is multiplied with: the sum of the codes times their scale.
  alignas(64) float scaled_sums[W::kMinimum && !W::kHalves ? kGroups : 1];

  /// Groups [first, first + n) of all tokens, counted row by row.
  void read(const QuantizedActivations& x, size_t first, size_t n) {
    for (size_t i = 0; i < n; i += 16) {
      const __mmask16 some = static_cast<__mmask16>(n - i < 16 ? (1u << (n - i)) - 1 : 0xffff);
      const __m512i pairs = _mm512_maskz_loadu_epi32(some, x.sums + 2 * (first + i));
      if constexpr (W::kOffset != 0) put_starts(starts + i * kParts, pairs);
      if constexpr (W::kMinimum && !W::kHalves) {
        const __m512 whole = _mm512_cvtepi32_ps(_mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
        const __m512 scale = _mm512_maskz_loadu_ps(some, x.scales + first + i);
        _mm512_store_ps(scaled_sums + i, _mm512_mul_ps(scale, whole));
      }
    }
  }
  [[gnu::always_inline]] const uint8_t* codes_at(const QuantizedActivations& x, size_t group,
                                                 size_t) const {
    return reinterpret_cast<const uint8_t*>(x.codes + group * kActivationGroup);
  }

 private:
  static void put_starts(int32_t* to, __m512i pairs) {
    if constexpr (W::kHalves) {
      const __m512i offset = _mm512_set1_epi32(-W::kOffset);
      const __m512i low = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(pairs));
      const __m512i high = _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(pairs, 1));
      _mm512_store_si512(to, _mm512_mullo_epi32(low, offset));
      _mm512_store_si512(to + 16, _mm512_mullo_epi32(high, offset));
    } else {
      _mm512_store_si512(to, _mm512_madd_epi16(pairs, _mm512_set1_epi16(-W::kOffset)));
    }
  }
};

template <class W>
using TokensOf = Tokens<GroupSums<W>, kTokensAtOnce>;

/// Asks for what these tokens, if they are the first, and the next ones will read at group g.
template <class W>
[[gnu::always_inline]] inline void prefetch(const TokensOf<W>& x, const W (&w)[kTilesAtOnce],
                                            int g) {
  x.prefetch_weights(w, g);
  repeat<kTokensAtOnce>([&]<int t>() TANDEM_INLINE_LAMBDA {
    _mm_prefetch(reinterpret_cast<const char*>(x.next_codes + x.code_rows.template at<t>()),
                 _MM_HINT_T0);
  });
}

/// `sums[tile][token]`: quads [first_quad, last_quad) of group g.
template <class W, int n_tokens, int first_quad, int last_quad>
[[gnu::always_inline]] inline void multiply_quads(const TokensOf<W>& x, const W (&w)[kTilesAtOnce],
                                                  int g, __m512i (&sums)[kTilesAtOnce][n_tokens]) {
  repeat<last_quad - first_quad>([&]<int i>() TANDEM_INLINE_LAMBDA {
    constexpr int quad = first_quad + i;
    __m512i weights[kTilesAtOnce];
    repeat<kTilesAtOnce>([&]<int tile>() TANDEM_INLINE_LAMBDA {
      weights[tile] = _mm512_load_si512(w[tile].codes[g][0] + quad * packed::kQuadBytes);
    });
    repeat<n_tokens>([&]<int t>() TANDEM_INLINE_LAMBDA {
      const __m512i activations = _mm512_set1_epi32(x.template quad<t>(quad));
      repeat<kTilesAtOnce>([&]<int tile>() TANDEM_INLINE_LAMBDA {
        sums[tile][t] = _mm512_dpbusd_epi32(sums[tile][t], weights[tile], activations);
      });
    });
  });
}

template <class W, int n_tokens, int half>
[[gnu::always_inline]] inline void start_sums(const TokensOf<W>& x,
                                              __m512i (&sums)[kTilesAtOnce][n_tokens]) {
  repeat<n_tokens>([&]<int t>() TANDEM_INLINE_LAMBDA {
    const __m512i start =
        W::kOffset == 0 ? _mm512_setzero_si512() : _mm512_set1_epi32(x.template start<t, half>());
    repeat<kTilesAtOnce>([&]<int tile>() TANDEM_INLINE_LAMBDA { sums[tile][t] = start; });
  });
}

/// Calls f.template operator()<tile, token>() for all of them, token by token.
template <int n_tokens, class F>
[[gnu::always_inline]] inline void for_tiles_and_tokens(F&& f) {
  repeat<n_tokens * kTilesAtOnce>([&]<int i>() TANDEM_INLINE_LAMBDA {
    f.template operator()<i % kTilesAtOnce, i / kTilesAtOnce>();
  });
}

/// HOT: linear_bench. Formats with one float scale, and perhaps a minimum, for each group.
template <class W, int n_tokens>
requires(!W::kHalves) [[gnu::noinline]] void stretch(TokensOf<W> x, const W (&w)[kTilesAtOnce],
                                                     const Outputs (&out)[kTilesAtOnce]) {
  __m512 acc[kTilesAtOnce][n_tokens];
  for_tiles_and_tokens<n_tokens>([&]<int tile, int t>()
                                     TANDEM_INLINE_LAMBDA { acc[tile][t] = out[tile].load(t); });
  for (int g = 0; g < w[0].n_groups; ++g, x.next_group()) {
    __m512i sums[kTilesAtOnce][n_tokens];
    prefetch(x, w, g);
    start_sums<W, n_tokens, 0>(x, sums);
    multiply_quads<W, n_tokens, 0, 8>(x, w, g, sums);
    const __m512 scale[kTilesAtOnce] = {_mm512_load_ps(w[0].scale[g][0]),
                                        _mm512_load_ps(w[1].scale[g][0])};
    for_tiles_and_tokens<n_tokens>([&]<int tile, int t>() TANDEM_INLINE_LAMBDA {
      acc[tile][t] = _mm512_fmadd_ps(
          _mm512_cvtepi32_ps(sums[tile][t]),
          _mm512_mul_ps(scale[tile], _mm512_set1_ps(x.template scale<t>())), acc[tile][t]);
    });
    if constexpr (W::kMinimum) {
      const __m512 minimum[kTilesAtOnce] = {_mm512_load_ps(w[0].minimum[g]),
                                            _mm512_load_ps(w[1].minimum[g])};
      for_tiles_and_tokens<n_tokens>([&]<int tile, int t>() TANDEM_INLINE_LAMBDA {
        acc[tile][t] = _mm512_fmadd_ps(minimum[tile], _mm512_set1_ps(x.template scaled_sum<t>()),
                                       acc[tile][t]);
      });
    }
  }
  for_tiles_and_tokens<n_tokens>([&]<int tile, int t>()
                                     TANDEM_INLINE_LAMBDA { out[tile].store(t, acc[tile][t]); });
}

/// Sums of the minima of the groups of a block, without their scale.
template <class W, int n_tokens>
[[gnu::always_inline]] inline void add_half_minima(TokensOf<W>& x, const W (&w)[kTilesAtOnce],
                                                   int first,
                                                   __m512 (&minima)[kTilesAtOnce][n_tokens]) {
  for_tiles_and_tokens<n_tokens>(
      [&]<int tile, int t>() TANDEM_INLINE_LAMBDA { minima[tile][t] = _mm512_setzero_ps(); });
  for (int g = first; g < first + W::kBlockGroups; ++g, x.next_group()) {
    const __m512i pairs[kTilesAtOnce] = {_mm512_load_si512(w[0].minimum[g]),
                                         _mm512_load_si512(w[1].minimum[g])};
    for_tiles_and_tokens<n_tokens>([&]<int tile, int t>() TANDEM_INLINE_LAMBDA {
      const __m512i sum = _mm512_dpwssd_epi32(_mm512_setzero_si512(), pairs[tile],
                                              _mm512_set1_epi32(x.template half_sums<t>()));
      minima[tile][t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum),
                                        _mm512_set1_ps(x.template scale<t>()), minima[tile][t]);
    });
  }
}

/// HOT: linear_bench. Formats with integer scales for half groups below one scale for 256.
template <class W, int n_tokens>
requires(W::kHalves) [[gnu::noinline]] void stretch(TokensOf<W> x, const W (&w)[kTilesAtOnce],
                                                    const Outputs (&out)[kTilesAtOnce]) {
  __m512 acc[kTilesAtOnce][n_tokens];
  for_tiles_and_tokens<n_tokens>([&]<int tile, int t>()
                                     TANDEM_INLINE_LAMBDA { acc[tile][t] = out[tile].load(t); });
  for (int first = 0; first < w[0].n_groups; first += W::kBlockGroups) {
    [[maybe_unused]] TokensOf<W> x_of_block = x;
    __m512 scaled[kTilesAtOnce][n_tokens];
    for_tiles_and_tokens<n_tokens>(
        [&]<int tile, int t>() TANDEM_INLINE_LAMBDA { scaled[tile][t] = _mm512_setzero_ps(); });
    for (int g = first; g < first + W::kBlockGroups; ++g, x.next_group()) {
      __m512i sums[kTilesAtOnce][n_tokens];
      __m512 both[kTilesAtOnce][n_tokens];
      prefetch(x, w, g);
      start_sums<W, n_tokens, 0>(x, sums);
      multiply_quads<W, n_tokens, 0, 4>(x, w, g, sums);
      for_tiles_and_tokens<n_tokens>([&]<int tile, int t>() TANDEM_INLINE_LAMBDA {
        both[tile][t] =
            _mm512_mul_ps(_mm512_cvtepi32_ps(sums[tile][t]), _mm512_load_ps(w[tile].scale[g][0]));
      });
      start_sums<W, n_tokens, 1>(x, sums);
      multiply_quads<W, n_tokens, 4, 8>(x, w, g, sums);
      for_tiles_and_tokens<n_tokens>([&]<int tile, int t>() TANDEM_INLINE_LAMBDA {
        // Exact: every value is an integer below 2^24.
        const __m512 sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[tile][t]),
                                           _mm512_load_ps(w[tile].scale[g][1]), both[tile][t]);
        scaled[tile][t] =
            _mm512_fmadd_ps(sum, _mm512_set1_ps(x.template scale<t>()), scaled[tile][t]);
      });
    }
    const int block = first / W::kBlockGroups;
    for_tiles_and_tokens<n_tokens>([&]<int tile, int t>() TANDEM_INLINE_LAMBDA {
      acc[tile][t] = _mm512_fmadd_ps(scaled[tile][t], _mm512_load_ps(w[tile].block_scale[block][0]),
                                     acc[tile][t]);
    });
    if constexpr (W::kMinimum) {
      add_half_minima<W, n_tokens>(x_of_block, w, first, scaled);
      for_tiles_and_tokens<n_tokens>([&]<int tile, int t>() TANDEM_INLINE_LAMBDA {
        acc[tile][t] = _mm512_fmadd_ps(scaled[tile][t],
                                       _mm512_load_ps(w[tile].block_scale[block][1]), acc[tile][t]);
      });
    }
  }
  for_tiles_and_tokens<n_tokens>([&]<int tile, int t>()
                                     TANDEM_INLINE_LAMBDA { out[tile].store(t, acc[tile][t]); });
}

/// As many-inl.h wants it.
template <class W>
struct ManyKernel {
  using Weights = W;
  using OfCall = GroupSums<W>;
  using Out = Outputs;
  static constexpr int kTilesAtOnce = avx512::kTilesAtOnce;
  static constexpr int kTokensAtOnce = avx512::kTokensAtOnce;
  /// Below that many tokens widening the weights costs more than it saves.
  static constexpr size_t kMinTokens = 12;
  static constexpr size_t kManyCodes = avx512::kManyCodes;

  template <int n_tokens>
  [[gnu::always_inline]] static void run_stretch(const TokensOf<W>& x, const W (&w)[kTilesAtOnce],
                                                 const Outputs (&out)[kTilesAtOnce]) {
    stretch<W, n_tokens>(x, w, out);
  }
};

}  // namespace
}  // namespace tandem::kernels::avx512
