// The table of elementwise functions and its scalar row, the reference of the others.

#include "kernels/elementwise/elementwise.h"

#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/simd/f32x16_scalar.h"

namespace tandem::kernels {

#define TANDEM_ELEMENTWISE_ROW(isa, space, name)                  \
  namespace elementwise::space {                                  \
  ElementwiseRow row(Isa row_isa, const char* row_name) noexcept; \
  }
#include "kernels/elementwise/kernels.inc"
#undef TANDEM_ELEMENTWISE_ROW

ElementwiseRow elementwise::scalar::row(Isa isa, const char* name) noexcept {
  return make_row<kernels::scalar::F32x16>(isa, name);
}

std::span<const ElementwiseRow> elementwise_rows() {
  static const ElementwiseRow rows[] = {
#define TANDEM_ELEMENTWISE_ROW(isa, space, name) elementwise::space::row(Isa::isa, name),
#include "kernels/elementwise/kernels.inc"
#undef TANDEM_ELEMENTWISE_ROW
  };
  return rows;
}

const ElementwiseRow& select_elementwise(Isa isa) {
  const ElementwiseRow* best = nullptr;
  for (const ElementwiseRow& row : elementwise_rows()) {
    if (row.isa <= isa) best = &row;
  }
  return *best;
}

}  // namespace tandem::kernels
