#pragma once

#include "tensor/dtype.h"

namespace tandem {

/// The format with smaller blocks nearest in size, for rows that are no whole blocks: blocks of 64
/// (Q2_0) or 32 below 256, F16 below 32. Asked again and again it ends with F16, which fits all.
DType small_block_format(DType type);

}  // namespace tandem
