// AVX-512 VNNI rows of the formats with blocks of 32.

#include "kernels/linear/x86_avx512_linear-inl.h"
#include "kernels/linear/x86_avx512_many-inl.h"

namespace tandem::kernels {

#define TANDEM_DEFINE(type, name)                                               \
  void linear_##name##_i8_16_avx512_vnni(const LinearArgs& a) noexcept {        \
    using namespace avx512;                                                     \
    linear_many<Widened<type, CodeForm::kUnsigned>>(a, linear_quantized<type>); \
  }
TANDEM_DEFINE(DType::kQ4_0, q4_0)
TANDEM_DEFINE(DType::kQ4_1, q4_1)
TANDEM_DEFINE(DType::kQ5_0, q5_0)
TANDEM_DEFINE(DType::kQ5_1, q5_1)
TANDEM_DEFINE(DType::kQ8_0, q8_0)
TANDEM_DEFINE(DType::kIQ4_NL, iq4_nl)
TANDEM_DEFINE(DType::kMXFP4, mxfp4)
#undef TANDEM_DEFINE

void linear_q2_0_i8_16_avx512_vnni(const LinearArgs& a) noexcept {
  avx512::linear_quantized<DType::kQ2_0>(a);
}

}  // namespace tandem::kernels
