#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "formats/gguf_writer.h"

namespace tandem {

/// Everything of a GGUF file that comes before the tensors' bytes.
struct GgufPreamble {
  std::string bytes;          ///< padded up to the start of the data section
  uint32_t alignment = 0;     ///< each tensor's bytes are padded to a multiple of it
  uint64_t n_data_bytes = 0;  ///< of all tensors with their padding
};

/// Lays a file out. Errors: kInvalidArgument naming the key or tensor that no reader would accept.
Result<GgufPreamble> encode_gguf_preamble(const Metadata& metadata,
                                          std::span<const TensorToWrite> tensors);

}  // namespace tandem
