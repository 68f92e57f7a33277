// The table of vector types and the probe of the scalar one.

#include "kernels/simd/probe.h"

#include "kernels/simd/f32x16_scalar.h"
#include "kernels/simd/probe-inl.h"

namespace tandem::kernels::simd {

#define TANDEM_PROBE_ROW(isa, space, name)                                     \
  namespace space {                                                            \
  void run(Operation operation, const ProbeInput& in, uint32_t* out) noexcept; \
  }
#include "kernels/simd/kernels.inc"
#undef TANDEM_PROBE_ROW

void scalar::run(Operation operation, const ProbeInput& in, uint32_t* out) noexcept {
  probe<kernels::scalar::F32x16>(operation, in, out);
}

namespace {

constexpr ProbeRow kRows[] = {
#define TANDEM_PROBE_ROW(isa, space, name) {Isa::isa, name, space::run},
#include "kernels/simd/kernels.inc"
#undef TANDEM_PROBE_ROW
};

}  // namespace

std::span<const ProbeRow> probe_rows() { return kRows; }

}  // namespace tandem::kernels::simd
