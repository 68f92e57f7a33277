#pragma once

#include <memory>

#include "sources/row_reader.h"

namespace tandem {

/// BitNet's weights as Hugging Face packs them: a byte holds four values, two bits each, 0 to 2 for
/// -1 to 1. A matrix of N rows is stored as N/4 rows of bytes; bits 2i and 2i+1 of stored row j are
/// row i * N/4 + j.
struct PackedTernaryOptions {
  StoredTensor packed;  ///< U8, [N/4, K]
  float scale;          ///< what 1 stands for
  RowOrder order;
};
std::unique_ptr<const RowReader> packed_ternary_rows(PackedTernaryOptions options);

/// BitNet's weights as they were trained: in use they are rounded to -s, 0 or s, with s the mean
/// magnitude of the matrix in the stored type (arXiv 2402.17764). The mean is taken once, by the
/// first reader.
struct RoundedTernaryOptions {
  StoredTensor tensor;  ///< F32, F16 or BF16, [N, K]
  RowOrder order;
};
std::unique_ptr<const RowReader> rounded_ternary_rows(RoundedTernaryOptions options);

}  // namespace tandem
