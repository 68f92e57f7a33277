#pragma once

#include <vector>

#include "model/blocks.h"

namespace tandem {

/// What Gemma 2 and Gemma 3 share: norms before and after each block, a scaled embedding, and
/// layers that slide over a window at fixed places.

/// For each layer, whether it slides: from <architecture>.attention.sliding_window_pattern (an
/// interval or one flag a layer), else every layer but each `interval`th.
Result<std::vector<bool>> sliding_layers(const GraphContext& context, uint32_t interval);

/// The embedding times sqrt(width).
Result<ValueId> gemma_embedding(GraphContext& context);

/// x = x + norm(self_attention(norm(x))); x = x + norm(gated_ffn(norm(x)))
Result<ValueId> gemma_layer(GraphContext& context, ValueId x, const SelfAttention& attention);

/// Logits, soft-capped when `cap` is not 0.
Result<ValueId> gemma_logits(GraphContext& context, ValueId x, float cap);

/// 1 / sqrt(key_size), but 1 / sqrt(width / heads) in the largest model, known by its layers.
float gemma_attention_scale(const GraphContext& context, uint32_t layers_of_largest);

}  // namespace tandem
