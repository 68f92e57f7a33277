// AVX2 rows of the formats with blocks of 32.

#include "kernels/linear/x86_avx2_linear-inl.h"

namespace tandem::kernels {

#define TANDEM_TYPE(type, name)                                   \
  void linear_##name##_i8_16_avx2(const LinearArgs& a) noexcept { \
    avx2::linear_quantized<DType::type>(a);                       \
  }
#include "kernels/linear/types_blocks32.inc"

void linear_q2_0_i8_16_avx2(const LinearArgs& a) noexcept {
  avx2::linear_quantized<DType::kQ2_0>(a);
}

}  // namespace tandem::kernels
