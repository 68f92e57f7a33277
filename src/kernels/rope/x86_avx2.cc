#include "kernels/rope/rope-inl.h"
#include "kernels/simd/f32x16_avx2.h"

namespace tandem::kernels::rope::avx2 {

void run(const RopeArgs& args) noexcept { rope<kernels::avx2::F32x16>(args); }

}  // namespace tandem::kernels::rope::avx2
