#include "kernels/norm/norm-inl.h"
#include "kernels/simd/f32x16_avx2.h"

namespace tandem::kernels::norm::avx2 {

void run(const RmsNormArgs& args) noexcept { rms_norm<kernels::avx2::F32x16>(args); }

}  // namespace tandem::kernels::norm::avx2
