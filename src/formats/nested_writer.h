#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "formats/gguf_writer.h"

namespace tandem {

/// A low plane about to be written.
struct LowPlaneToWrite {
  std::span<const std::byte> bytes;  ///< (N, K / 2); valid until the next tensor is asked for
  uint32_t shift = 0;                ///< e
  uint64_t checksum = 0;             ///< sum of nested_row_checksum over the rows
};

/// A tensor, and for nested ones the low plane.
struct NestedTensorToWrite {
  TensorToWrite tensor;
  bool has_low = false;  ///< then `tensor` is Q4_0
  /// Called once, after tensor.produce.
  std::function<Result<LowPlaneToWrite>()> produce_low = {};
};

/// Writes a GGUF file with its low planes behind the tensors, or in a file of its own when
/// `sidecar`, a path in the folder of `path`, is not empty. Adds the keys that describe them.
/// Atomic: neither file has its final name before all is written. No tensor is kept: low planes go
/// straight to their place.
Result<void> write_nested_gguf(const std::string& path, const std::string& sidecar,
                               Metadata metadata, std::span<const NestedTensorToWrite> tensors,
                               const std::function<void(uint64_t, uint64_t)>& progress = {});

}  // namespace tandem
