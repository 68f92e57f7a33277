#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/linear/packed_format.h"
#include "tensor/blocks/mxfp8.h"

// MXFP8 in packed form (docs/packed_weights.md): for each group of 32 along K and 16 rows sixteen
// exponent bytes, then codes (32, 16).

namespace tandem::kernels::packed {

struct Fp8 {
  using Block = BlockMxfp8;
  static constexpr int kElements = Block::kElements;
  static constexpr size_t kBlockBytes = kRows * sizeof(Block);
  static constexpr size_t kHeaderBytes = kRows;

  static void pack(const Block& block, int row, std::byte* out) {
    out[row] = static_cast<std::byte>(block.e);
    for (int i = 0; i < kElements; ++i) {
      out[kHeaderBytes + kRows * i + row] = static_cast<std::byte>(block.qs[i]);
    }
  }
  static Block unpack(const std::byte* block, int row) {
    Block out;
    out.e = static_cast<uint8_t>(block[row]);
    for (int i = 0; i < kElements; ++i) {
      out.qs[i] = static_cast<uint8_t>(block[kHeaderBytes + kRows * i + row]);
    }
    return out;
  }
};

}  // namespace tandem::kernels::packed
