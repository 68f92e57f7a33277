// The table of rotary embedding and its scalar row, the reference of the others.

#include "kernels/rope/rope.h"

#include "kernels/rope/rope-inl.h"
#include "kernels/simd/f32x16_scalar.h"

namespace tandem::kernels {

#define TANDEM_ROPE_ROW(isa, space, name)  \
  namespace rope::space {                  \
  void run(const RopeArgs& args) noexcept; \
  }
#include "kernels/rope/kernels.inc"
#undef TANDEM_ROPE_ROW

void rope::scalar::run(const RopeArgs& args) noexcept { rope<kernels::scalar::F32x16>(args); }

namespace {

constexpr RopeRow kRows[] = {
#define TANDEM_ROPE_ROW(isa, space, name) {Isa::isa, name, rope::space::run},
#include "kernels/rope/kernels.inc"
#undef TANDEM_ROPE_ROW
};

}  // namespace

std::span<const RopeRow> rope_rows() { return kRows; }

const RopeRow& select_rope(Isa isa) {
  const RopeRow* best = &kRows[0];
  for (const RopeRow& row : kRows) {
    if (row.isa <= isa) best = &row;
  }
  return *best;
}

}  // namespace tandem::kernels
