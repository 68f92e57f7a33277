#include "tensor/nested_tensor.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/hash.h"
#include "tensor/blocks/q4_0.h"

namespace tandem {
namespace {

constexpr uint64_t kNone = ~uint64_t{0};
constexpr size_t kRowsPerTask = 64;

BlockQ4_0 block_at(const std::byte* high_row, size_t group) {
  BlockQ4_0 block;
  std::memcpy(&block, high_row + group * sizeof block, sizeof block);
  return block;
}

/// Whether byte i holds an invalid pair in one of its nibbles: q = 0 with a stored l below 8.
bool is_invalid(uint8_t high, uint8_t low) {
  return ((high & 15) == 0 && (low & 15) < 8) || (high >> 4 == 0 && low >> 4 < 8);
}

}  // namespace

uint64_t nested_row_checksum(std::span<const std::byte> high_row,
                             std::span<const std::byte> low_row, uint64_t row) {
  return content_hash(low_row, content_hash(high_row, row));
}

size_t first_invalid_pair(const std::byte* high_row, const std::byte* low_row, size_t columns,
                          uint32_t shift) {
  if (shift < kNestedMaxShift) return columns;
  for (size_t g = 0; g < columns / kNestedGroup; ++g) {
    const BlockQ4_0 block = block_at(high_row, g);
    const std::byte* low = low_row + g * kLowGroupBytes;
    bool invalid = false;
    for (int i = 0; i < 16; ++i) invalid |= is_invalid(block.qs[i], static_cast<uint8_t>(low[i]));
    if (!invalid) continue;
    for (int i = 0; i < 32; ++i) {
      const int at = 4 * (i / 16);
      const int q = block.qs[i % 16] >> at & 15, l = static_cast<int>(low[i % 16]) >> at & 15;
      if (q == 0 && l < 8) return g * kNestedGroup + i;
    }
  }
  return columns;
}

Result<void> verify_nested(const NestedTensor& tensor, ThreadPool& pool) {
  const size_t high_bytes = tensor.high.size() / tensor.rows;
  const size_t low_bytes = low_row_bytes(tensor.columns);
  std::atomic<uint64_t> checksum{0}, bad_row{kNone};
  const size_t n_tasks = (tensor.rows + kRowsPerTask - 1) / kRowsPerTask;
  pool.parallel_for(n_tasks, 1, [&](size_t begin, size_t end, int) {
    const size_t last = std::min<size_t>(end * kRowsPerTask, tensor.rows);
    uint64_t sum = 0;
    for (size_t row = begin * kRowsPerTask; row < last; ++row) {
      const auto high = tensor.high.subspan(row * high_bytes, high_bytes);
      const auto low = tensor.low.subspan(row * low_bytes, low_bytes);
      sum += nested_row_checksum(high, low, row);
      const size_t bad = first_invalid_pair(high.data(), low.data(), tensor.columns, tensor.shift);
      if (bad == tensor.columns) continue;
      uint64_t seen = bad_row.load();
      while (row < seen && !bad_row.compare_exchange_weak(seen, row)) {
      }
    }
    checksum += sum;
  });
  if (checksum != tensor.checksum) {
    return failure(ErrorCode::kCorruptFile,
                   "{}: the checksum of its planes is {:016x}, expected {:016x}: one of them was "
                   "damaged or changed",
                   tensor.name, checksum.load(), tensor.checksum);
  }
  if (bad_row == kNone) return {};
  const size_t element =
      first_invalid_pair(tensor.high.data() + bad_row * high_bytes,
                         tensor.low.data() + bad_row * low_bytes, tensor.columns, tensor.shift);
  return failure(
      ErrorCode::kCorruptFile,
      "{}: row {}, group {}, element {}: h is -8 and l is negative, which does not fit 8 "
      "bits",
      tensor.name, bad_row.load(), element / kNestedGroup, element % kNestedGroup);
}

void decode_nested_row(const std::byte* high_row, const std::byte* low_row, size_t columns,
                       uint32_t shift, float* out) {
  const float unit = 1.0f / static_cast<float>(1u << shift);
  const int offset = (8 << shift) + 8;
  for (size_t g = 0; g < columns / kNestedGroup; ++g) {
    const BlockQ4_0 block = block_at(high_row, g);
    const std::byte* low = low_row + g * kLowGroupBytes;
    const float scale = f16_to_f32(block.d) * unit;
    for (int i = 0; i < 32; ++i) {
      const int at = 4 * (i / 16);
      const int q = block.qs[i % 16] >> at & 15, l = static_cast<int>(low[i % 16]) >> at & 15;
      out[g * kNestedGroup + i] = static_cast<float>((q << shift) + l - offset) * scale;
    }
  }
}

}  // namespace tandem
