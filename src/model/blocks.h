#pragma once

#include <optional>

#include "model/graph_context.h"

namespace tandem {

/// The parts that most decoder layers share. Each looks its tensors up under GGUF's usual names in
/// the layer entered last and appends its nodes.

/// What varies between the self-attention blocks of the architectures.
struct SelfAttention {
  /// None: the layer has no rope.
  std::optional<RopeTableId> rope = std::nullopt;
  kernels::RopePairs pairs = kernels::RopePairs::kHalves;
  bool qk_norm = false;  ///< RMS norm of each query and key head before rope
  uint32_t window = 0;   ///< 0: all positions
  float softcap = 0;
  float scale = 0;  ///< 0: the hyperparameters' attention_scale
  std::optional<PositionScaleAttributes> query_scale = std::nullopt;
};

/// Queries, keys and values of the attention block's input; biases are used when the file has them.
struct Qkv {
  ValueId q, k, v;
};
Result<Qkv> project_qkv(GraphContext& context, ValueId x);

/// Norm, rope, cache and attention over projected heads; returns (tokens, n_heads * value_size).
Result<ValueId> attend(GraphContext& context, Qkv qkv, const SelfAttention& options);

/// The projection of the heads' results back to the width.
Result<ValueId> project_attention_output(GraphContext& context, ValueId mixed);

/// attend(project_qkv(x)) followed by the output projection.
Result<ValueId> self_attention(GraphContext& context, ValueId x, const SelfAttention& options);

/// down(activation(gate(x)) * up(x))
Result<ValueId> gated_ffn(GraphContext& context, ValueId x, kernels::Activation activation);

/// Final norm, the rows whose logits are wanted, and the output head.
Result<ValueId> output_logits(GraphContext& context, ValueId x);

/// Embedding lookup.
Result<ValueId> embed_tokens(GraphContext& context);

/// `x` times the single number that the tensor holds, or `x` when there is no such tensor.
Result<ValueId> scale_by_file(GraphContext& context, const char* tensor, const char* name,
                              ValueId x);

/// The model's single rope table. Divisors come from the tensor rope_freqs.weight (Llama 3.1), or
/// from rope_factors_long or _short.weight (longrope): long when the session's context is beyond
/// what the model was first trained on, for all its positions.
Result<RopeTableId> shared_rope_table(GraphContext& context);

/// RMS norm over the width with the weight that the tensor holds.
Result<ValueId> normed(GraphContext& context, const char* name, const char* tensor, ValueId x);

/// The plain pre-norm layer of Llama and its many kin:
///   x = x + self_attention(norm(x)); x = x + gated_ffn(norm(x))
Result<ValueId> pre_norm_layer(GraphContext& context, ValueId x, const SelfAttention& options);

}  // namespace tandem
