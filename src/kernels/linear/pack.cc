// File layout to packed tiles and back (docs/packed_weights.md).

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "kernels/linear/file_blocks.h"
#include "kernels/linear/linear.h"
#include "kernels/linear/packed_format.h"

namespace tandem::kernels {
namespace {

using packed::Format;

size_t n_tiles(size_t n) { return (n + kTileRows - 1) / kTileRows; }

size_t tile_bytes(DType type, size_t k) {
  // BF16 keeps pairs along K together, so an odd K is padded.
  if (type == DType::kBF16) return kTileRows * sizeof(uint16_t) * (k + k % 2);
  return kTileRows * row_bytes(type, k);
}

/// Index of element (k, row) in a tile of plain numbers.
size_t float_place(DType type, size_t k, size_t row) {
  if (type == DType::kBF16) return k / 2 * 2 * kTileRows + row * 2 + k % 2;
  return k * kTileRows + row;
}

template <class Number>
void pack_float_tile(DType type, const std::byte* rows, size_t n_rows, size_t k, std::byte* tile) {
  for (size_t row = 0; row < n_rows; ++row) {
    const std::byte* source = rows + row * k * sizeof(Number);
    for (size_t i = 0; i < k; ++i) {
      std::memcpy(tile + float_place(type, i, row) * sizeof(Number), source + i * sizeof(Number),
                  sizeof(Number));
    }
  }
}

template <class F>
void pack_block(const typename F::Block& block, int row, std::byte* out) {
  packed::put_header(block, row, out);
  for (int i = 0; i < F::kElements; ++i) {
    std::byte* group = out + F::kHeaderBytes + i / packed::kGroup * F::kGroupBytes;
    packed::put_code<F>(group, i % packed::kGroup, row, packed::file_code(block, i));
  }
}

template <class F>
void pack_tile(const std::byte* rows, size_t n_rows, size_t k, std::byte* tile) {
  const size_t n_blocks = k / F::kElements;
  for (size_t row = 0; row < n_rows; ++row) {
    const std::byte* source = rows + row * n_blocks * sizeof(typename F::Block);
    for (size_t b = 0; b < n_blocks; ++b) {
      typename F::Block block;
      std::memcpy(&block, source + b * sizeof block, sizeof block);
      pack_block<F>(block, static_cast<int>(row), tile + b * F::kBlockBytes);
    }
  }
}

void pack_one_tile(DType type, const std::byte* rows, size_t n_rows, size_t k, std::byte* tile) {
  switch (type) {
    case DType::kF32:
      return pack_float_tile<uint32_t>(type, rows, n_rows, k, tile);
    case DType::kF16:
    case DType::kBF16:
      return pack_float_tile<uint16_t>(type, rows, n_rows, k, tile);
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

void unpack_float_row(DType type, const std::byte* tile, size_t row, size_t k, float* out) {
  for (size_t i = 0; i < k; ++i) {
    const size_t place = float_place(type, i, row);
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

bool uses_quantized_activations(DType type) { return info(type).block_size > 1; }

size_t packed_bytes(DType type, size_t n, size_t k) { return n_tiles(n) * tile_bytes(type, k); }

void pack_rows(DType type, const std::byte* file_rows, [[maybe_unused]] size_t n, size_t k,
               size_t row_begin, size_t row_end, std::byte* packed) noexcept {
  TANDEM_DCHECK(row_begin % kTileRows == 0 && (row_end % kTileRows == 0 || row_end == n));
  const size_t bytes = tile_bytes(type, k);
  for (size_t row = row_begin; row < row_end; row += kTileRows) {
    std::byte* tile = packed + row / kTileRows * bytes;
    const size_t n_rows = std::min(kTileRows, row_end - row);
    // Bits are ORed into place, and rows beyond n are zero.
    std::memset(tile, 0, bytes);
    pack_one_tile(type, file_rows + row * row_bytes(type, k), n_rows, k, tile);
  }
}

void unpack_row(const PackedMatrix& w, size_t row, float* out) noexcept {
  const std::byte* tile = w.data + row / kTileRows * tile_bytes(w.type, w.k);
  const size_t place = row % kTileRows;
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
