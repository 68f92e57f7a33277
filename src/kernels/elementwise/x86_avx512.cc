#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/simd/f32x16_avx512.h"

namespace tandem::kernels::elementwise::avx512 {

ElementwiseRow row(Isa isa, const char* name) noexcept {
  return make_row<kernels::avx512::F32x16>(isa, name);
}

}  // namespace tandem::kernels::elementwise::avx512
