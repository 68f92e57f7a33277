#pragma once

#include "kernels/linear/x86_avx2_widened-inl.h"

// The activations of a call for AVX2 linears with many tokens, and a few tokens of them.

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
/// Below that many tokens widening the weights costs more than it saves.
inline constexpr size_t kMinTokens = 6;
/// Activation codes that the tiles of a call go over again and again: half of the smallest
/// second-level cache worth tuning for.
inline constexpr size_t kManyCodes = 256 << 10;

/// What a call makes once of up to kManyCodes activations for all its tiles.
template <class W>
struct Activations {
  static constexpr size_t kGroups = kManyCodes / kActivationGroup;
  /// 128 more than the codes.
  alignas(32) uint8_t codes[W::kSignedCodes ? 1 : kManyCodes];
  /// What the int32 sums of a group start with.
  alignas(32) int32_t sums[W::kSumOffset != 0 ? kGroups : 1];
  /// What the group's minimum is multiplied with: the sum of the codes times their scale.
  alignas(32) float scaled_sums[W::kMinimum && !W::kHalves ? kGroups : 1];

  /// Groups [first, first + n) of all tokens, counted row by row.
  void read(const QuantizedActivations& x, size_t first, size_t n) {
    if constexpr (!W::kSignedCodes) {
      const __m256i top = _mm256_set1_epi8(static_cast<char>(0x80));
      for (size_t i = 0; i < n * kActivationGroup; i += kActivationGroup) {
        const __m256i v = load256(x.codes + first * kActivationGroup + i);
        store256(codes + i, _mm256_xor_si256(v, top));
      }
    }
    for (size_t i = 0; i < n; ++i) {
      const int16_t* pair = x.sums + 2 * (first + i);
      const int32_t sum = pair[0] + pair[1];
      if constexpr (W::kSumOffset != 0) sums[i] = W::kSumOffset * sum;
      if constexpr (W::kMinimum && !W::kHalves) {
        scaled_sums[i] = x.scales[first + i] * static_cast<float>(sum);
      }
    }
  }
};

/// The activations of a few tokens, at one group of K.
template <class W>
struct Tokens {
  const uint8_t* codes;  ///< signed if those of the weights are
  const float* scales;
  const int32_t* sums;
  const float* scaled_sums;
  const int16_t* half_sums;
  RowOffsets code_rows, group_rows;
  bool is_first;  ///< of the tokens that use what was widened

  /// `first_token`: the first one that `of_call` has.
  Tokens(const LinearArgs& a, const Activations<W>& of_call, size_t first_token, size_t m,
         size_t group)
      : code_rows(a.w.k), group_rows(a.w.k / kActivationGroup), is_first(m == first_token) {
    const size_t at = m * group_rows.one + group;
    const size_t at_of_call = at - first_token * group_rows.one;
    codes = W::kSignedCodes ? reinterpret_cast<const uint8_t*>(a.xq.codes) + at * kActivationGroup
                            : of_call.codes + at_of_call * kActivationGroup;
    scales = a.xq.scales + at;
    half_sums = a.xq.sums + 2 * at;
    sums = of_call.sums + at_of_call;
    scaled_sums = of_call.scaled_sums + at_of_call;
  }
  [[gnu::always_inline]] void next_group() {
    codes += kActivationGroup;
    scales += 1;
    sums += 1;
    scaled_sums += 1;
    half_sums += 2;
  }
  /// The first tokens ask for what group g of the next stretch will be widened from.
  [[gnu::always_inline]] void prefetch(const W (&w)[kTilesAtOnce<W>], int g) const {
    if (!is_first) return;
    for (const W& tile : w) tile.prefetch_next(g);
  }
  /// Four codes of token t in every lane.
  template <int t>
  [[gnu::always_inline]] __m256i quad(int quad) const {
    int32_t four;
    __builtin_memcpy(&four, codes + code_rows.at<t>() + quad * 4, sizeof four);
    return _mm256_set1_epi32(four);
  }
  template <int t>
  [[gnu::always_inline]] __m256 scale() const {
    return _mm256_set1_ps(scales[group_rows.at<t>()]);
  }
  template <int t>
  [[gnu::always_inline]] __m256i sum() const {
    return _mm256_set1_epi32(sums[group_rows.at<t>()]);
  }
  template <int t>
  [[gnu::always_inline]] __m256 scaled_sum() const {
    return _mm256_set1_ps(scaled_sums[group_rows.at<t>()]);
  }
  /// The sums of both halves of the group in every lane.
  template <int t>
  [[gnu::always_inline]] __m256i sums_of_halves() const {
    int32_t pair;
    __builtin_memcpy(&pair, half_sums + 2 * group_rows.at<t>(), sizeof pair);
    return _mm256_set1_epi32(pair);
  }
};

}  // namespace
}  // namespace tandem::kernels::avx2
