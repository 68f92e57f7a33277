#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/metadata.h"
#include "tensor/dtype.h"

namespace tandem {

/// A tensor about to be written: its description now, its bytes when the writer asks for them, so
/// that no more than one tensor is ever in memory.
struct TensorToWrite {
  std::string name;
  DType type;
  std::vector<uint64_t> dims;  ///< innermost first
  /// Called once, in order. Returned bytes must stay valid until the next call of any producer.
  std::function<Result<std::span<const std::byte>>()> produce;
};

/// Writes a GGUF version 3 file at `path`, atomically. Keys are written in map order with
/// general.architecture first; the same input gives the same bytes.
/// `progress`, when set, is called after each tensor with (bytes done, bytes total).
Result<void> write_gguf(const std::string& path, const Metadata& metadata,
                        std::span<const TensorToWrite> tensors,
                        const std::function<void(uint64_t, uint64_t)>& progress = {});

}  // namespace tandem
