#pragma once

#include "kernels/linear/linear.h"

// Declarations of every row of kernels.inc.

namespace tandem::kernels {

#define TANDEM_LINEAR(isa, type, name) void name(const LinearArgs&) noexcept;
#define TANDEM_QUANTIZE(isa, name) void name(const QuantizeArgs&) noexcept;
#include "kernels/linear/kernels.inc"
#undef TANDEM_LINEAR
#undef TANDEM_QUANTIZE

}  // namespace tandem::kernels
