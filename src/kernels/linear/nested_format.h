#pragma once

#include <cstddef>

#include "kernels/linear/packed_format.h"

// Where a packed low plane keeps what: for each group of 32 elements one plane of 4 bits (four
// vectors of 64 bytes) in the order of Q4_0's, without headers.

namespace tandem::kernels::packed {

using High = Format<DType::kQ4_0>;

inline constexpr size_t kLowGroupBytes = 4 * kQuadBytes;

/// Stored fields are q = h + 8 and l + 8: 2^e q + (l + 8) is the code plus this.
template <int shift>
inline constexpr int kNestedOffset = (8 << shift) + 8;

/// 2^-e, which makes s the scale of whole codes; the product is exact.
template <int shift>
inline constexpr float kNestedUnit = 1.0f / (1 << shift);

TANDEM_ALWAYS_INLINE size_t low_tile_bytes(size_t k) { return k / kGroup * kLowGroupBytes; }

/// The code 2^e h + l of one element.
TANDEM_ALWAYS_INLINE int nested_code_at(const std::byte* high_group, const std::byte* low_group,
                                        int shift, int e, int row) {
  const int q = code_at<High>(high_group, e, row), l = code_at<High>(low_group, e, row);
  return (q << shift) + l - ((8 << shift) + 8);
}

}  // namespace tandem::kernels::packed
