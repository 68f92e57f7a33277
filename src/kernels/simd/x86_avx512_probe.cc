#include "kernels/simd/f32x16_avx512.h"
#include "kernels/simd/probe-inl.h"

namespace tandem::kernels::simd::avx512 {

void run(Operation operation, const ProbeInput& in, uint32_t* out) noexcept {
  probe<kernels::avx512::F32x16>(operation, in, out);
}

}  // namespace tandem::kernels::simd::avx512
