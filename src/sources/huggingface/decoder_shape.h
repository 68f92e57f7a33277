#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tandem {

/// What becomes of a layer's matrices (BitNet).
enum class TernaryWeights : uint8_t {
  kNone,      ///< used as they are
  kRounded,   ///< stored as trained, rounded to three values in use
  kMultiply,  ///< packed; the scale beside them multiplies
  kDivide,    ///< packed; the scale beside them divides
};

/// The sizes of a decoder as its configuration states them: what names and shapes of the weights
/// follow from.
struct DecoderShape {
  std::string architecture;  ///< GGUF's name: "llama", "qwen3"
  uint32_t n_layers = 0;
  uint32_t width = 0;
  uint32_t n_heads = 0;
  uint32_t n_kv_heads = 0;
  uint32_t head_size = 0;
  uint32_t ffn_width = 0;
  uint32_t vocabulary = 0;
  /// The embedding is the output head too, so that one in the checkpoint is a repetition.
  bool tied_embeddings = false;
  /// The configuration says `tied_embeddings` itself; otherwise it is the model type's default.
  bool states_tied = false;
  TernaryWeights ternary = TernaryWeights::kNone;
  /// Small tensors of numbers that follow from the configuration: GGUF name and values.
  std::vector<std::pair<std::string, std::vector<float>>> computed;
};

}  // namespace tandem
