#pragma once

#include "kernels/linear/x86_avx2_activations-inl.h"

// AVX2 linear for many tokens. Products of small codes take two instructions for 32 multiply-adds:
// activations are unsigned, so that weights come from memory with the product, and the sum of a
// whole group fits the lanes of int16 (modulo 2^16 on the way). A broadcast of four activation
// codes serves two tiles of outputs. Codes of eight bits need four instructions, whichever way
// (docs/performance.md).

namespace tandem::kernels::avx2 {
namespace {

/// The sums that registers hold beside the operands: of tiles of outputs for a few tokens.
template <class W>
inline constexpr int kTilesAtOnce = W::kSignedCodes ? 1 : 2;
template <class W>
inline constexpr int kTokensAtOnce = W::kSignedCodes ? 4 : 3;
/// Registers of outputs.
template <class W>
inline constexpr int kVectors = 2 * kTilesAtOnce<W>;
template <class W>
using TokensOf = Tokens<Activations<W>, kTokensAtOnce<W>>;

/// Calls f.template operator()<vector, token>() for all of them, token by token.
template <class W, int n_tokens, class F>
[[gnu::always_inline]] inline void for_vectors_and_tokens(F&& f) {
  repeat<n_tokens * kVectors<W>>([&]<int i>() TANDEM_INLINE_LAMBDA {
    f.template operator()<i % kVectors<W>, i / kVectors<W>>();
  });
}
/// Keeps the compiler from putting the additions to a sum off, which needs a register for each.
[[gnu::always_inline]] inline void stay_in_register(__m256i& v) { asm volatile("" : "+x"(v)); }

/// Sums of every token for each vector of outputs.
template <class W, int n_tokens>
using Sums = __m256i[n_tokens][kVectors<W>];

inline constexpr int kWhole = -1;
/// `sums[token][vector]`: the products of group g, of one half of it or with kWhole of both.
template <class W, int n_tokens, int half_group>
[[gnu::always_inline]] inline void sum_words(const TokensOf<W>& x, const W (&w)[kTilesAtOnce<W>],
                                             int g, Sums<W, n_tokens>& sums) {
  constexpr int kFirst = half_group == 1 ? 4 : 0, kCount = half_group == kWhole ? 8 : 4;
  // Sums of int16, each of two of the four elements of the quads.
  repeat<kCount>([&]<int i>() TANDEM_INLINE_LAMBDA {
    constexpr int quad = kFirst + i;
    repeat<n_tokens>([&]<int t>() TANDEM_INLINE_LAMBDA {
      const __m256i activations = _mm256_set1_epi32(x.template quad<t>(quad));
      repeat<kVectors<W>>([&]<int v>() TANDEM_INLINE_LAMBDA {
        const uint8_t* codes = w[v / 2].codes[g][0] + quad * packed::kQuadBytes + 32 * (v % 2);
        const int16_t* start = w[v / 2].starts[g][half_group == 1] + 16 * (v % 2);
        const __m256i before = i == 0 ? load256(start) : sums[t][v];
        sums[t][v] = _mm256_add_epi16(before, _mm256_maddubs_epi16(activations, load256(codes)));
        stay_in_register(sums[t][v]);
      });
    });
  });
  for_vectors_and_tokens<W, n_tokens>([&]<int v, int t>() TANDEM_INLINE_LAMBDA {
    sums[t][v] = _mm256_madd_epi16(sums[t][v], _mm256_set1_epi16(1));
    if constexpr (W::kSumOffset != 0) {
      sums[t][v] = _mm256_add_epi32(sums[t][v], _mm256_set1_epi32(x.template start<t, 0>()));
    }
  });
}

/// As sum_words for codes of eight bits, a whole group. |w| <= 128 and |x| <= 127: a pair of
/// products stays within int16.
template <class W, int n_tokens>
[[gnu::always_inline]] inline void sum_signed(const TokensOf<W>& x, const W (&w)[kTilesAtOnce<W>],
                                              int g, Sums<W, n_tokens>& sums) {
  static_assert(kVectors<W> == 2);
  repeat<packed::kQuads>([&]<int quad>() TANDEM_INLINE_LAMBDA {
    const uint8_t* codes = w[0].codes[g][0] + quad * packed::kQuadBytes;
    const uint8_t* magnitudes = w[0].codes[g][1] + quad * packed::kQuadBytes;
    const __m256i value[2] = {load256(codes), load256(codes + 32)};
    const __m256i magnitude[2] = {load256(magnitudes), load256(magnitudes + 32)};
    repeat<n_tokens>([&]<int t>() TANDEM_INLINE_LAMBDA {
      const __m256i activations = _mm256_set1_epi32(x.template quad<t>(quad));
      repeat<2>([&]<int v>() TANDEM_INLINE_LAMBDA {
        const __m256i signed_x = _mm256_sign_epi8(activations, value[v]);
        const __m256i pairs = _mm256_maddubs_epi16(magnitude[v], signed_x);
        const __m256i quads = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
        sums[t][v] = quad == 0 ? quads : _mm256_add_epi32(sums[t][v], quads);
        stay_in_register(sums[t][v]);
      });
    });
  });
}

/// Float accumulators of a few tokens; sixteen registers have no room for them.
template <class W, int n_tokens>
struct Accumulators {
  alignas(32) float at[n_tokens][kVectors<W>][8];
  [[gnu::always_inline]] __m256 get(int t, int v) const { return _mm256_load_ps(at[t][v]); }
  [[gnu::always_inline]] void set(int t, int v, __m256 x) { _mm256_store_ps(at[t][v], x); }
};

template <class W, int n_tokens>
[[gnu::always_inline]] inline void load_outputs(const Outputs (&out)[kTilesAtOnce<W>],
                                                Accumulators<W, n_tokens>& acc) {
  for_vectors_and_tokens<W, n_tokens>(
      [&]<int v, int t>() TANDEM_INLINE_LAMBDA { acc.set(t, v, out[v / 2].load(t, v % 2)); });
}
template <class W, int n_tokens>
[[gnu::always_inline]] inline void store_outputs(const Outputs (&out)[kTilesAtOnce<W>],
                                                 const Accumulators<W, n_tokens>& acc) {
  for_vectors_and_tokens<W, n_tokens>(
      [&]<int v, int t>() TANDEM_INLINE_LAMBDA { out[v / 2].store(t, v % 2, acc.get(t, v)); });
}

/// HOT: linear_bench. Formats with one float scale, and perhaps a minimum, for each group.
template <class W, int n_tokens>
requires(!W::kHalves) [[gnu::noinline]] void stretch(TokensOf<W> x, const W (&w)[kTilesAtOnce<W>],
                                                     const Outputs (&out)[kTilesAtOnce<W>]) {
  Accumulators<W, n_tokens> acc;
  load_outputs(out, acc);
  for (int g = 0; g < w[0].n_groups; ++g, x.next_group()) {
    Sums<W, n_tokens> sums;
    x.prefetch_weights(w, g);
    if constexpr (W::kSignedCodes) {
      sum_signed<W, n_tokens>(x, w, g, sums);
    } else {
      sum_words<W, n_tokens, kWhole>(x, w, g, sums);
    }
    for_vectors_and_tokens<W, n_tokens>([&]<int v, int t>() TANDEM_INLINE_LAMBDA {
      const W& tile = w[v / 2];
      const __m256 w_scale = _mm256_load_ps(tile.scale[g][0] + 8 * (v % 2));
      const __m256 scale = _mm256_mul_ps(w_scale, _mm256_set1_ps(x.template scale<t>()));
      __m256 total = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[t][v]), scale, acc.get(t, v));
      if constexpr (W::kMinimum) {
        const __m256 minimum = _mm256_castsi256_ps(load256(tile.minimum[g] + 8 * (v % 2)));
        total = _mm256_fmadd_ps(minimum, _mm256_set1_ps(x.template scaled_sum<t>()), total);
      }
      acc.set(t, v, total);
    });
  }
  store_outputs(out, acc);
}

/// Adds the minima of the groups of a block that starts at `first`.
template <class W, int n_tokens>
[[gnu::always_inline]] inline void add_half_minima(TokensOf<W>& x, const W (&w)[kTilesAtOnce<W>],
                                                   int first, Accumulators<W, n_tokens>& acc) {
  __m256 minima[n_tokens][kVectors<W>];
  for_vectors_and_tokens<W, n_tokens>(
      [&]<int v, int t>() TANDEM_INLINE_LAMBDA { minima[t][v] = _mm256_setzero_ps(); });
  for (int g = first; g < first + W::kBlockGroups; ++g, x.next_group()) {
    for_vectors_and_tokens<W, n_tokens>([&]<int v, int t>() TANDEM_INLINE_LAMBDA {
      const __m256i pairs = load256(w[v / 2].minimum[g] + 8 * (v % 2));
      const __m256i sum = _mm256_madd_epi16(pairs, _mm256_set1_epi32(x.template half_sums<t>()));
      minima[t][v] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), _mm256_set1_ps(x.template scale<t>()),
                                     minima[t][v]);
    });
  }
  for_vectors_and_tokens<W, n_tokens>([&]<int v, int t>() TANDEM_INLINE_LAMBDA {
    const float* units = w[v / 2].block_scale[first / W::kBlockGroups][1] + 8 * (v % 2);
    acc.set(t, v, _mm256_fmadd_ps(minima[t][v], _mm256_load_ps(units), acc.get(t, v)));
  });
}

/// HOT: linear_bench. Formats with integer scales for half groups below one scale for 256.
template <class W, int n_tokens>
requires(W::kHalves) [[gnu::noinline]] void stretch(TokensOf<W> x, const W (&w)[kTilesAtOnce<W>],
                                                    const Outputs (&out)[kTilesAtOnce<W>]) {
  Accumulators<W, n_tokens> acc;
  load_outputs(out, acc);
  for (int first = 0; first < w[0].n_groups; first += W::kBlockGroups) {
    [[maybe_unused]] TokensOf<W> x_of_block = x;
    Accumulators<W, n_tokens> scaled, both;
    __builtin_memset(&scaled, 0, sizeof scaled);
    for (int g = first; g < first + W::kBlockGroups; ++g, x.next_group()) {
      Sums<W, n_tokens> sums;
      x.prefetch_weights(w, g);
      sum_words<W, n_tokens, 0>(x, w, g, sums);
      for_vectors_and_tokens<W, n_tokens>([&]<int v, int t>() TANDEM_INLINE_LAMBDA {
        const __m256 scale = _mm256_load_ps(w[v / 2].scale[g][0] + 8 * (v % 2));
        both.set(t, v, _mm256_mul_ps(_mm256_cvtepi32_ps(sums[t][v]), scale));
      });
      sum_words<W, n_tokens, 1>(x, w, g, sums);
      for_vectors_and_tokens<W, n_tokens>([&]<int v, int t>() TANDEM_INLINE_LAMBDA {
        // Exact: every value is an integer below 2^24.
        const __m256 scale = _mm256_load_ps(w[v / 2].scale[g][1] + 8 * (v % 2));
        const __m256 whole = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[t][v]), scale, both.get(t, v));
        scaled.set(t, v,
                   _mm256_fmadd_ps(whole, _mm256_set1_ps(x.template scale<t>()), scaled.get(t, v)));
      });
    }
    for_vectors_and_tokens<W, n_tokens>([&]<int v, int t>() TANDEM_INLINE_LAMBDA {
      const float* units = w[v / 2].block_scale[first / W::kBlockGroups][0] + 8 * (v % 2);
      acc.set(t, v, _mm256_fmadd_ps(scaled.get(t, v), _mm256_load_ps(units), acc.get(t, v)));
    });
    if constexpr (W::kMinimum) add_half_minima<W, n_tokens>(x_of_block, w, first, acc);
  }
  store_outputs(out, acc);
}

/// As many-inl.h wants it.
template <class W>
struct ManyKernel {
  using Weights = W;
  using OfCall = Activations<W>;
  using Out = Outputs;
  static constexpr int kTilesAtOnce = avx2::kTilesAtOnce<W>;
  static constexpr int kTokensAtOnce = avx2::kTokensAtOnce<W>;
  /// Below that many tokens widening the weights costs more than it saves.
  static constexpr size_t kMinTokens = 6;
  static constexpr size_t kManyCodes = avx2::kManyCodes;

  template <int n_tokens>
  [[gnu::always_inline]] static void run_stretch(const TokensOf<W>& x, const W (&w)[kTilesAtOnce],
                                                 const Outputs (&out)[kTilesAtOnce]) {
    stretch<W, n_tokens>(x, w, out);
  }
};

}  // namespace
}  // namespace tandem::kernels::avx2
