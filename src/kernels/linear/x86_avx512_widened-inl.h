#pragma once

#include <immintrin.h>

#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/repeat.h"
#include "kernels/linear/tiles-inl.h"
#include "kernels/linear/widened-inl.h"
#include "kernels/linear/x86_avx512_nested_weights-inl.h"
#include "kernels/linear/x86_avx512_weights-inl.h"

// Weights widened (widened-inl.h) for VNNI and AMX, which have two copies of the codes where each
// half of a group has a product of its own.

namespace tandem::kernels::avx512 {
namespace {

/// How the products want the codes.
enum class CodeForm {
  kUnsigned,       ///< as stored; the sums then start at what the offset adds (vpdpbusd)
  kSignedByHalves  ///< without the offset; with halves each of them in a copy of its own (AMX)
};

/// Groups along K that are widened together. Vector products read two tiles of weights once for all
/// tokens at hand, so the second-level cache would do; a product of AMX reads them each time, from
/// the first-level cache.
template <CodeForm form>
inline constexpr int kDepthOf = form == CodeForm::kUnsigned ? 32 : 16;

/// One tile of outputs over a stretch of at most kDepth groups of a type of packed_format.h.
template <DType type, CodeForm form, class F = packed::Format<type>,
          bool halves = packed::kHasHalves<F>>
struct Widened : WidenedBase<kDepthOf<form>, halves && form == CodeForm::kSignedByHalves ? 2 : 1,
                             halves, packed::kHasMinimum<F>, kDepthOf<form> / F::kGroups> {
  static constexpr int kDepth = kDepthOf<form>;
  static constexpr bool kHalves = halves;
  static constexpr bool kMinimum = packed::kHasMinimum<F>;
  static constexpr bool kSigned = form == CodeForm::kSignedByHalves;
  static constexpr int kOffset = kSigned ? 0 : F::kOffset;  ///< that the codes still have
  static constexpr int kBlockGroups = F::kGroups;
  const std::byte* next;  ///< bytes of the next stretch

  /// Groups [first, first + groups) of the tile of outputs that starts at n.
  void widen(const LinearArgs& a, size_t n, size_t first, int groups) {
    this->n_groups = groups;
    next = widen_blocks<F>(
        a, n, first, groups,
        [&](const std::byte* block, int g) TANDEM_INLINE_LAMBDA { widen_scales(block, g); },
        [&](const std::byte* group, int g) TANDEM_INLINE_LAMBDA { widen_codes(group, g); });
  }
  [[gnu::always_inline]] void prefetch_next(int g) const { prefetch_group<F>(next, g); }

 private:
  void widen_codes(const std::byte* group, int g) {
    __m512i q[8];
    load_codes<F>(group, q);
    const __m512i offset = _mm512_set1_epi8(static_cast<char>(F::kOffset));
    repeat<8>([&]<int i>() TANDEM_INLINE_LAMBDA {
      constexpr int copy = kHalves && kSigned ? i / 4 : 0;
      const __m512i value = kSigned && F::kOffset != 0 ? _mm512_sub_epi8(q[i], offset) : q[i];
      _mm512_store_si512(this->codes[g][copy] + i * packed::kQuadBytes, value);
      if constexpr (kHalves && kSigned) {
        _mm512_store_si512(this->codes[g][1 - copy] + i * packed::kQuadBytes,
                           _mm512_setzero_si512());
      }
    });
  }
  void widen_scales(const std::byte* block, int g) requires(!kHalves) {
    const Scales<type> scales(block);
    for (int i = 0; i < F::kGroups; ++i) {
      _mm512_store_ps(this->scale[g + i][0], scales.scale(i));
      if constexpr (kMinimum) {
        _mm512_store_si512(this->minimum[g + i], _mm512_castps_si512(scales.minimum(i)));
      }
    }
  }
  void widen_scales(const std::byte* block, int g) requires(kHalves) {
    const SubScales<type> sub_scales(block);
    for (int i = 0; i < F::kGroups; ++i) {
      _mm512_store_ps(this->scale[g + i][0], sub_scales.sub_scale(2 * i));
      _mm512_store_ps(this->scale[g + i][1], sub_scales.sub_scale(2 * i + 1));
      if constexpr (kMinimum) _mm512_store_si512(this->minimum[g + i], sub_scales.sub_minima(i));
    }
    auto& to = this->block_scale[g / F::kGroups];
    _mm512_store_ps(to[0], halves_at(block));
    if constexpr (kMinimum) {
      _mm512_store_ps(to[1], _mm512_sub_ps(_mm512_set1_ps(-0.0f), halves_at(block + 32)));
    }
  }
};

/// The same of nested weights, both planes with the low one's e = `shift`.
template <int shift, CodeForm form>
struct WidenedNested : WidenedBase<kDepthOf<form>, 1, false, false, 1> {
  static constexpr int kDepth = kDepthOf<form>;
  static constexpr bool kHalves = false;
  static constexpr bool kMinimum = false;
  static constexpr bool kSigned = form == CodeForm::kSignedByHalves;
  static constexpr int kOffset = kSigned ? 0 : packed::kNestedOffset<shift>;
  static constexpr int kBlockGroups = 1;
  NestedGroup next;  ///< of the next stretch

  void widen(const LinearArgs& a, size_t n, size_t first, int groups) {
    this->n_groups = groups;
    next = NestedGroup::at(a, n, first);
    const __m512i offset = _mm512_set1_epi8(static_cast<char>(packed::kNestedOffset<shift>));
    const __m512 unit = _mm512_set1_ps(packed::kNestedUnit<shift>);
    for (int g = 0; g < groups; ++g, next.next()) {
      __m512i q[8];
      load_nested<shift>(next.high + High::kHeaderBytes, next.low, q);
      repeat<8>([&]<int i>() TANDEM_INLINE_LAMBDA {
        const __m512i value = kSigned ? _mm512_sub_epi8(q[i], offset) : q[i];
        _mm512_store_si512(this->codes[g][0] + i * packed::kQuadBytes, value);
      });
      _mm512_store_ps(this->scale[g][0], _mm512_mul_ps(halves_at(next.high), unit));
    }
  }
  [[gnu::always_inline]] void prefetch_next(int g) const { next.prefetch(g); }
};

struct Outputs : OutputRows {
  __mmask16 columns;

  Outputs() = default;
  explicit Outputs(const OutputRows& rows)
      : OutputRows(rows), columns(static_cast<__mmask16>((1u << rows.n_columns) - 1)) {}
  [[gnu::always_inline]] __m512 load(int t) const {
    return starts ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(columns, row(t));
  }
  [[gnu::always_inline]] void store(int t, __m512 v) const {
    if (bias != nullptr) v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(columns, bias));
    if (columns == 0xffff) return _mm512_storeu_ps(row(t), v);
    _mm512_mask_storeu_ps(row(t), columns, v);
  }
};

}  // namespace
}  // namespace tandem::kernels::avx512
