#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/mapped_file.h"
#include "base/result.h"
#include "base/thread_pool.h"

// Nested weights: a Q4_0 tensor and the low plane that refines it to 8 bits
// (docs/nested_format.md).

namespace tandem {

inline constexpr uint32_t kNestedGroup = 32;    ///< weights along K that share a scale
inline constexpr uint32_t kLowGroupBytes = 16;  ///< of a group in the low plane
inline constexpr uint32_t kNestedMinShift = 3;  ///< e
inline constexpr uint32_t kNestedMaxShift = 4;

/// Bytes of one row of the low plane; `columns` is a multiple of kNestedGroup.
inline size_t low_row_bytes(size_t columns) { return columns / 2; }

/// A tensor whose low plane was found. The views lie in mapped files, which `files` keeps.
struct NestedTensor {
  std::string name;      ///< with its file, for messages: "m.gguf: tensor 'output.weight'"
  uint64_t rows = 0;     ///< N
  uint64_t columns = 0;  ///< K
  std::span<const std::byte> high;   ///< (N, K) in Q4_0
  std::span<const std::byte> low;    ///< (N, K / 2)
  uint32_t shift = kNestedMaxShift;  ///< e
  uint64_t checksum = 0;
  std::shared_ptr<const MappedFile> low_file;  ///< owns `low`
};

/// One row's share of a tensor's checksum; the shares are added modulo 2^64.
uint64_t nested_row_checksum(std::span<const std::byte> high_row,
                             std::span<const std::byte> low_row, uint64_t row);

/// The first element whose pair is invalid (e = 4: h = -8 with l < 0), or `columns`.
size_t first_invalid_pair(const std::byte* high_row, const std::byte* low_row, size_t columns,
                          uint32_t shift);

/// Reads every byte of both planes. Errors: kCorruptFile for a wrong checksum, or naming tensor,
/// row and group of the first invalid pair.
Result<void> verify_nested(const NestedTensor& tensor, ThreadPool& pool);

/// A row's weights from both planes: exact products of an 8-bit code and s 2^-e.
void decode_nested_row(const std::byte* high_row, const std::byte* low_row, size_t columns,
                       uint32_t shift, float* out);

}  // namespace tandem
