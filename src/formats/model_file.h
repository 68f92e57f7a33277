#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "formats/metadata.h"
#include "tensor/dtype.h"
#include "tensor/nested_tensor.h"

namespace tandem {

/// A tensor's bytes where they lie in a mapped file.
struct TensorView {
  std::string name;
  DType type;
  /// Innermost dimension first, as GGUF stores them: (K, N) for a matrix of N rows of K elements.
  std::vector<uint64_t> dims;
  /// Exactly the tensor's bytes; owned by `file`. At least 8-byte aligned within it.
  std::span<const std::byte> bytes;
  /// Index into ModelFile::files.
  uint32_t file = 0;
  /// The refinement to 8 bits of a Q4_0 tensor; null when there is none or it was not looked for.
  std::shared_ptr<const NestedTensor> nested = {};

  uint64_t n_elements() const;
  /// "[896, 4864]", for messages.
  std::string shape_text() const;
};

/// An opened model: metadata and tensor views, whatever the format on disk. Immutable once open.
struct ModelFile {
  Metadata metadata;
  std::vector<TensorView> tensors;
  /// The mapped parts, the first one first; they own every tensor's bytes.
  std::vector<std::shared_ptr<const MappedFile>> files;
  /// What the file says it is, for listings: "GGUF v3".
  std::string format;

  /// Null when there is none of that name. Linear in the number of tensors: callers look up once.
  const TensorView* find(std::string_view name) const;
  uint64_t tensor_bytes() const;
};

}  // namespace tandem
