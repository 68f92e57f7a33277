#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/metadata.h"

namespace tandem {

/// The sizes and constants of a real model, enough to write a file of the same form with other
/// weights.
struct ModelShape {
  std::string name;
  std::string architecture;
  uint32_t n_layers;
  uint32_t width;
  uint32_t n_heads;
  uint32_t n_kv_heads;
  uint32_t key_size;
  uint32_t value_size;
  uint32_t ffn_width;
  uint32_t vocabulary;
  uint32_t context_length;
  float norm_epsilon = 1e-6f;
  float rope_base = 10000.0f;
  uint32_t n_rotated = 0;  ///< 0: the whole key
  uint32_t window = 0;     ///< attention.sliding_window; 0: none
  bool tied = true;        ///< the embedding is the output head
  bool qkv_bias = false;
  float llama3_factor = 0;        ///< 0: no rope_freqs.weight
  bool longrope = false;          ///< with rope_factors_long and _short
  uint32_t original_context = 0;  ///< rope.scaling.original_context_length; 0: not written
  /// Further keys, without the architecture's name before them.
  std::vector<std::pair<std::string, MetadataValue>> extra = {};
};

/// The shapes that `tandem synth --shape` knows.
std::span<const ModelShape> known_shapes();

/// By name, case ignored. Errors: kInvalidArgument listing the known ones.
Result<ModelShape> find_shape(std::string_view name);

/// GGUF's keys for the shape, the tokenizer's excepted.
Metadata shape_metadata(const ModelShape& shape);

}  // namespace tandem
