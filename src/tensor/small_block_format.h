#pragma once

#include "tensor/dtype.h"

namespace tandem {

/// The format with blocks of 32 nearest in size to one with blocks of 256, for rows whose length is
/// no multiple of 256; F16 for every other type.
DType small_block_format(DType type);

}  // namespace tandem
