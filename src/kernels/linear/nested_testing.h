#pragma once

#include <algorithm>
#include <vector>

#include "kernels/linear/linear_testing.h"
#include "kernels/linear/nested.h"
#include "tensor/blocks/q4_0.h"
#include "tensor/blocks/q8_0.h"

// For tests and benchmarks of nested rows: matrices of every valid pair, and the Q8_0 matrix of the
// same values.

namespace tandem::kernels::testing {

/// Both planes in file layout.
struct NestedMatrix {
  FileMatrix high;
  std::vector<std::byte> low;
  uint32_t shift;

  const std::byte* high_row(size_t i) const {
    return high.bytes.data() + i * row_bytes(DType::kQ4_0, high.k);
  }
  const std::byte* low_row(size_t i) const { return low.data() + i * high.k / 2; }
};

/// Random valid pairs, both extremes among them; scales are normal f16 numbers of both signs.
inline NestedMatrix random_nested(size_t n, size_t k, uint32_t shift, uint32_t seed) {
  NestedMatrix out{random_bytes_matrix(DType::kQ4_0, n, k, seed), std::vector<std::byte>(n * k / 2),
                   shift};
  std::mt19937 random(seed + 1);
  for (size_t g = 0; g < n * k / 32; ++g) {
    BlockQ4_0 block;
    std::memcpy(&block, out.high.bytes.data() + g * sizeof block, sizeof block);
    block.d = f32_to_f16(std::ldexp(1.0f + (random() % 1024) / 1024.0f, -6 - random() % 4));
    if (random() % 2) block.d |= 0x8000;
    std::memcpy(out.high.bytes.data() + g * sizeof block, &block, sizeof block);
    for (int i = 0; i < 16; ++i) {
      uint32_t low = random() & 0xff;
      if ((block.qs[i] & 15) == 0) low |= 0x08;
      if (block.qs[i] >> 4 == 0) low |= 0x80;
      out.low[g * 16 + i] = static_cast<std::byte>(low);
    }
  }
  return out;
}

/// The same weights as Q8_0 blocks: code 2^e h + l, scale s 2^-e. Built from the definition, bit by
/// bit.
inline FileMatrix as_q8_0(const NestedMatrix& w) {
  FileMatrix out{DType::kQ8_0, w.high.n, w.high.k, {}};
  out.bytes.resize(w.high.n * row_bytes(DType::kQ8_0, w.high.k));
  for (size_t g = 0; g < w.high.n * w.high.k / 32; ++g) {
    BlockQ4_0 high;
    BlockQ8_0 both;
    std::memcpy(&high, w.high.bytes.data() + g * sizeof high, sizeof high);
    both.d = f32_to_f16(std::ldexp(f16_to_f32(high.d), -static_cast<int>(w.shift)));
    for (int i = 0; i < 32; ++i) {
      const int h = (high.qs[i % 16] >> 4 * (i / 16) & 15) - 8;
      const int l = (static_cast<int>(w.low[g * 16 + i % 16]) >> 4 * (i / 16) & 15) - 8;
      both.qs[i] = static_cast<int8_t>(h * (1 << w.shift) + l);
    }
    std::memcpy(out.bytes.data() + g * sizeof both, &both, sizeof both);
  }
  return out;
}

/// Both packed planes, each before an inaccessible page.
struct GuardedNested {
  GuardedMatrix high;
  Guarded<std::byte> low;
  PackedMatrix view;
  explicit GuardedNested(const NestedMatrix& w)
      : high(w.high), low(packed_low_bytes(w.high.n, w.high.k)), view(high.view) {
    pack_low_rows(w.low.data(), w.high.n, w.high.k, 0, w.high.n, low.data());
    view.low = low.data();
    view.low_shift = w.shift;
  }
};

}  // namespace tandem::kernels::testing
