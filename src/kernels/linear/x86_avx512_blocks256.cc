// AVX-512 VNNI rows of the formats with super-blocks of 256.

#include "kernels/linear/x86_avx512_linear-inl.h"
#include "kernels/linear/x86_avx512_many-inl.h"

namespace tandem::kernels {

#define TANDEM_DEFINE(type, name)                                               \
  void linear_##name##_i8_16_avx512_vnni(const LinearArgs& a) noexcept {        \
    using namespace avx512;                                                     \
    linear_many<Widened<type, CodeForm::kUnsigned>>(a, linear_quantized<type>); \
  }
TANDEM_DEFINE(DType::kQ2_K, q2_k)
TANDEM_DEFINE(DType::kQ3_K, q3_k)
TANDEM_DEFINE(DType::kQ4_K, q4_k)
TANDEM_DEFINE(DType::kQ5_K, q5_k)
TANDEM_DEFINE(DType::kQ6_K, q6_k)
TANDEM_DEFINE(DType::kIQ4_XS, iq4_xs)
#undef TANDEM_DEFINE

}  // namespace tandem::kernels
