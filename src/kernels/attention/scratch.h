#pragma once

#include <cstddef>

#include "tensor/f16.h"

namespace tandem::kernels::attention {

/// Positions one step of the online softmax takes together, aligned to absolute position 0.
inline constexpr size_t kBlock = 64;
/// Query rows (token x query head) that share one widened block; a larger group is taken whole.
/// 128 rows of 64 to 128 floats keep queries, sums and block in a core's second level cache.
inline constexpr size_t kPassRows = 128;
/// The largest register tile of any ISA, in query rows.
inline constexpr size_t kMaxTileRows = 8;

TANDEM_ALWAYS_INLINE constexpr size_t round_up(size_t n, size_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// Tokens that one pass over the cache serves, for `group` query heads a key/value head.
TANDEM_ALWAYS_INLINE constexpr size_t pass_tokens(size_t group) {
  return group < kPassRows ? kPassRows / group : 1;
}

/// Where each array of the scratch begins, in floats; every one is 64-byte aligned.
struct ScratchLayout {
  size_t keys;     ///< (4, key_size, 16): one block of keys, widened
  size_t values;   ///< (64, padded value_size): one block of values, widened
  size_t queries;  ///< (tiles, key_size, tile rows)
  size_t sums;     ///< (rows, padded value_size): unnormalised outputs
  size_t weights;  ///< (tile rows, 64): scores, then exp(score - maximum)
  size_t totals;   ///< (rows, 16): sums of weights, one for each position modulo 16
  size_t maxima;   ///< (rows)
  size_t end;

  TANDEM_ALWAYS_INLINE static constexpr ScratchLayout make(size_t group, size_t key_size,
                                                           size_t value_size) {
    const size_t rows = round_up(pass_tokens(group) * group, 16);
    const size_t value_padded = round_up(value_size, 16);
    ScratchLayout at{};
    at.keys = 0;
    at.values = at.keys + kBlock * key_size;
    at.queries = at.values + kBlock * value_padded;
    // Tiles of up to 8 rows: a last tile may be padded by 7.
    at.sums = at.queries + (rows + kMaxTileRows) * round_up(key_size, 16);
    at.weights = at.sums + rows * value_padded;
    at.totals = at.weights + kMaxTileRows * kBlock;
    at.maxima = at.totals + rows * 16;
    at.end = at.maxima + rows;
    return at;
  }
};

}  // namespace tandem::kernels::attention
