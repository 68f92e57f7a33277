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

/// Lane g of the result is the reduction of v[g], by halves: lanes i and i + 4, then i + 2, i + 1.
/// Each step joins two vectors, so eight reductions take seven operations.
template <class Op>
inline __m256i reduce_each(const __m256i* v, Op op) {
  __m256i fours[4];  // of the groups i, i + 4
  for (int i = 0; i < 4; ++i) {
    fours[i] = op(_mm256_permute2x128_si256(v[i], v[i + 4], 0x20),
                  _mm256_permute2x128_si256(v[i], v[i + 4], 0x31));
  }
  __m256i twos[2];
  for (int i = 0; i < 2; ++i) {
    twos[i] = op(_mm256_unpacklo_epi64(fours[2 * i], fours[2 * i + 1]),
                 _mm256_unpackhi_epi64(fours[2 * i], fours[2 * i + 1]));
  }
  const __m256 a = _mm256_castsi256_ps(twos[0]), b = _mm256_castsi256_ps(twos[1]);
  return op(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)),
            _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd)));
}

struct QuantizeOps {
  static F32x16 largest_magnitudes(const F32x16 (&low)[kBatch], const F32x16 (&high)[kBatch]) {
    __m256i v[kBatch];
    for (int g = 0; g < kBatch; ++g) {
      v[g] = _mm256_max_epu32(_mm256_max_epu32(magnitude(low[g].lo), magnitude(low[g].hi)),
                              _mm256_max_epu32(magnitude(high[g].lo), magnitude(high[g].hi)));
    }
    return reduce_both(v, [](__m256i a, __m256i b) { return _mm256_max_epu32(a, b); });
  }
  static bool any_outside(F32x16 x, uint32_t low, uint32_t high) {
    return outside(x.lo, low, high) || outside(x.hi, low, high);
  }
  static F32x16 reduce_add_each(const F32x16 (&x)[kBatch]) {
    __m256i v[kBatch];
    for (int g = 0; g < kBatch; ++g) v[g] = _mm256_castps_si256(_mm256_add_ps(x[g].lo, x[g].hi));
    return reduce_both(v, [](__m256i a, __m256i b) {
      return _mm256_castps_si256(_mm256_add_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
    });
  }
  static void store_sums(int16_t* out, F32x16 first, F32x16 second) {
    store_pairs(out, first.lo, second.lo);
    store_pairs(out + 16, first.hi, second.hi);
  }
  static void store_half(int8_t* out, F32x16 x) {
    const __m256i words = _mm256_permute4x64_epi64(
        _mm256_packs_epi32(_mm256_cvtps_epi32(x.lo), _mm256_cvtps_epi32(x.hi)), 0xd8);
    const __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
  }
  static void store_codes(int8_t* out, F32x16 low, F32x16 high) {
    store_half(out, low);
    store_half(out + 16, high);
  }

 private:
  template <class Op>
  static F32x16 reduce_both(const __m256i (&v)[kBatch], Op op) {
    return {_mm256_castsi256_ps(reduce_each(v, op)), _mm256_castsi256_ps(reduce_each(v + 8, op))};
  }
  static bool outside(__m256 x, uint32_t low, uint32_t high) {
    // Bit patterns of magnitudes are below 2^31, so signed comparisons do.
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i too_low = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(low)), bits);
    const __m256i in_reach = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(high)), bits);
    return _mm256_movemask_epi8(_mm256_andnot_si256(too_low, in_reach)) != -1;
  }
  static void store_pairs(int16_t* out, __m256 first, __m256 second) {
    const __m256i low = _mm256_and_si256(_mm256_cvtps_epi32(first), _mm256_set1_epi32(0xffff));
    const __m256i high = _mm256_slli_epi32(_mm256_cvtps_epi32(second), 16);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_or_si256(low, high));
  }
};

}  // namespace
}  // namespace avx2

void quantize_f32_i8_avx2(const QuantizeArgs& args) noexcept {
  quantize_rows_of<avx2::F32x16, avx2::QuantizeOps>(args);
}

}  // namespace tandem::kernels
