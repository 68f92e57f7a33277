#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/mapped_file.h"
#include "formats/metadata.h"
#include "formats/model_file.h"

namespace tandem {

/// One GGUF file on its own: a whole model, or one part of a split one.
struct GgufPart {
  std::shared_ptr<const MappedFile> file;
  Metadata metadata;
  std::vector<TensorView> tensors;  ///< in file order; bytes owned by `file`
  uint32_t version = 0;
  uint32_t alignment = 0;
  uint64_t data_end = 0;  ///< byte behind the last tensor (before padding), or behind the header
};

/// Checks and reads everything but the tensors' contents.
Result<GgufPart> parse_gguf_part(std::shared_ptr<const MappedFile> file);

}  // namespace tandem
