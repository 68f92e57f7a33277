#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/linear/packed_format.h"
#include "tensor/blocks/q4_24.h"

// Q4_24 in packed form (docs/packed_weights.md): for each group of 32 along K and 16 rows
//
//   d f16 x 16 | vector 0, vector 1: codes | vector 2: places
//
// Kept weights 4 p to 4 p + 3 of a row (p = 0 to 3) come from elements 8 p to 8 p + 7. Byte 4 row +
// j of vector p % 2 holds the code of kept weight 4 p + j in nibble p / 2, of vector 2 its place
// among four elements in bits 2 p and 2 p + 1; j < 2 belongs to the first four of the eight
// elements.

namespace tandem::kernels::packed {

struct Pruned {
  using Block = BlockQ4_24;
  static constexpr int kElements = Block::kElements;
  static constexpr size_t kBlockBytes = kRows * sizeof(Block);
  static constexpr size_t kHeaderBytes = 2 * kRows;
  static constexpr size_t kPlaces = kHeaderBytes + 2 * kQuadBytes;  ///< offset
  static constexpr int kOffset = 8;

  static void pack(const Block& block, int row, std::byte* out) {
    std::memcpy(out + 2 * row, &block.d, sizeof block.d);
    std::byte* lane = out + kHeaderBytes + 4 * row;
    std::memcpy(lane, block.qs, 4);
    std::memcpy(lane + kQuadBytes, block.qs + 4, 4);
    std::memcpy(lane + 2 * kQuadBytes, block.places, 4);
  }
  static Block unpack(const std::byte* block, int row) {
    Block out;
    std::memcpy(&out.d, block + 2 * row, sizeof out.d);
    const std::byte* lane = block + kHeaderBytes + 4 * row;
    std::memcpy(out.qs, lane, 4);
    std::memcpy(out.qs + 4, lane + kQuadBytes, 4);
    std::memcpy(out.places, lane + 2 * kQuadBytes, 4);
    return out;
  }
};
static_assert(Pruned::kPlaces + kQuadBytes == Pruned::kBlockBytes);

}  // namespace tandem::kernels::packed
