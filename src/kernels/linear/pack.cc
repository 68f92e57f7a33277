// File layout to packed tiles and back (docs/packed_weights.md).

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "kernels/linear/file_blocks.h"
#include "kernels/linear/fp8_format.h"
#include "kernels/linear/linear.h"
#include "kernels/linear/packed_format.h"
#include "kernels/linear/pruned_format.h"

namespace tandem::kernels {
namespace {

using packed::Format;

size_t n_tiles(size_t n) { return (n + kTileRows - 1) / kTileRows; }

/// Elements along K that lie side by side in a tile of plain numbers.
size_t pair_of(DType type) { return type == DType::kBF16 ? 2 : 1; }

size_t tile_bytes(DType type, size_t k) {
  const size_t padded_k = k + k % pair_of(type);
  return kTileRows * row_bytes(type, padded_k);
}

/// Index of element (k, row) in a tile of plain numbers.
inline size_t float_place(size_t pair, size_t k, size_t row) {
  return k / pair * pair * kTileRows + row * pair + k % pair;
}

/// A stretch of K at a time, so that what the rows write side by side stays in the nearest cache.
template <class Number, size_t pair>
void pack_float_tile(const std::byte* rows, size_t n_rows, size_t k, std::byte* tile) {
  constexpr size_t kStretch = 64;
  for (size_t begin = 0; begin < k; begin += kStretch) {
    const size_t end = std::min(k, begin + kStretch);
    for (size_t row = 0; row < n_rows; ++row) {
      for (size_t i = begin; i < end; ++i) {
        std::memcpy(tile + float_place(pair, i, row) * sizeof(Number),
                    rows + (row * k + i) * sizeof(Number), sizeof(Number));
      }
    }
  }
}

template <class F>
void pack_planes(const typename F::Block& block, int row, std::byte* out) {
  constexpr int kWords = F::kLowBits + F::kHighBits;
  packed::put_header(block, row, out);
  std::byte* group = out + F::kHeaderBytes;
  for (int g = 0; g < F::kGroups; ++g, group += F::kGroupBytes) {
    uint32_t words[kWords];
    packed::group_words(block, g, words);
    for (int v = 0; v < kWords; ++v) {
      std::memcpy(group + v * packed::kQuadBytes + row * sizeof(uint32_t), words + v,
                  sizeof(uint32_t));
    }
  }
}

/// Q4_24 and MXFP8.
template <class F>
concept HasOwnLayout = requires(const typename F::Block& block, std::byte* out) {
  F::pack(block, 0, out);
};

template <class F>
void pack_block(const typename F::Block& block, int row, std::byte* out) {
  if constexpr (HasOwnLayout<F>) {
    F::pack(block, row, out);
  } else {
    pack_planes<F>(block, row, out);
  }
}

template <class F>
void pack_tile(const std::byte* rows, size_t n_rows, size_t k, std::byte* tile) {
  const size_t n_blocks = k / F::kElements;
  for (size_t b = 0; b < n_blocks; ++b) {
    for (size_t row = 0; row < n_rows; ++row) {
      typename F::Block block;
      std::memcpy(&block, rows + (row * n_blocks + b) * sizeof block, sizeof block);
      pack_block<F>(block, static_cast<int>(row), tile + b * F::kBlockBytes);
    }
  }
}

void pack_one_tile(DType type, const std::byte* rows, size_t n_rows, size_t k, std::byte* tile) {
  switch (type) {
    case DType::kF32:
      return pack_float_tile<uint32_t, 1>(rows, n_rows, k, tile);
    case DType::kF16:
      return pack_float_tile<uint16_t, 1>(rows, n_rows, k, tile);
    case DType::kBF16:
      return pack_float_tile<uint16_t, 2>(rows, n_rows, k, tile);
    case DType::kMXFP8:
      return pack_tile<packed::Fp8>(rows, n_rows, k, tile);
    case DType::kQ4_24:
      return pack_tile<packed::Pruned>(rows, n_rows, k, tile);
    default:
      packed::visit_format(type, [&]<DType T>() { pack_tile<Format<T>>(rows, n_rows, k, tile); });
  }
}

/// One row of one packed block.
template <class F>
void unpack_block(const std::byte* block, int row, float* out) {
  for (int i = 0; i < F::kElements; ++i) {
    const int g = i / packed::kGroup;
    const std::byte* group = block + F::kHeaderBytes + g * F::kGroupBytes;
    const int code = packed::code_at<F>(group, i % packed::kGroup, row);
    const float value = static_cast<float>(packed::value_of<F>(code));
    if constexpr (F::kSums == packed::Sums::kGroup) {
      out[i] = value * F::scale(block, g, row);
    } else if constexpr (F::kSums == packed::Sums::kGroupMinimum) {
      out[i] = value * F::scale(block, g, row) + F::minimum(block, g, row);
    } else {
      const int half = i / 16;
      const float sub_scale = static_cast<float>(F::sub_scale(block, half, row));
      out[i] = value * (F::d(block, row) * sub_scale);
      if constexpr (packed::kHasMinimum<F>) {
        out[i] += F::dmin(block, row) * static_cast<float>(F::sub_minimum(block, half, row));
      }
    }
  }
}

template <class F>
void unpack_own_row(const std::byte* tile, int row, size_t k, float* out) {
  for (size_t i = 0; i < k; i += F::kElements, tile += F::kBlockBytes) {
    decode(F::unpack(tile, row), out + i);
  }
}

void unpack_float_row(DType type, const std::byte* tile, size_t row, size_t k, float* out) {
  for (size_t i = 0; i < k; ++i) {
    const size_t place = float_place(pair_of(type), i, row);
    if (type == DType::kF32) {
      std::memcpy(out + i, tile + place * sizeof(float), sizeof(float));
      continue;
    }
    uint16_t half;
    std::memcpy(&half, tile + place * sizeof half, sizeof half);
    out[i] = type == DType::kF16 ? f16_to_f32(half) : bf16_to_f32(half);
  }
}

}  // namespace

bool uses_quantized_activations(DType type) {
  return info(type).block_size > 1 && type != DType::kMXFP8;
}

size_t packed_bytes(DType type, size_t n, size_t k) { return n_tiles(n) * tile_bytes(type, k); }

void pack_rows(DType type, const std::byte* file_rows, [[maybe_unused]] size_t n, size_t k,
               size_t row_begin, size_t row_end, std::byte* packed) noexcept {
  TANDEM_DCHECK(row_begin % kTileRows == 0 && (row_end % kTileRows == 0 || row_end == n));
  const size_t bytes = tile_bytes(type, k);
  for (size_t row = row_begin; row < row_end; row += kTileRows) {
    std::byte* tile = packed + row / kTileRows * bytes;
    const size_t n_rows = std::min(kTileRows, row_end - row);
    // Rows beyond n, and the second half of an odd BF16 pair, are zero.
    if (n_rows < kTileRows || type == DType::kBF16) std::memset(tile, 0, bytes);
    pack_one_tile(type, file_rows + row * row_bytes(type, k), n_rows, k, tile);
  }
}

void unpack_row(const PackedMatrix& w, size_t row, float* out) noexcept {
  const std::byte* tile = w.data + row / kTileRows * tile_bytes(w.type, w.k);
  const size_t place = row % kTileRows;
  if (w.type == DType::kMXFP8) {
    return unpack_own_row<packed::Fp8>(tile, static_cast<int>(place), w.k, out);
  }
  if (w.type == DType::kQ4_24) {
    return unpack_own_row<packed::Pruned>(tile, static_cast<int>(place), w.k, out);
  }
  if (!uses_quantized_activations(w.type)) {
    return unpack_float_row(w.type, tile, place, w.k, out);
  }
  packed::visit_format(w.type, [&]<DType T>() {
    using F = Format<T>;
    for (size_t b = 0; b < w.k / F::kElements; ++b) {
      unpack_block<F>(tile + b * F::kBlockBytes, static_cast<int>(place), out + b * F::kElements);
    }
  });
}

}  // namespace tandem::kernels
