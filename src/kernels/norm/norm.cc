// The table of RMS norm and its scalar row, the reference of the others.

#include "kernels/norm/norm.h"

#include "kernels/norm/norm-inl.h"
#include "kernels/simd/f32x16_scalar.h"

namespace tandem::kernels {

#define TANDEM_RMS_NORM_ROW(isa, space, name) \
  namespace norm::space {                     \
  void run(const RmsNormArgs& args) noexcept; \
  }
#include "kernels/norm/kernels.inc"
#undef TANDEM_RMS_NORM_ROW

void norm::scalar::run(const RmsNormArgs& args) noexcept {
  rms_norm<kernels::scalar::F32x16>(args);
}

namespace {

constexpr RmsNormRow kRows[] = {
#define TANDEM_RMS_NORM_ROW(isa, space, name) {Isa::isa, name, norm::space::run},
#include "kernels/norm/kernels.inc"
#undef TANDEM_RMS_NORM_ROW
};

}  // namespace

std::span<const RmsNormRow> rms_norm_rows() { return kRows; }

const RmsNormRow& select_rms_norm(Isa isa) {
  const RmsNormRow* best = &kRows[0];
  for (const RmsNormRow& row : kRows) {
    if (row.isa <= isa) best = &row;
  }
  return *best;
}

}  // namespace tandem::kernels
