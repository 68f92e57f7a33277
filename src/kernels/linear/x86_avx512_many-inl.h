#pragma once

#include "kernels/linear/x86_avx512_widened-inl.h"

// AVX-512 VNNI linear for many tokens: two tiles of widened weights against six tokens. A
// broadcast of four activation codes serves both tiles, so the two products that start each cycle
// need little more than one load (docs/performance.md).

namespace tandem::kernels::avx512 {
namespace {

inline constexpr int kTilesAtOnce = 2;
inline constexpr int kTokensAtOnce = 6;
/// Below that many tokens widening the weights costs more than it saves.
inline constexpr size_t kMinTokens = 12;
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

/// The activations of a few tokens, at one group of K.
template <class W>
struct Tokens {
  const int8_t* codes;
  const int8_t* next_codes;  ///< of the tokens after these
  const float* scales;
  const int32_t* starts;
  const float* scaled_sums;
  const int16_t* half_sums;
  RowOffsets code_rows, group_rows;
  bool is_first;  ///< of the tokens that use what was widened

  /// `first_token`: the first one that `sums` has.
  Tokens(const LinearArgs& a, const GroupSums<W>& sums, size_t first_token, size_t m, size_t group)
      : code_rows(a.w.k), group_rows(a.w.k / kActivationGroup), is_first(m == first_token) {
    codes = a.xq.codes + m * code_rows.one + group * kActivationGroup;
    next_codes = codes + kTokensAtOnce * code_rows.one;
    scales = a.xq.scales + m * group_rows.one + group;
    half_sums = a.xq.sums + 2 * (m * group_rows.one + group);
    const size_t at = (m - first_token) * group_rows.one + group;
    starts = sums.starts + at * GroupSums<W>::kParts;
    scaled_sums = sums.scaled_sums + at;
  }
  [[gnu::always_inline]] void next_group() {
    codes += kActivationGroup;
    next_codes += kActivationGroup;
    scales += 1;
    starts += GroupSums<W>::kParts;
    scaled_sums += 1;
    half_sums += 2;
  }
  /// Asks for what the next tokens will read of this group, and the first tokens for what group g
  /// of the next stretch will be widened from.
  [[gnu::always_inline]] void prefetch(const W (&w)[kTilesAtOnce], int g) const {
    if (is_first) {
      for (const W& tile : w) tile.prefetch_next(g);
    }
    prefetch_next_tokens();
  }
  [[gnu::always_inline]] void prefetch_next_tokens() const {
    repeat<kTokensAtOnce>([&]<int t>() TANDEM_INLINE_LAMBDA {
      _mm_prefetch(reinterpret_cast<const char*>(next_codes + code_rows.at<t>()), _MM_HINT_T0);
    });
  }
  /// Four codes of token t in every lane.
  template <int t>
  [[gnu::always_inline]] __m512i quad(int quad) const {
    int32_t four;
    __builtin_memcpy(&four, codes + code_rows.at<t>() + quad * 4, sizeof four);
    return _mm512_set1_epi32(four);
  }
  template <int t>
  [[gnu::always_inline]] __m512 scale() const {
    return _mm512_set1_ps(scales[group_rows.at<t>()]);
  }
  template <int t, int half>
  [[gnu::always_inline]] __m512i start() const {
    if constexpr (W::kOffset == 0) return _mm512_setzero_si512();
    return _mm512_set1_epi32(starts[group_rows.at<t>() * GroupSums<W>::kParts + half]);
  }
  template <int t>
  [[gnu::always_inline]] __m512 scaled_sum() const {
    return _mm512_set1_ps(scaled_sums[group_rows.at<t>()]);
  }
  /// The sums of both halves in every lane.
  template <int t>
  [[gnu::always_inline]] __m512i sums_of_halves() const {
    int32_t pair;
    __builtin_memcpy(&pair, half_sums + 2 * group_rows.at<t>(), sizeof pair);
    return _mm512_set1_epi32(pair);
  }
};

/// `sums[tile][token]`: quads [first_quad, last_quad) of group g.
template <class W, int n_tokens, int first_quad, int last_quad>
[[gnu::always_inline]] inline void multiply_quads(const Tokens<W>& x, const W (&w)[kTilesAtOnce],
                                                  int g, __m512i (&sums)[kTilesAtOnce][n_tokens]) {
  repeat<last_quad - first_quad>([&]<int i>() TANDEM_INLINE_LAMBDA {
    constexpr int quad = first_quad + i;
    __m512i weights[kTilesAtOnce];
    repeat<kTilesAtOnce>([&]<int tile>() TANDEM_INLINE_LAMBDA {
      weights[tile] = _mm512_load_si512(w[tile].codes[g][0] + quad * packed::kQuadBytes);
    });
    repeat<n_tokens>([&]<int t>() TANDEM_INLINE_LAMBDA {
      const __m512i activations = x.template quad<t>(quad);
      repeat<kTilesAtOnce>([&]<int tile>() TANDEM_INLINE_LAMBDA {
        sums[tile][t] = _mm512_dpbusd_epi32(sums[tile][t], weights[tile], activations);
      });
    });
  });
}

template <class W, int n_tokens, int half>
[[gnu::always_inline]] inline void start_sums(const Tokens<W>& x,
                                              __m512i (&sums)[kTilesAtOnce][n_tokens]) {
  repeat<n_tokens>([&]<int t>() TANDEM_INLINE_LAMBDA {
    const __m512i start = x.template start<t, half>();
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
[[gnu::noinline]] void groups_stretch(Tokens<W> x, const W (&w)[kTilesAtOnce],
                                      const Outputs (&out)[kTilesAtOnce]) {
  __m512 acc[kTilesAtOnce][n_tokens];
  for_tiles_and_tokens<n_tokens>([&]<int tile, int t>()
                                     TANDEM_INLINE_LAMBDA { acc[tile][t] = out[tile].load(t); });
  for (int g = 0; g < w[0].n_groups; ++g, x.next_group()) {
    __m512i sums[kTilesAtOnce][n_tokens];
    x.prefetch(w, g);
    start_sums<W, n_tokens, 0>(x, sums);
    multiply_quads<W, n_tokens, 0, 8>(x, w, g, sums);
    const __m512 scale[kTilesAtOnce] = {_mm512_load_ps(w[0].scale[g][0]),
                                        _mm512_load_ps(w[1].scale[g][0])};
    for_tiles_and_tokens<n_tokens>([&]<int tile, int t>() TANDEM_INLINE_LAMBDA {
      acc[tile][t] =
          _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[tile][t]),
                          _mm512_mul_ps(scale[tile], x.template scale<t>()), acc[tile][t]);
    });
    if constexpr (W::kMinimum) {
      const __m512 minimum[kTilesAtOnce] = {_mm512_load_ps(w[0].minimum[g]),
                                            _mm512_load_ps(w[1].minimum[g])};
      for_tiles_and_tokens<n_tokens>([&]<int tile, int t>() TANDEM_INLINE_LAMBDA {
        acc[tile][t] = _mm512_fmadd_ps(minimum[tile], x.template scaled_sum<t>(), acc[tile][t]);
      });
    }
  }
  for_tiles_and_tokens<n_tokens>([&]<int tile, int t>()
                                     TANDEM_INLINE_LAMBDA { out[tile].store(t, acc[tile][t]); });
}

/// Sums of the minima of the groups of a block, without their scale.
template <class W, int n_tokens>
[[gnu::always_inline]] inline void add_half_minima(Tokens<W>& x, const W (&w)[kTilesAtOnce],
                                                   int first,
                                                   __m512 (&minima)[kTilesAtOnce][n_tokens]) {
  for_tiles_and_tokens<n_tokens>(
      [&]<int tile, int t>() TANDEM_INLINE_LAMBDA { minima[tile][t] = _mm512_setzero_ps(); });
  for (int g = first; g < first + W::kBlockGroups; ++g, x.next_group()) {
    const __m512i pairs[kTilesAtOnce] = {_mm512_load_si512(w[0].minimum[g]),
                                         _mm512_load_si512(w[1].minimum[g])};
    for_tiles_and_tokens<n_tokens>([&]<int tile, int t>() TANDEM_INLINE_LAMBDA {
      const __m512i sum =
          _mm512_dpwssd_epi32(_mm512_setzero_si512(), pairs[tile], x.template sums_of_halves<t>());
      minima[tile][t] =
          _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), x.template scale<t>(), minima[tile][t]);
    });
  }
}

/// HOT: linear_bench. Formats with integer scales for half groups below one scale for 256.
template <class W, int n_tokens>
[[gnu::noinline]] void halves_stretch(Tokens<W> x, const W (&w)[kTilesAtOnce],
                                      const Outputs (&out)[kTilesAtOnce]) {
  __m512 acc[kTilesAtOnce][n_tokens];
  for_tiles_and_tokens<n_tokens>([&]<int tile, int t>()
                                     TANDEM_INLINE_LAMBDA { acc[tile][t] = out[tile].load(t); });
  for (int first = 0; first < w[0].n_groups; first += W::kBlockGroups) {
    [[maybe_unused]] Tokens<W> x_of_block = x;
    __m512 scaled[kTilesAtOnce][n_tokens];
    for_tiles_and_tokens<n_tokens>(
        [&]<int tile, int t>() TANDEM_INLINE_LAMBDA { scaled[tile][t] = _mm512_setzero_ps(); });
    for (int g = first; g < first + W::kBlockGroups; ++g, x.next_group()) {
      __m512i sums[kTilesAtOnce][n_tokens];
      __m512 both[kTilesAtOnce][n_tokens];
      x.prefetch(w, g);
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
        scaled[tile][t] = _mm512_fmadd_ps(sum, x.template scale<t>(), scaled[tile][t]);
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

template <class W, int n_tokens>
[[gnu::always_inline]] inline void run_stretch(const Tokens<W>& x, const W (&w)[kTilesAtOnce],
                                               const Outputs (&out)[kTilesAtOnce]) {
  if constexpr (W::kHalves) {
    halves_stretch<W, n_tokens>(x, w, out);
  } else {
    groups_stretch<W, n_tokens>(x, w, out);
  }
}

/// n_tokens <= kTokensAtOnce.
template <class W>
[[gnu::always_inline]] inline void run_tokens(int n_tokens, const Tokens<W>& x,
                                              const W (&w)[kTilesAtOnce],
                                              const Outputs (&out)[kTilesAtOnce]) {
  static_assert(kTokensAtOnce == 6);
  for_tiles_and_tokens<kTokensAtOnce>([&]<int tile, int t>() TANDEM_INLINE_LAMBDA {
    if (t < n_tokens) out[tile].prefetch(t);
  });
  switch (n_tokens) {
    case 6:
      return run_stretch<W, 6>(x, w, out);
    case 5:
      return run_stretch<W, 5>(x, w, out);
    case 4:
      return run_stretch<W, 4>(x, w, out);
    case 3:
      return run_stretch<W, 3>(x, w, out);
    case 2:
      return run_stretch<W, 2>(x, w, out);
    default:
      return run_stretch<W, 1>(x, w, out);
  }
}

/// Two tiles of outputs from n, or the one that is left, for the tokens [m_begin, m_end).
template <class W>
[[gnu::always_inline]] inline void tiles_at_once(const LinearArgs& a, const GroupSums<W>& sums,
                                                 size_t m_begin, size_t m_end, size_t n,
                                                 W (&w)[kTilesAtOnce]) {
  const int n_tiles = a.n_end - n > kTileRows ? 2 : 1;
  const size_t all_groups = a.w.k / kActivationGroup;
  for (size_t first = 0; first < all_groups; first += W::kDepth) {
    const bool is_last = first + W::kDepth >= all_groups;
    const int n_groups = is_last ? static_cast<int>(all_groups - first) : W::kDepth;
    for (int i = 0; i < kTilesAtOnce; ++i) {
      w[i].widen(a, n + i % n_tiles * kTileRows, first, n_groups);
    }
    for (size_t m = m_begin; m < m_end; m += kTokensAtOnce) {
      const size_t left = m_end - m;
      Outputs out[kTilesAtOnce] = {
          Outputs::at(a, m, n, first == 0, is_last),
          Outputs::at(a, m, n + (n_tiles - 1) * kTileRows, first == 0, is_last)};
      if (n_tiles == 1) out[1].columns = 0;
      run_tokens<W>(left < kTokensAtOnce ? static_cast<int>(left) : kTokensAtOnce,
                    Tokens<W>(a, sums, m_begin, m, first), w, out);
    }
  }
}

/// `few_tokens`: the kernel for fewer than kMinTokens.
template <class W, class Few>
[[gnu::always_inline]] inline void linear_many(const LinearArgs& a, Few&& few_tokens) {
  if (a.m < kMinTokens || a.w.k > kManyCodes / kTokensAtOnce) return few_tokens(a);
  W widened[kTilesAtOnce];
  GroupSums<W> sums;
  const size_t n_groups = a.w.k / kActivationGroup;
  const size_t step = kManyCodes / a.w.k / kTokensAtOnce * kTokensAtOnce;
  for (size_t m = 0; m < a.m; m += step) {
    const size_t m_end = m + step < a.m ? m + step : a.m;
    sums.read(a.xq, m * n_groups, (m_end - m) * n_groups);
    for (size_t n = a.n_begin; n < a.n_end; n += kTilesAtOnce * kTileRows) {
      tiles_at_once<W>(a, sums, m, m_end, n, widened);
    }
  }
}

}  // namespace
}  // namespace tandem::kernels::avx512
