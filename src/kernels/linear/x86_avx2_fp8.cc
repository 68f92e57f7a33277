// The AVX2 row of MXFP8.

#include <immintrin.h>

#include "kernels/linear/fp8-inl.h"
#include "kernels/simd/f32x16_avx2.h"

namespace tandem::kernels {
namespace avx2 {
namespace {

struct Fp8Codes {
  static F32x16 load(const std::byte* p) {
    // Sign-extended, a code's sign comes to bit 15; bit 14 is its copy and masked away.
    const __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    const __m256i mask = _mm256_set1_epi16(static_cast<short>(0xbf80));
    const __m256i halves = _mm256_and_si256(_mm256_slli_epi16(wide, 7), mask);
    return {_mm256_cvtph_ps(_mm256_castsi256_si128(halves)),
            _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1))};
  }
  static F32x16 scales(const std::byte* p) { return {scales_of(p), scales_of(p + 8)}; }

 private:
  static __m256 scales_of(const std::byte* p) {
    const __m256i e = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    const __m256i exponent =
        _mm256_min_epi32(_mm256_add_epi32(e, _mm256_set1_epi32(8)), _mm256_set1_epi32(255));
    return _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
  }
};
/// Eight sums, a pair of weights and the broadcast; the accumulators wait in memory.
constexpr int kMaxRows = 4;

}  // namespace
}  // namespace avx2

void linear_mxfp8_f32_16_avx2(const LinearArgs& a) noexcept {
  linear_fp8<avx2::F32x16, avx2::Fp8Codes, avx2::kMaxRows>(
      a, std::make_integer_sequence<int, avx2::kMaxRows>{});
}

}  // namespace tandem::kernels
