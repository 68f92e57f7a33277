#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sources/huggingface/decoder_shape.h"

namespace tandem {

/// A tensor of the GGUF model and the place in the checkpoint that its values come from.
struct PlannedTensor {
  std::string name;          ///< GGUF's
  std::string stored;        ///< without "language_model." and the like
  std::string other_stored;  ///< another spelling of `stored`, or empty
  bool is_vector = false;
  bool optional = false;
  bool is_linear = false;  ///< a matrix of a layer: what BitNet makes ternary, MLC quantizes
  uint64_t rows = 1;       ///< of the tensor; 1 for a vector
  uint64_t columns = 0;
  /// Where it lies in the stored one: rows of a matrix, elements of a vector.
  uint64_t first = 0;
  uint64_t stored_extent = 0;  ///< all rows (elements) of the stored one
  uint64_t head_rows = 0;      ///< see RowOrder
  float addend = 0;
};

/// How a checkpoint names and fuses its tensors.
enum class CheckpointNames : uint8_t { kHuggingFace, kMlc };

/// Every tensor the model's architecture can have, in the order of a GGUF file: embedding, layers,
/// output norm and head. A tied head is not listed.
std::vector<PlannedTensor> plan_tensors(const DecoderShape& shape, CheckpointNames names);

/// The name of a stored tensor as plans spell it: "language_model.model.norm.weight" and
/// "norm.weight" are "model.norm.weight".
std::string plain_stored_name(std::string_view name);

/// Tensors that belong to no part of the model that we run: rotary tables, image and audio towers.
bool is_beside_the_model(std::string_view plain_name);

}  // namespace tandem
