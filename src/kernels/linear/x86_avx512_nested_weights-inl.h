#pragma once

#include "kernels/linear/nested_format.h"
#include "kernels/linear/x86_avx512_weights-inl.h"

// AVX-512 reader of nested weights: high and low nibbles make whole unsigned codes in registers.

namespace tandem::kernels::avx512 {
namespace {

using packed::High;
using packed::kNestedOffset;

/// (a & mask) | (b & ~mask)
[[gnu::always_inline]] inline __m512i select_bits(__m512i mask, __m512i a, __m512i b) {
  return _mm512_ternarylogic_epi32(mask, a, b, 0xca);
}

/// The eight quads of a group as 2^e q + (l + 8), unsigned bytes.
template <int shift>
[[gnu::always_inline]] inline void load_nested(const std::byte* high, const std::byte* low,
                                               __m512i (&q)[8]) {
  const __m512i nibble = _mm512_set1_epi8(15);
  repeat<4>([&]<int v>() TANDEM_INLINE_LAMBDA {
    const __m512i h = load512(high + v * packed::kQuadBytes);
    const __m512i l = load512(low + v * packed::kQuadBytes);
    const __m512i l_upper = _mm512_srli_epi16(l, 4);
    if constexpr (shift == 4) {
      q[v] = select_bits(nibble, l, _mm512_slli_epi16(h, 4));
      q[v + 4] = select_bits(nibble, l_upper, h);
    } else {
      const __m512i field = _mm512_set1_epi8(15 << shift);
      const __m512i first = _mm512_and_si512(_mm512_slli_epi16(h, shift), field);
      const __m512i second = _mm512_and_si512(_mm512_srli_epi16(h, 4 - shift), field);
      q[v] = _mm512_add_epi8(first, _mm512_and_si512(l, nibble));
      q[v + 4] = _mm512_add_epi8(second, _mm512_and_si512(l_upper, nibble));
    }
  });
}

}  // namespace
}  // namespace tandem::kernels::avx512
