// AMX rows of the formats with blocks of 32.

#include "kernels/linear/x86_amx_linear-inl.h"

namespace tandem::kernels {

#define TANDEM_TYPE(type, name)                                                                    \
  void linear_##name##_i8_16_amx(const LinearArgs& a) noexcept {                                   \
    avx512_amx::linear_tiles<avx512_amx::Widened<DType::type>>(a,                                  \
                                                               linear_##name##_i8_16_avx512_vnni); \
  }
#include "kernels/linear/types_blocks32.inc"

}  // namespace tandem::kernels
