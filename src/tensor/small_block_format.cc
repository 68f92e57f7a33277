#include "tensor/small_block_format.h"

namespace tandem {

DType small_block_format(DType type) {
  switch (type) {
    case DType::kQ2_K:
      return DType::kQ2_0;
    case DType::kQ2_0:
    case DType::kQ3_K:
    case DType::kIQ4_XS:
      return DType::kIQ4_NL;
    case DType::kQ4_K:
      return DType::kQ5_0;
    case DType::kQ5_K:
      return DType::kQ5_1;
    case DType::kQ6_K:
      return DType::kQ8_0;
    default:
      return DType::kF16;
  }
}

}  // namespace tandem
