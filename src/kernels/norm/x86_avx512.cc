#include "kernels/norm/norm-inl.h"
#include "kernels/simd/f32x16_avx512.h"

namespace tandem::kernels::norm::avx512 {

void run(const RmsNormArgs& args) noexcept { rms_norm<kernels::avx512::F32x16>(args); }

}  // namespace tandem::kernels::norm::avx512
