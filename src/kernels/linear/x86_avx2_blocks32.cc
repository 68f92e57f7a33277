// AVX2 rows of the formats with blocks of 32.

#include "kernels/linear/x86_avx2_linear-inl.h"

namespace tandem::kernels {

#define TANDEM_DEFINE(type, name) \
  void linear_##name##_i8_16_avx2(const LinearArgs& a) noexcept { avx2::linear_quantized<type>(a); }
TANDEM_DEFINE(DType::kQ4_0, q4_0)
TANDEM_DEFINE(DType::kQ4_1, q4_1)
TANDEM_DEFINE(DType::kQ5_0, q5_0)
TANDEM_DEFINE(DType::kQ5_1, q5_1)
TANDEM_DEFINE(DType::kQ8_0, q8_0)
TANDEM_DEFINE(DType::kIQ4_NL, iq4_nl)
TANDEM_DEFINE(DType::kMXFP4, mxfp4)
TANDEM_DEFINE(DType::kQ2_0, q2_0)
#undef TANDEM_DEFINE

}  // namespace tandem::kernels
