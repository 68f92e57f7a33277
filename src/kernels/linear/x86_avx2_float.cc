// AVX2 rows of the plain number formats.

#include <immintrin.h>

#include "kernels/linear/float-inl.h"
#include "kernels/simd/f32x16_avx2.h"

namespace tandem::kernels {
namespace avx2 {
namespace {

inline __m256i load256(const std::byte* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
inline __m128i load128(const std::byte* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

struct F32Weights : WidenedToFloat<F32x16, 1> {
  static constexpr size_t kElementBytes = 4;
  static void load(const std::byte* p, Loaded& w) {
    w[0] = {_mm256_castsi256_ps(load256(p)), _mm256_castsi256_ps(load256(p + 32))};
  }
};
struct F16Weights : WidenedToFloat<F32x16, 1> {
  static constexpr size_t kElementBytes = 2;
  static void load(const std::byte* p, Loaded& w) {
    w[0] = {_mm256_cvtph_ps(load128(p)), _mm256_cvtph_ps(load128(p + 16))};
  }
};
/// Two elements along K share 32 bits: the first in the lower half.
struct Bf16Weights : WidenedToFloat<F32x16, 2> {
  static constexpr size_t kElementBytes = 2;
  static __m256 first(__m256i pairs) { return _mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16)); }
  static __m256 second(__m256i pairs) {
    return _mm256_castsi256_ps(
        _mm256_and_si256(pairs, _mm256_set1_epi32(static_cast<int>(0xffff0000u))));
  }
  static void load(const std::byte* p, Loaded& w) {
    const __m256i lo = load256(p), hi = load256(p + 32);
    w[0] = {first(lo), first(hi)};
    w[1] = {second(lo), second(hi)};
  }
};
/// Eight accumulators, two pairs of weights and the broadcast fit the sixteen registers.
constexpr int kTiles = 1, kMaxRows = 4;

}  // namespace
}  // namespace avx2

void linear_f32_f32_16_avx2(const LinearArgs& a) noexcept {
  linear_float<avx2::F32x16, avx2::F32Weights, avx2::kTiles, avx2::kMaxRows>(a);
}
void linear_f16_f32_16_avx2(const LinearArgs& a) noexcept {
  linear_float<avx2::F32x16, avx2::F16Weights, avx2::kTiles, avx2::kMaxRows>(a);
}
void linear_bf16_f32_16_avx2(const LinearArgs& a) noexcept {
  linear_float<avx2::F32x16, avx2::Bf16Weights, avx2::kTiles, avx2::kMaxRows>(a);
}

}  // namespace tandem::kernels
