#pragma once

#include <immintrin.h>

#include <cstdint>

namespace tandem::kernels::avx2 {

/// See scalar::F32x16 for the meaning of each function. Lanes 0-7 in `lo`, 8-15 in `hi`.
struct F32x16 {
  __m256 lo, hi;

  static F32x16 zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  static F32x16 set1(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static F32x16 load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  static F32x16 load_partial(const float* p, int n, float fill = 0.0f) {
    const __m256i first_lo = first(n), first_hi = first(n - 8);
    const __m256 filled = _mm256_set1_ps(fill);
    return {
        _mm256_blendv_ps(filled, _mm256_maskload_ps(p, first_lo), _mm256_castsi256_ps(first_lo)),
        _mm256_blendv_ps(filled, _mm256_maskload_ps(p + 8, first_hi),
                         _mm256_castsi256_ps(first_hi))};
  }
  static F32x16 load_f16(const uint16_t* p) {
    return {_mm256_cvtph_ps(half(p)), _mm256_cvtph_ps(half(p + 8))};
  }
  static F32x16 load_bf16(const uint16_t* p) { return {widen_bf16(p), widen_bf16(p + 8)}; }
  static F32x16 iota() {
    return {_mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7), _mm256_setr_ps(8, 9, 10, 11, 12, 13, 14, 15)};
  }

  void store(float* p) const {
    _mm256_storeu_ps(p, lo);
    _mm256_storeu_ps(p + 8, hi);
  }
  void store_partial(float* p, int n) const {
    _mm256_maskstore_ps(p, first(n), lo);
    _mm256_maskstore_ps(p + 8, first(n - 8), hi);
  }
  void store_f16(uint16_t* p) const {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(lo, kNearest));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 8), _mm256_cvtps_ph(hi, kNearest));
  }

  friend F32x16 operator+(F32x16 a, F32x16 b) {
    return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
  }
  friend F32x16 operator-(F32x16 a) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return {_mm256_xor_ps(sign, a.lo), _mm256_xor_ps(sign, a.hi)};
  }
  friend F32x16 operator-(F32x16 a, F32x16 b) {
    return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
  }
  friend F32x16 operator*(F32x16 a, F32x16 b) {
    return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
  }
  friend F32x16 operator/(F32x16 a, F32x16 b) {
    return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
  }
  static F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
    return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
  }
  static F32x16 max(F32x16 a, F32x16 b) {
    return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
  }
  static F32x16 min(F32x16 a, F32x16 b) {
    return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
  }
  static F32x16 abs(F32x16 a) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return {_mm256_andnot_ps(sign, a.lo), _mm256_andnot_ps(sign, a.hi)};
  }
  static F32x16 select_less(F32x16 a, F32x16 b, F32x16 yes, F32x16 no) {
    return {_mm256_blendv_ps(no.lo, yes.lo, _mm256_cmp_ps(a.lo, b.lo, _CMP_LT_OQ)),
            _mm256_blendv_ps(no.hi, yes.hi, _mm256_cmp_ps(a.hi, b.hi, _CMP_LT_OQ))};
  }
  static F32x16 round(F32x16 a) {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    return {_mm256_round_ps(a.lo, kNearest), _mm256_round_ps(a.hi, kNearest)};
  }
  static F32x16 scale_by_power_of_2(F32x16 a, F32x16 n) {
    return {scale_half(a.lo, n.lo), scale_half(a.hi, n.hi)};
  }

  static float reduce_add(F32x16 a) {
    const __m256 sum8 = _mm256_add_ps(a.lo, a.hi);
    const __m128 sum4 = _mm_add_ps(_mm256_castps256_ps128(sum8), _mm256_extractf128_ps(sum8, 1));
    const __m128 sum2 = _mm_add_ps(sum4, _mm_movehl_ps(sum4, sum4));
    return _mm_cvtss_f32(_mm_add_ss(sum2, _mm_movehdup_ps(sum2)));
  }
  static float reduce_max(F32x16 a) {
    const __m256 max8 = _mm256_max_ps(a.lo, a.hi);
    const __m128 max4 = _mm_max_ps(_mm256_castps256_ps128(max8), _mm256_extractf128_ps(max8, 1));
    const __m128 max2 = _mm_max_ps(max4, _mm_movehl_ps(max4, max4));
    return _mm_cvtss_f32(_mm_max_ss(max2, _mm_movehdup_ps(max2)));
  }
  static void deinterleave(F32x16 low, F32x16 high, F32x16& even, F32x16& odd) {
    even = {every_second<0x88>(low.lo, low.hi), every_second<0x88>(high.lo, high.hi)};
    odd = {every_second<0xdd>(low.lo, low.hi), every_second<0xdd>(high.lo, high.hi)};
  }
  static void interleave(F32x16 even, F32x16 odd, F32x16& low, F32x16& high) {
    low = interleave_half(even.lo, odd.lo);
    high = interleave_half(even.hi, odd.hi);
  }

 private:
  static __m128i half(const uint16_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  static __m256 widen_bf16(const uint16_t* p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half(p)), 16));
  }
  /// All ones in the first `n` lanes; n may lie outside [0, 8].
  static __m256i first(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  /// Of sixteen floats those that kShuffle picks from each four: 0x88 the even, 0xdd the odd ones.
  template <int kShuffle>
  static __m256 every_second(__m256 lo, __m256 hi) {
    // The shuffle works in each 128-bit half, which leaves the middle quarters exchanged.
    const __m256d pairs = _mm256_castps_pd(_mm256_shuffle_ps(lo, hi, kShuffle));
    return _mm256_castpd_ps(_mm256_permute4x64_pd(pairs, 0xd8));
  }
  static F32x16 interleave_half(__m256 even, __m256 odd) {
    const __m256 quarters_0_2 = _mm256_unpacklo_ps(even, odd);
    const __m256 quarters_1_3 = _mm256_unpackhi_ps(even, odd);
    return {_mm256_permute2f128_ps(quarters_0_2, quarters_1_3, 0x20),
            _mm256_permute2f128_ps(quarters_0_2, quarters_1_3, 0x31)};
  }
  static __m256 power_of_2(__m256i n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
  }
  static __m256 scale_half(__m256 a, __m256 n) {
    const __m256i whole = _mm256_cvttps_epi32(n);
    const __m256i half = _mm256_srai_epi32(whole, 1);
    return _mm256_mul_ps(_mm256_mul_ps(a, power_of_2(half)),
                         power_of_2(_mm256_sub_epi32(whole, half)));
  }
};

}  // namespace tandem::kernels::avx2
