// AVX-512 VNNI rows of the formats with super-blocks of 256.

#include "kernels/linear/x86_avx512_linear-inl.h"
#include "kernels/linear/x86_avx512_many-inl.h"

namespace tandem::kernels {

#define TANDEM_TYPE(type, name)                                          \
  void linear_##name##_i8_16_avx512_vnni(const LinearArgs& a) noexcept { \
    using namespace avx512;                                              \
    linear_many<ManyKernel<Widened<DType::type, CodeForm::kUnsigned>>>(  \
        a, linear_quantized<DType::type>);                               \
  }
#include "kernels/linear/types_blocks256.inc"

}  // namespace tandem::kernels
