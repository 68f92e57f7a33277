#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/linear/linear.h"
#include "kernels/linear/packed_format.h"

// What the kernels for many tokens share, whatever their vectors: weights are widened to bytes once
// for all tokens of a call, a stretch of K at a time.
//
// Widened weights are a class with the constants kDepth (groups of a stretch), kHalves, kMinimum
// and kBlockGroups, the members of WidenedBase, and `widen` and `prefetch_next`. All is in an
// unnamed namespace: each instruction set compiles its own.

namespace tandem::kernels {
namespace {

inline constexpr size_t kGroupCodes = size_t{packed::kQuads} * packed::kQuadBytes;

/// One tile of outputs over a stretch; `copies` of the codes of a group.
template <int depth, int copies, bool halves, bool minima, int blocks>
struct WidenedBase {
  int n_groups = 0;  ///< of the stretch
  /// Quad by quad. What the copies are for is up to the instruction set.
  alignas(64) uint8_t codes[depth][copies][kGroupCodes];
  alignas(64) float scale[depth][halves ? 2 : 1][kTileRows];
  /// Minima of a group, or pairs of int16 with the minima of its halves.
  alignas(64) int32_t minimum[minima ? depth : 1][kTileRows];
  /// With halves: scale, and minus that of the minima, of a block.
  alignas(64) float block_scale[halves ? blocks : 1][2][kTileRows];
};

/// Offsets of eight rows of `stride` elements, held in few registers: a processor adds one, two or
/// four times an index by itself.
struct RowOffsets {
  size_t one, three;
  explicit RowOffsets(size_t stride) : one(stride), three(3 * stride) {}
  template <int row>
  [[gnu::always_inline]] size_t at() const {
    static_assert(row < 8);
    constexpr size_t kOnes[] = {0, 1, 2, 0, 4, 2, 0, 4}, kThrees[] = {0, 0, 0, 1, 0, 1, 2, 1};
    return kOnes[row] * one + kThrees[row] * three;
  }
};

}  // namespace
}  // namespace tandem::kernels
