#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "formats/model_file.h"

namespace tandem {

/// How rotary frequencies are stretched beyond the context a model was first trained on.
struct RopeScaling {
  enum class Kind : uint8_t { kNone, kLinear, kYarn, kLongRope };
  Kind kind = Kind::kNone;
  float factor = 1.0f;            ///< context stretch
  uint32_t original_context = 0;  ///< tokens the model was first trained on; 0: not stated
  float attention_factor = 0.0f;  ///< magnitude stated by the file; 0: not stated
  float yarn_extrapolation = 1.0f;
  float yarn_beta_fast = 32.0f;
  float yarn_beta_slow = 1.0f;
  float yarn_log_multiplier = 0.0f;
};

/// The sizes and constants of a decoder model that every architecture shares, as its file states
/// them. What only one architecture has, its own file reads.
struct Hyperparameters {
  std::string architecture;
  uint32_t n_layers = 0;
  uint32_t width = 0;  ///< channels of the residual stream
  uint32_t n_heads = 0;
  uint32_t n_kv_heads = 0;
  uint32_t key_size = 0;    ///< channels of one query or key head
  uint32_t value_size = 0;  ///< channels of one value head
  uint32_t ffn_width = 0;
  uint32_t vocabulary = 0;
  uint32_t context_length = 0;  ///< positions the model was trained for
  float norm_epsilon = 0;
  uint32_t n_rotated = 0;  ///< leading channels of a head that rope turns
  float rope_base = 10000.0f;
  RopeScaling rope_scaling;
  float attention_scale = 0;  ///< factor of q.k; 1 / sqrt(key_size) unless stated
  uint32_t window = 0;        ///< sliding window in positions, 0: none stated

  /// Errors name the file, the key, its value and the limit.
  static Result<Hyperparameters> read(const ModelFile& file);
};

}  // namespace tandem
