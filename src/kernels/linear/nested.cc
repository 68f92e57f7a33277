// The table of nested rows, the reference among them, and the packing of low planes.

#include "kernels/linear/nested.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "kernels/linear/nested_format.h"
#include "kernels/linear/tiles-inl.h"

namespace tandem::kernels {
namespace {

using packed::High;
using packed::kGroup;
using packed::kLowGroupBytes;
using packed::kRows;

#define TANDEM_NESTED(isa, name) {Isa::isa, DType::kQ4_0, #name, name},
constexpr LinearRow kNestedRows[] = {
#include "kernels/linear/nested_kernels.inc"
};
#undef TANDEM_NESTED

constexpr int kMaxRows = 8;
constexpr size_t kFileGroupBytes = kGroup / 2;

/// Adds group `g` of one tile for all rows of the job.
void add_group(const LinearArgs& a, const TileJob& job, const std::byte* low_tile, size_t g,
               float (&acc)[kMaxRows][kRows]) {
  const std::byte* block = job.tile + g * High::kBlockBytes;
  const int shift = static_cast<int>(a.w.low_shift);
  const float unit = 1.0f / static_cast<float>(1 << shift);
  for (int row = 0; row < kRows; ++row) {
    int codes[kGroup];
    for (int e = 0; e < kGroup; ++e) {
      codes[e] = packed::nested_code_at(block + High::kHeaderBytes, low_tile + g * kLowGroupBytes,
                                        shift, e, row);
    }
    const float scale = High::scale(block, 0, row) * unit;
    for (int r = 0; r < job.n_rows; ++r) {
      const size_t group = (job.m + r) * (a.w.k / kGroup) + g;
      const int8_t* x = a.xq.codes + group * kGroup;
      int sum = 0;
      for (int e = 0; e < kGroup; ++e) sum += codes[e] * x[e];
      acc[r][row] =
          __builtin_fmaf(static_cast<float>(sum), scale * a.xq.scales[group], acc[r][row]);
    }
  }
}

}  // namespace

size_t packed_low_bytes(size_t n, size_t k) {
  return (n + kTileRows - 1) / kTileRows * packed::low_tile_bytes(k);
}

void pack_low_rows(const std::byte* file_rows, [[maybe_unused]] size_t n, size_t k,
                   size_t row_begin, size_t row_end, std::byte* packed_plane) noexcept {
  TANDEM_DCHECK(row_begin % kTileRows == 0 && (row_end % kTileRows == 0 || row_end == n));
  const size_t tile_bytes = packed::low_tile_bytes(k), row_size = k / 2;
  for (size_t first = row_begin; first < row_end; first += kTileRows) {
    std::byte* tile = packed_plane + first / kTileRows * tile_bytes;
    const size_t n_rows = std::min(kTileRows, row_end - first);
    if (n_rows < kTileRows) std::memset(tile, 0, tile_bytes);
    for (size_t g = 0; g < k / kGroup; ++g) {
      std::byte* group = tile + g * kLowGroupBytes;
      for (size_t row = 0; row < n_rows; ++row) {
        // As in Q4_0, a word of four bytes is a quad in the low and quad + 4 in the high nibbles.
        const std::byte* from = file_rows + (first + row) * row_size + g * kFileGroupBytes;
        for (int v = 0; v < 4; ++v) {
          std::memcpy(group + v * packed::kQuadBytes + row * 4, from + 4 * v, 4);
        }
      }
    }
  }
}

void unpack_nested_row(const PackedMatrix& w, size_t row, float* out) noexcept {
  const std::byte* high = w.data + row / kTileRows * (w.k / kGroup * High::kBlockBytes);
  const std::byte* low = w.low + row / kTileRows * packed::low_tile_bytes(w.k);
  const int place = static_cast<int>(row % kTileRows), shift = static_cast<int>(w.low_shift);
  const float unit = 1.0f / static_cast<float>(1 << shift);
  for (size_t g = 0; g < w.k / kGroup; ++g) {
    const std::byte* block = high + g * High::kBlockBytes;
    const float scale = High::scale(block, 0, place) * unit;
    for (int e = 0; e < kGroup; ++e) {
      const int code = packed::nested_code_at(block + High::kHeaderBytes, low + g * kLowGroupBytes,
                                              shift, e, place);
      out[g * kGroup + e] = static_cast<float>(code) * scale;
    }
  }
}

void linear_nested_i8_16_scalar(const LinearArgs& a) noexcept {
  const size_t n_groups = a.w.k / kGroup;
  for_each_tile<kMaxRows>(a, n_groups * High::kBlockBytes, a.w.k, [&](const TileJob& job) {
    const std::byte* low = a.w.low + job.n / kTileRows * packed::low_tile_bytes(a.w.k);
    float acc[kMaxRows][kRows] = {};
    for (size_t g = 0; g < n_groups; ++g) add_group(a, job, low, g, acc);
    for (int r = 0; r < job.n_rows; ++r) {
      float* y = output_at(a, job.m + r, job.n);
      for (int i = 0; i < job.n_cols; ++i) {
        y[i] = a.bias == nullptr ? acc[r][i] : acc[r][i] + a.bias[job.n + i];
      }
    }
  });
}

std::span<const LinearRow> nested_rows() { return kNestedRows; }

const LinearRow& select_nested(Isa isa) {
  const LinearRow* best = &kNestedRows[0];
  for (const LinearRow& row : kNestedRows) {
    if (row.isa <= isa && row.isa > best->isa) best = &row;
  }
  return *best;
}

}  // namespace tandem::kernels
