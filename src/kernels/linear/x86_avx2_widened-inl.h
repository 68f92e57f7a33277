#pragma once

#include <immintrin.h>

#include "kernels/linear/nested_format.h"
#include "kernels/linear/tiles-inl.h"
#include "kernels/linear/widened-inl.h"
#include "kernels/linear/x86_avx2_weights-inl.h"

// Weights widened (widened-inl.h) for AVX2 products: small codes are signed, for activations made
// unsigned; codes of eight bits have their magnitude as the second copy.

namespace tandem::kernels::avx2 {
namespace {

/// Groups along K that are widened together: two tiles of them fill half of the first-level cache.
inline constexpr int kDepth = 16;

[[gnu::always_inline]] inline void store256(void* to, __m256i v) {
  _mm256_store_si256(static_cast<__m256i*>(to), v);
}

/// Signed codes and their magnitudes, which AVX2 multiplies.
[[gnu::always_inline]] inline void store_signed(uint8_t* codes, uint8_t* magnitudes, __m256i v) {
  store256(codes, v);
  store256(magnitudes, _mm256_abs_epi8(v));
}

/// One tile of outputs over a stretch of at most kDepth groups of a type of packed_format.h.
template <DType type, class F = Format<type>>
struct Widened : WidenedBase<avx2::kDepth, kSigned<F> ? 2 : 1, packed::kHasHalves<F>,
                             packed::kHasMinimum<F>, avx2::kDepth / F::kGroups> {
  static constexpr int kDepth = avx2::kDepth;
  static constexpr bool kHalves = packed::kHasHalves<F>;
  static constexpr bool kMinimum = packed::kHasMinimum<F>;
  static constexpr int kBlockGroups = F::kGroups;
  static constexpr bool kSignedCodes = kSigned<F>;
  /// What the codes are lowered by: a lane of int16 then holds the products of sixteen of them (or
  /// eight, with halves), each at most 127 times 16 (or 32).
  static constexpr int kWordOffset = kSigned<F>               ? 0
                                     : F::kOffset != 0        ? F::kOffset
                                     : (kLargestCode<F> > 16) ? 16
                                                              : 0;
  /// What the sum of a group still lacks, times its activations.
  static constexpr int kSumOffset = kSigned<F> ? 0 : kWordOffset - F::kOffset;
  const std::byte* next;  ///< bytes of the next stretch
  /// Where the int16 sums of a group, or of its halves, start: what 128 added to every activation
  /// adds, negated.
  alignas(32) int16_t starts[kSignedCodes ? 1 : kDepth][kHalves ? 2 : 1][2 * kTileRows];

  /// Groups [first, first + groups) of the tile of outputs that starts at n.
  void widen(const LinearArgs& a, size_t n, size_t first, int groups) {
    this->n_groups = groups;
    next = widen_blocks<F>(
        a, n, first, groups,
        [&](const std::byte* block, int g) TANDEM_INLINE_LAMBDA { widen_scales(block, g); },
        [&](const std::byte* group, int g) TANDEM_INLINE_LAMBDA {
          widen_codes(group, 0, g);
          widen_codes(group, 1, g);
        });
  }
  [[gnu::always_inline]] void prefetch_next(int g) const { prefetch_group<F>(next, g); }

 private:
  [[gnu::always_inline]] void widen_codes(const std::byte* group, int half, int g) {
    __m256i q[8];
    load_codes<F>(group, half, q);
    repeat<8>([&]<int i>() TANDEM_INLINE_LAMBDA {
      uint8_t* to = this->codes[g][0] + i * packed::kQuadBytes + 32 * half;
      if constexpr (kSigned<F>) {
        store_signed(to, to + kGroupCodes, q[i]);
      } else {
        q[i] = _mm256_sub_epi8(q[i], _mm256_set1_epi8(kWordOffset));
        store256(to, q[i]);
      }
    });
    if constexpr (kHalves) {
      put_start<0, 4>(q, this->starts[g][0] + 16 * half);
      put_start<4, 4>(q, this->starts[g][1] + 16 * half);
    } else if constexpr (!kSigned<F>) {
      put_start<0, 8>(q, this->starts[g][0] + 16 * half);
    }
  }
  template <int first_quad, int n_quads>
  [[gnu::always_inline]] static void put_start(const __m256i (&q)[8], int16_t* to) {
    __m256i sums = _mm256_setzero_si256();
    repeat<n_quads>([&]<int i>() TANDEM_INLINE_LAMBDA {
      const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), q[first_quad + i]);
      sums = _mm256_add_epi16(sums, pairs);
    });
    store256(to, _mm256_sub_epi16(_mm256_setzero_si256(), _mm256_slli_epi16(sums, 7)));
  }
  void widen_scales(const std::byte* block, int g) requires(!kHalves) {
    const Scales<type> scales(block);
    for (int i = 0; i < F::kGroups; ++i) {
      for (int half = 0; half < 2; ++half) {
        _mm256_store_ps(this->scale[g + i][0] + 8 * half, scales.scale(i, half));
        if constexpr (kMinimum) {
          store256(this->minimum[g + i] + 8 * half, _mm256_castps_si256(scales.minimum(i, half)));
        }
      }
    }
  }
  void widen_scales(const std::byte* block, int g) requires(kHalves) {
    const SubScales<type> sub_scales(block);
    auto& to = this->block_scale[g / F::kGroups];
    for (int half = 0; half < 2; ++half) {
      for (int i = 0; i < F::kGroups; ++i) {
        _mm256_store_ps(this->scale[g + i][0] + 8 * half, sub_scales.sub_scale(2 * i, half));
        _mm256_store_ps(this->scale[g + i][1] + 8 * half, sub_scales.sub_scale(2 * i + 1, half));
        if constexpr (kMinimum) {
          store256(this->minimum[g + i] + 8 * half, sub_scales.sub_minima(i, half));
        }
      }
      _mm256_store_ps(to[0] + 8 * half, halves_at(block + 16 * half));
      if constexpr (kMinimum) {
        _mm256_store_ps(to[1] + 8 * half, negated(halves_at(block + 32 + 16 * half)));
      }
    }
  }
};

/// The same of nested weights, both planes with the low one's e = `shift`.
template <int shift>
struct WidenedNested : WidenedBase<avx2::kDepth, 2, false, false, 1> {
  static constexpr int kDepth = avx2::kDepth;
  static constexpr bool kHalves = false;
  static constexpr bool kMinimum = false;
  static constexpr int kBlockGroups = 1;
  static constexpr bool kSignedCodes = true;
  static constexpr int kWordOffset = 0;
  static constexpr int kSumOffset = 0;
  NestedGroup next;  ///< of the next stretch

  void widen(const LinearArgs& a, size_t n, size_t first, int groups) {
    this->n_groups = groups;
    next = NestedGroup::at(a, n, first);
    const __m256 unit = _mm256_set1_ps(packed::kNestedUnit<shift>);
    for (int g = 0; g < groups; ++g, next.next()) {
      for (int half = 0; half < 2; ++half) {
        widen_codes(next.high + packed::High::kHeaderBytes, next.low, half, this->codes[g]);
        _mm256_store_ps(this->scale[g][0] + 8 * half,
                        _mm256_mul_ps(halves_at(next.high + 16 * half), unit));
      }
    }
  }
  [[gnu::always_inline]] void prefetch_next(int g) const { next.prefetch(g); }

 private:
  [[gnu::always_inline]] static void widen_codes(const std::byte* high, const std::byte* low,
                                                 int half, uint8_t (&to)[2][kGroupCodes]) {
    __m256i h[8], l[8];
    load_codes<packed::High>(high, half, h);
    load_codes<packed::High>(low, half, l);
    const __m256i offset = _mm256_set1_epi8(static_cast<char>(packed::kNestedOffset<shift>));
    repeat<8>([&]<int i>() TANDEM_INLINE_LAMBDA {
      const size_t at = i * packed::kQuadBytes + 32 * half;
      const __m256i code = _mm256_add_epi8(_mm256_slli_epi16(h[i], shift), l[i]);
      store_signed(to[0] + at, to[1] + at, _mm256_sub_epi8(code, offset));
    });
  }
};

struct Outputs : OutputRows {
  Outputs() = default;
  explicit Outputs(const OutputRows& rows) : OutputRows(rows) {}
  [[gnu::always_inline]] __m256i some(int half) const {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n_columns - 8 * half),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  [[gnu::always_inline]] __m256 load(int t, int half) const {
    if (starts) return _mm256_setzero_ps();
    return _mm256_maskload_ps(row(t) + 8 * half, some(half));
  }
  [[gnu::always_inline]] void store(int t, int half, __m256 v) const {
    if (bias != nullptr) v = _mm256_add_ps(v, _mm256_maskload_ps(bias + 8 * half, some(half)));
    if (n_columns == kTileRows) return _mm256_storeu_ps(row(t) + 8 * half, v);
    _mm256_maskstore_ps(row(t) + 8 * half, some(half), v);
  }
};

}  // namespace
}  // namespace tandem::kernels::avx2
