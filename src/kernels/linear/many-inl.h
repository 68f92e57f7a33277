#pragma once

#include "kernels/linear/repeat.h"
#include "kernels/linear/widened-inl.h"

// How a linear with many tokens walks, whatever its vectors: some activations that stay in the
// second-level cache; for each of them all tiles of outputs, a few at once; for those, stretches of
// K, whose weights are widened; for each stretch all tokens, a few at once.
//
// A kernel is a class with the types Weights (widened-inl.h), OfCall and Out (made from
// OutputRows), the constants kTilesAtOnce, kTokensAtOnce, kMinTokens and kManyCodes, and the
// function run_stretch<n_tokens>. OfCall is what it makes once of all activations at hand: `read`,
// `codes_at`, `starts` (kParts for each group) and `scaled_sums`.

namespace tandem::kernels {
namespace {

/// Offsets of eight rows of `stride` elements, held in few registers: a processor adds one, two or
/// four times an index by itself.
struct RowOffsets {
  size_t one, three;
  explicit RowOffsets(size_t stride) : one(stride), three(3 * stride) {}
  template <int row>
  [[gnu::always_inline]] size_t at() const {
    static_assert(row < 8);
    constexpr size_t kOnes[] = {0, 1, 2, 0, 4, 2, 0, 4}, kThrees[] = {0, 0, 0, 1, 0, 1, 2, 1};
    return kOnes[row] * one + kThrees[row] * three;
  }
};

/// The activations of a few tokens, at one group of K.
template <class OfCall, int at_once>
struct Tokens {
  const uint8_t* codes;
  const uint8_t* next_codes;  ///< of the tokens after these
  const float* scales;
  const int32_t* starts;
  const float* scaled_sums;
  const int16_t* sums_of_halves;
  RowOffsets code_rows, group_rows;
  bool is_first;  ///< of the tokens that use what was widened

  /// `first_token`: the first one that `of_call` has.
  Tokens(const LinearArgs& a, const OfCall& of_call, size_t first_token, size_t m, size_t group)
      : code_rows(a.w.k), group_rows(a.w.k / kActivationGroup), is_first(m == first_token) {
    const size_t at = m * group_rows.one + group;
    const size_t at_of_call = at - first_token * group_rows.one;
    codes = of_call.codes_at(a.xq, at, at_of_call);
    next_codes = codes + at_once * code_rows.one;
    scales = a.xq.scales + at;
    starts = of_call.starts + at_of_call * OfCall::kParts;
    scaled_sums = of_call.scaled_sums + at_of_call;
    sums_of_halves = a.xq.sums + 2 * at;
  }
  [[gnu::always_inline]] void next_group() {
    codes += kActivationGroup;
    next_codes += kActivationGroup;
    scales += 1;
    starts += OfCall::kParts;
    scaled_sums += 1;
    sums_of_halves += 2;
  }
  /// The first tokens ask for what group g of the next stretch will be widened from.
  template <class W, int n_tiles>
  [[gnu::always_inline]] void prefetch_weights(const W (&w)[n_tiles], int g) const {
    if (!is_first) return;
    for (const W& tile : w) tile.prefetch_next(g);
  }
  /// Four codes of token t.
  template <int t>
  [[gnu::always_inline]] int32_t quad(int quad) const {
    int32_t four;
    __builtin_memcpy(&four, codes + code_rows.at<t>() + quad * 4, sizeof four);
    return four;
  }
  template <int t>
  [[gnu::always_inline]] float scale() const {
    return scales[group_rows.at<t>()];
  }
  template <int t, int part>
  [[gnu::always_inline]] int32_t start() const {
    return starts[group_rows.at<t>() * OfCall::kParts + part];
  }
  template <int t>
  [[gnu::always_inline]] float scaled_sum() const {
    return scaled_sums[group_rows.at<t>()];
  }
  /// The sums of both halves of the group, a pair of int16.
  template <int t>
  [[gnu::always_inline]] int32_t half_sums() const {
    int32_t pair;
    __builtin_memcpy(&pair, sums_of_halves + 2 * group_rows.at<t>(), sizeof pair);
    return pair;
  }
};

template <class Kernel>
using TokensFor = Tokens<typename Kernel::OfCall, Kernel::kTokensAtOnce>;

/// n_tokens <= kTokensAtOnce.
template <class Kernel>
[[gnu::always_inline]] inline void run_tokens(
    int n_tokens, const TokensFor<Kernel>& x,
    const typename Kernel::Weights (&w)[Kernel::kTilesAtOnce],
    const typename Kernel::Out (&out)[Kernel::kTilesAtOnce]) {
  for (int t = 0; t < n_tokens; ++t) {
    for (const auto& tile : out) tile.prefetch(t);
  }
  repeat<Kernel::kTokensAtOnce>([&]<int i>() TANDEM_INLINE_LAMBDA {
    if (n_tokens == i + 1) Kernel::template run_stretch<i + 1>(x, w, out);
  });
}

/// The tiles of outputs from n, at most kTilesAtOnce, for the tokens [m_begin, m_end).
template <class Kernel>
[[gnu::always_inline]] inline void tiles_at_once(
    const LinearArgs& a, const typename Kernel::OfCall& of_call, size_t m_begin, size_t m_end,
    size_t n, typename Kernel::Weights (&w)[Kernel::kTilesAtOnce]) {
  constexpr int kTiles = Kernel::kTilesAtOnce, kTokens = Kernel::kTokensAtOnce;
  static_assert(kTiles <= 2);
  constexpr int kDepth = Kernel::Weights::kDepth;
  const int n_tiles = kTiles == 2 && a.n_end - n > kTileRows ? 2 : 1;
  const size_t all_groups = a.w.k / kActivationGroup;
  for (size_t first = 0; first < all_groups; first += kDepth) {
    const bool is_last = first + kDepth >= all_groups;
    const int n_groups = is_last ? static_cast<int>(all_groups - first) : kDepth;
    for (int i = 0; i < kTiles; ++i) {
      w[i].widen(a, n + i % n_tiles * kTileRows, first, n_groups);
    }
    for (size_t m = m_begin; m < m_end; m += kTokens) {
      const size_t left = m_end - m;
      typename Kernel::Out out[kTiles];
      for (int i = 0; i < kTiles; ++i) {
        OutputRows rows = OutputRows::at(a, m, n + i % n_tiles * kTileRows, first == 0, is_last);
        if (i >= n_tiles) rows.n_columns = 0;
        out[i] = typename Kernel::Out(rows);
      }
      run_tokens<Kernel>(left < kTokens ? static_cast<int>(left) : kTokens,
                         TokensFor<Kernel>(a, of_call, m_begin, m, first), w, out);
    }
  }
}

/// `few_tokens`: the kernel for fewer than kMinTokens.
template <class Kernel, class Few>
[[gnu::always_inline]] inline void linear_many(const LinearArgs& a, Few&& few_tokens) {
  constexpr size_t kTokens = Kernel::kTokensAtOnce;
  if (a.m < Kernel::kMinTokens || a.w.k > Kernel::kManyCodes / kTokens) return few_tokens(a);
  typename Kernel::Weights widened[Kernel::kTilesAtOnce];
  typename Kernel::OfCall of_call;
  const size_t n_groups = a.w.k / kActivationGroup;
  const size_t step = Kernel::kManyCodes / a.w.k / kTokens * kTokens;
  for (size_t m = 0; m < a.m; m += step) {
    const size_t m_end = m + step < a.m ? m + step : a.m;
    of_call.read(a.xq, m * n_groups, (m_end - m) * n_groups);
    for (size_t n = a.n_begin; n < a.n_end; n += Kernel::kTilesAtOnce * kTileRows) {
      tiles_at_once<Kernel>(a, of_call, m, m_end, n, widened);
    }
  }
}

}  // namespace
}  // namespace tandem::kernels
