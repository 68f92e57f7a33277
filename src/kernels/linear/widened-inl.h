#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/linear/linear.h"
#include "kernels/linear/nested_format.h"
#include "kernels/linear/tiles-inl.h"

// What the kernels for many tokens share, whatever their vectors: weights are widened to bytes once
// for all tokens of a call, a stretch of K at a time; the outputs hold the sums of the stretches
// before.
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

/// Asks the second-level cache for bytes.
[[gnu::always_inline]] inline void prefetch_bytes(const std::byte* p, size_t n_bytes) {
  for (size_t i = 0; i < n_bytes; i += 64) __builtin_prefetch(p + i, 0, 2);
}

/// Calls put_scales(block, g) and put_codes(group, g) for groups [first, first + groups) of the
/// tile of outputs that starts at n; g counts from `first`. Returns where the next stretch begins.
template <class F, class PutScales, class PutCodes>
[[gnu::always_inline]] inline const std::byte* widen_blocks(const LinearArgs& a, size_t n,
                                                            size_t first, int groups,
                                                            PutScales&& put_scales,
                                                            PutCodes&& put_codes) {
  const size_t tile_bytes = a.w.k / F::kElements * F::kBlockBytes;
  const std::byte* block =
      a.w.data + n / kTileRows * tile_bytes + first / F::kGroups * F::kBlockBytes;
  for (int g = 0; g < groups; g += F::kGroups, block += F::kBlockBytes) {
    put_scales(block, g);
    const std::byte* group = block + F::kHeaderBytes;
    for (int i = 0; i < F::kGroups; ++i, group += F::kGroupBytes) put_codes(group, g + i);
  }
  return block;
}
/// Asks for the bytes of group g of the stretch that starts at `stretch`.
template <class F>
[[gnu::always_inline]] inline void prefetch_group(const std::byte* stretch, int g) {
  constexpr size_t kBytes = F::kBlockBytes / F::kGroups;
  prefetch_bytes(stretch + g * kBytes, kBytes);
}

/// Both planes of nested weights at one group.
struct NestedGroup {
  const std::byte* high;  ///< a block of Q4_0
  const std::byte* low;

  /// Group `first` of the tile of outputs that starts at n.
  static NestedGroup at(const LinearArgs& a, size_t n, size_t first) {
    const size_t tile = n / kTileRows, all_groups = a.w.k / packed::kGroup;
    return {a.w.data + (tile * all_groups + first) * packed::High::kBlockBytes,
            a.w.low + tile * packed::low_tile_bytes(a.w.k) + first * packed::kLowGroupBytes};
  }
  [[gnu::always_inline]] void next() {
    high += packed::High::kBlockBytes;
    low += packed::kLowGroupBytes;
  }
  /// Asks for the bytes of the group that is g further.
  [[gnu::always_inline]] void prefetch(int g) const {
    prefetch_bytes(high + g * packed::High::kBlockBytes, packed::High::kBlockBytes);
    prefetch_bytes(low + g * packed::kLowGroupBytes, packed::kLowGroupBytes);
  }
};

/// Outputs of one tile of weights for a few tokens.
struct OutputRows {
  float* y;  ///< of the first token and output
  size_t stride;
  int n_columns;
  const float* bias;  ///< null unless this is the last stretch
  bool starts;        ///< no stretch came before

  /// `m`, `n`: first token and output; `is_first`, `is_last`: of the stretches of K.
  static OutputRows at(const LinearArgs& a, size_t m, size_t n, bool is_first, bool is_last) {
    const size_t left = a.n_end - n;
    return {output_at(a, m, n), a.y_stride, static_cast<int>(left < kTileRows ? left : kTileRows),
            is_last && a.bias != nullptr ? a.bias + n : nullptr, is_first};
  }
  [[gnu::always_inline]] float* row(int t) const {
    return reinterpret_cast<float*>(reinterpret_cast<std::byte*>(y) + t * stride);
  }
  /// Asks for the line that token t will be stored to, so that the store need not wait for it.
  [[gnu::always_inline]] void prefetch(int t) const {
    asm volatile("prefetchw %0" : : "m"(*row(t)));
  }
};

}  // namespace
}  // namespace tandem::kernels
