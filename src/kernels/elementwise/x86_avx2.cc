#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/simd/f32x16_avx2.h"

namespace tandem::kernels::elementwise::avx2 {

ElementwiseRow row(Isa isa, const char* name) noexcept {
  return make_row<kernels::avx2::F32x16>(isa, name);
}

}  // namespace tandem::kernels::elementwise::avx2
