#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace tandem::kernels::avx512_bf16 {
namespace {

/// Elements that a row of rounded activations is padded to with zeros: those of a register.
inline constexpr size_t kElementsAtOnce = 32;

/// Rounds x[0, n) to bf16, to nearest, ties to even, subnormals to zero; pairs along K as dot
/// products take them.
[[gnu::always_inline]] inline void round_to_bf16(const float* x, size_t n, uint32_t* pairs) {
  for (size_t i = 0; i < n; i += kElementsAtOnce) {
    const size_t left = n - i;
    const uint32_t some = left < kElementsAtOnce ? (1u << left) - 1 : ~0u;
    const __m512 first = _mm512_maskz_loadu_ps(static_cast<__mmask16>(some), x + i);
    const __m512 second = _mm512_maskz_loadu_ps(static_cast<__mmask16>(some >> 16), x + i + 16);
    _mm512_storeu_si512(pairs + i / 2, (__m512i)_mm512_cvtne2ps_pbh(second, first));
  }
}

}  // namespace
}  // namespace tandem::kernels::avx512_bf16
