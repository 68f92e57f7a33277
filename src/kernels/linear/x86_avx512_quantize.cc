// Activation quantization with AVX-512.

#include <immintrin.h>

#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/quantize-inl.h"
#include "kernels/simd/f32x16_avx512.h"

namespace tandem::kernels {
namespace avx512 {
namespace {

struct Codes {
  __m512i v;

  static uint32_t largest_magnitude(F32x16 low, F32x16 high) {
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    return _mm512_reduce_max_epu32(
        _mm512_max_epu32(_mm512_and_si512(_mm512_castps_si512(low.v), magnitude),
                         _mm512_and_si512(_mm512_castps_si512(high.v), magnitude)));
  }
  static Codes round(F32x16 x) { return {_mm512_cvtps_epi32(x.v)}; }
  static int sum(Codes q) { return _mm512_reduce_add_epi32(q.v); }
  static void store(int8_t* out, Codes low, Codes high) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtepi32_epi8(low.v));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16), _mm512_cvtepi32_epi8(high.v));
  }
};

}  // namespace
}  // namespace avx512

void quantize_f32_i8_avx512_vnni(const QuantizeArgs& args) noexcept {
  quantize_rows_of<avx512::F32x16, avx512::Codes>(args);
}

}  // namespace tandem::kernels
