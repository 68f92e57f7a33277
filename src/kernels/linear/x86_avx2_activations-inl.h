#pragma once

#include "kernels/linear/many-inl.h"
#include "kernels/linear/x86_avx2_widened-inl.h"

// What AVX2 linears with many tokens make once of the activations of a call.

namespace tandem::kernels::avx2 {
namespace {

/// Activation codes that the tiles of a call go over again and again: half of the smallest
/// second-level cache worth tuning for.
inline constexpr size_t kManyCodes = 256 << 10;

/// What a call makes once of up to kManyCodes activations for all its tiles.
template <class W>
struct Activations {
  static constexpr size_t kGroups = kManyCodes / kActivationGroup;
  static constexpr size_t kParts = 1;
  /// 128 more than the codes.
  alignas(32) uint8_t codes[W::kSignedCodes ? 1 : kManyCodes];
  /// What the int32 sums of a group start with.
  alignas(32) int32_t starts[W::kSumOffset != 0 ? kGroups : 1];
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
      if constexpr (W::kSumOffset != 0) starts[i] = W::kSumOffset * sum;
      if constexpr (W::kMinimum && !W::kHalves) {
        scaled_sums[i] = x.scales[first + i] * static_cast<float>(sum);
      }
    }
  }
  [[gnu::always_inline]] const uint8_t* codes_at(const QuantizedActivations& x, size_t group,
                                                 size_t group_of_call) const {
    if constexpr (W::kSignedCodes) {
      return reinterpret_cast<const uint8_t*>(x.codes + group * kActivationGroup);
    }
    return codes + group_of_call * kActivationGroup;
  }
};

}  // namespace
}  // namespace tandem::kernels::avx2
