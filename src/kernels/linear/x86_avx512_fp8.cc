// The AVX-512 row of MXFP8.

#include <immintrin.h>

#include "kernels/linear/fp8-inl.h"
#include "kernels/simd/f32x16_avx512.h"

namespace tandem::kernels {
namespace avx512 {
namespace {

struct Fp8Codes {
  static F32x16 load(const std::byte* p) {
    // Sign-extended, a code's sign comes to bit 15; bit 14 is its copy and masked away.
    const __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    const __m256i mask = _mm256_set1_epi16(static_cast<short>(0xbf80));
    return {_mm512_cvtph_ps(_mm256_and_si256(_mm256_slli_epi16(wide, 7), mask))};
  }
  static F32x16 scales(const std::byte* p) {
    const __m512i e = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    const __m512i exponent =
        _mm512_min_epi32(_mm512_add_epi32(e, _mm512_set1_epi32(8)), _mm512_set1_epi32(255));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23))};
  }
};
constexpr int kMaxRows = 8;

}  // namespace
}  // namespace avx512

void linear_mxfp8_f32_16_avx512_vnni(const LinearArgs& a) noexcept {
  linear_fp8<avx512::F32x16, avx512::Fp8Codes, avx512::kMaxRows>(
      a, std::make_integer_sequence<int, avx512::kMaxRows>{});
}

}  // namespace tandem::kernels
