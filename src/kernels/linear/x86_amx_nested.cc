// AMX row of nested weights: both planes become signed bytes once for all tokens of a call.

#include "kernels/linear/nested.h"
#include "kernels/linear/x86_amx_linear-inl.h"

namespace tandem::kernels {

void linear_nested_i8_16_amx(const LinearArgs& a) noexcept {
  using avx512::WidenedNested, avx512::CodeForm;
  a.w.low_shift == 4 ? avx512_amx::linear_tiles<WidenedNested<4, CodeForm::kSignedByHalves>>(
                           a, linear_nested_i8_16_avx512_vnni)
                     : avx512_amx::linear_tiles<WidenedNested<3, CodeForm::kSignedByHalves>>(
                           a, linear_nested_i8_16_avx512_vnni);
}

}  // namespace tandem::kernels
