// AVX-512 rows of the plain number formats.

#include <immintrin.h>

#include "kernels/linear/float-inl.h"
#include "kernels/simd/f32x16_avx512.h"

namespace tandem::kernels {
namespace avx512 {
namespace {

struct F32Weights : WidenedToFloat<F32x16, 1> {
  static constexpr size_t kElementBytes = 4;
  static void load(const std::byte* p, Loaded& w) { w[0].v = _mm512_loadu_ps(p); }
};
struct F16Weights : WidenedToFloat<F32x16, 1> {
  static constexpr size_t kElementBytes = 2;
  static void load(const std::byte* p, Loaded& w) {
    w[0].v = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
};
/// Two elements along K share 32 bits: the first in the lower half.
struct Bf16Weights : WidenedToFloat<F32x16, 2> {
  static constexpr size_t kElementBytes = 2;
  static void load(const std::byte* p, Loaded& w) {
    const __m512i pairs = _mm512_loadu_si512(p);
    w[0].v = _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
    w[1].v = _mm512_castsi512_ps(
        _mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xffff0000u))));
  }
};
/// Sixteen accumulators: two multiply-adds a cycle that take four, and eight more so that ten loads
/// suffice for sixteen of them.
constexpr int kTiles = 2, kMaxRows = 8;

}  // namespace
}  // namespace avx512

void linear_f32_f32_16_avx512_vnni(const LinearArgs& a) noexcept {
  linear_float<avx512::F32x16, avx512::F32Weights, avx512::kTiles, avx512::kMaxRows>(a);
}
void linear_f16_f32_16_avx512_vnni(const LinearArgs& a) noexcept {
  linear_float<avx512::F32x16, avx512::F16Weights, avx512::kTiles, avx512::kMaxRows>(a);
}
void linear_bf16_f32_16_avx512_vnni(const LinearArgs& a) noexcept {
  linear_float<avx512::F32x16, avx512::Bf16Weights, avx512::kTiles, avx512::kMaxRows>(a);
}

}  // namespace tandem::kernels
