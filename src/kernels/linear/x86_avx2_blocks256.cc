// AVX2 rows of the formats with super-blocks of 256.

#include "kernels/linear/x86_avx2_linear-inl.h"
#include "kernels/linear/x86_avx2_many-inl.h"

namespace tandem::kernels {

#define TANDEM_TYPE(type, name)                                                      \
  void linear_##name##_i8_16_avx2(const LinearArgs& a) noexcept {                    \
    using namespace avx2;                                                            \
    linear_many<ManyKernel<Widened<DType::type>>>(a, linear_quantized<DType::type>); \
  }
#include "kernels/linear/types_blocks256.inc"

}  // namespace tandem::kernels
