#include "kernels/rope/rope-inl.h"
#include "kernels/simd/f32x16_avx512.h"

namespace tandem::kernels::rope::avx512 {

void run(const RopeArgs& args) noexcept { rope<kernels::avx512::F32x16>(args); }

}  // namespace tandem::kernels::rope::avx512
