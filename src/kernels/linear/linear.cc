// The tables of kernels.inc and the choice of a row.

#include "kernels/linear/linear.h"

#include "kernels/linear/linear_kernels.h"

namespace tandem::kernels {
namespace {

#define TANDEM_QUANTIZE(isa, name)
#define TANDEM_LINEAR(isa, type, name) {Isa::isa, DType::type, #name, name},
constexpr LinearRow kLinearRows[] = {
#include "kernels/linear/kernels.inc"
};
#undef TANDEM_QUANTIZE
#undef TANDEM_LINEAR

#define TANDEM_QUANTIZE(isa, name) {Isa::isa, #name, name},
#define TANDEM_LINEAR(isa, type, name)
constexpr QuantizeRow kQuantizeRows[] = {
#include "kernels/linear/kernels.inc"
};
#undef TANDEM_QUANTIZE
#undef TANDEM_LINEAR

}  // namespace

std::span<const LinearRow> linear_rows() { return kLinearRows; }
std::span<const QuantizeRow> quantize_rows() { return kQuantizeRows; }

const LinearRow* select_linear(Isa isa, DType type) {
  const LinearRow* best = nullptr;
  for (const LinearRow& row : kLinearRows) {
    if (row.type == type && row.isa <= isa && (best == nullptr || row.isa > best->isa)) best = &row;
  }
  return best;
}

const QuantizeRow& select_quantize(Isa isa) {
  const QuantizeRow* best = &kQuantizeRows[0];
  for (const QuantizeRow& row : kQuantizeRows) {
    if (row.isa <= isa && row.isa > best->isa) best = &row;
  }
  return *best;
}

}  // namespace tandem::kernels
