// Activation quantization with AVX2.

#include <immintrin.h>

#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/quantize-inl.h"
#include "kernels/simd/f32x16_avx2.h"

namespace tandem::kernels {
namespace avx2 {
namespace {

inline __m256i magnitude(__m256 x) {
  return _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7fffffff));
}

struct Codes {
  __m256i lo, hi;

  static uint32_t largest_magnitude(F32x16 low, F32x16 high) {
    const __m256i max8 = _mm256_max_epu32(_mm256_max_epu32(magnitude(low.lo), magnitude(low.hi)),
                                          _mm256_max_epu32(magnitude(high.lo), magnitude(high.hi)));
    __m128i max = _mm_max_epu32(_mm256_castsi256_si128(max8), _mm256_extracti128_si256(max8, 1));
    max = _mm_max_epu32(max, _mm_shuffle_epi32(max, 0x4e));
    max = _mm_max_epu32(max, _mm_shuffle_epi32(max, 0xb1));
    return static_cast<uint32_t>(_mm_cvtsi128_si32(max));
  }
  static Codes round(F32x16 x) { return {_mm256_cvtps_epi32(x.lo), _mm256_cvtps_epi32(x.hi)}; }
  static int sum8(__m256i v) {
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
    return _mm_cvtsi128_si32(sum);
  }
  static int sum(Codes q) { return sum8(_mm256_add_epi32(q.lo, q.hi)); }
  static void store_half(int8_t* out, Codes q) {
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(q.lo, q.hi), 0xd8);
    const __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
  }
  static void store(int8_t* out, Codes low, Codes high) {
    store_half(out, low);
    store_half(out + 16, high);
  }
};

}  // namespace
}  // namespace avx2

void quantize_f32_i8_avx2(const QuantizeArgs& args) noexcept {
  quantize_rows_of<avx2::F32x16, avx2::Codes>(args);
}

}  // namespace tandem::kernels
