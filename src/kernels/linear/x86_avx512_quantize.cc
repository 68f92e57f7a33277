// Activation quantization with AVX-512.

#include <immintrin.h>

#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/quantize-inl.h"
#include "kernels/simd/f32x16_avx512.h"

namespace tandem::kernels {
namespace avx512 {
namespace {

/// Lane g of the result is the reduction of v[g], by halves: lanes i and i + 8, then i + 4, i + 2,
/// i + 1. Each step joins two vectors, so sixteen reductions take fifteen operations.
template <class Op>
inline __m512i reduce_each(const __m512i (&v)[16], Op op) {
  __m512i fours[4];  // of the groups i, i + 4, i + 8, i + 12
  for (int i = 0; i < 4; ++i) {
    const __m512i first =
        op(_mm512_shuffle_i32x4(v[i], v[i + 4], 0x44), _mm512_shuffle_i32x4(v[i], v[i + 4], 0xee));
    const __m512i second = op(_mm512_shuffle_i32x4(v[i + 8], v[i + 12], 0x44),
                              _mm512_shuffle_i32x4(v[i + 8], v[i + 12], 0xee));
    fours[i] =
        op(_mm512_shuffle_i32x4(first, second, 0x88), _mm512_shuffle_i32x4(first, second, 0xdd));
  }
  __m512i twos[2];
  for (int i = 0; i < 2; ++i) {
    twos[i] = op(_mm512_unpacklo_epi64(fours[2 * i], fours[2 * i + 1]),
                 _mm512_unpackhi_epi64(fours[2 * i], fours[2 * i + 1]));
  }
  const __m512 a = _mm512_castsi512_ps(twos[0]), b = _mm512_castsi512_ps(twos[1]);
  return op(_mm512_castps_si512(_mm512_shuffle_ps(a, b, 0x88)),
            _mm512_castps_si512(_mm512_shuffle_ps(a, b, 0xdd)));
}

struct QuantizeOps {
  static F32x16 largest_magnitudes(const F32x16 (&low)[kBatch], const F32x16 (&high)[kBatch]) {
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    __m512i v[kBatch];
    for (int g = 0; g < kBatch; ++g) {
      v[g] = _mm512_max_epu32(_mm512_and_si512(_mm512_castps_si512(low[g].v), magnitude),
                              _mm512_and_si512(_mm512_castps_si512(high[g].v), magnitude));
    }
    return {_mm512_castsi512_ps(
        reduce_each(v, [](__m512i a, __m512i b) { return _mm512_max_epu32(a, b); }))};
  }
  static bool any_outside(F32x16 x, uint32_t low, uint32_t high) {
    const __m512i bits = _mm512_castps_si512(x.v);
    const __m512i from_low = _mm512_sub_epi32(bits, _mm512_set1_epi32(static_cast<int>(low)));
    const __m512i length = _mm512_set1_epi32(static_cast<int>(high - low));
    return _mm512_cmpge_epu32_mask(from_low, length) != 0;
  }
  static F32x16 reduce_add_each(const F32x16 (&x)[kBatch]) {
    __m512i v[kBatch];
    for (int g = 0; g < kBatch; ++g) v[g] = _mm512_castps_si512(x[g].v);
    return {_mm512_castsi512_ps(reduce_each(v, [](__m512i a, __m512i b) {
      return _mm512_castps_si512(_mm512_add_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)));
    }))};
  }
  static void store_sums(int16_t* out, F32x16 first, F32x16 second) {
    const __m512i low = _mm512_and_si512(_mm512_cvtps_epi32(first.v), _mm512_set1_epi32(0xffff));
    const __m512i high = _mm512_slli_epi32(_mm512_cvtps_epi32(second.v), 16);
    _mm512_storeu_si512(out, _mm512_or_si512(low, high));
  }
  static void store_codes(int8_t* out, F32x16 low, F32x16 high) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                     _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(low.v)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16),
                     _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(high.v)));
  }
};

}  // namespace
}  // namespace avx512

void quantize_f32_i8_avx512_vnni(const QuantizeArgs& args) noexcept {
  quantize_rows_of<avx512::F32x16, avx512::QuantizeOps>(args);
}

}  // namespace tandem::kernels
