// Mistral 3 and Ministral 3: Llama's layers with YaRN, and queries that grow with the logarithm of
// the position beyond the original context.

#include "model/architecture.h"
#include "model/blocks.h"

namespace tandem {
namespace {

Result<std::optional<PositionScaleAttributes>> query_scale(const GraphContext& c) {
  TANDEM_TRY(const float coefficient,
             c.metadata().f32_or(c.key("attention.temperature_scale"), 0.0f));
  if (coefficient == 0) return std::nullopt;
  return PositionScaleAttributes{coefficient, c.h.rope_scaling.original_context};
}

}  // namespace

Result<ValueId> build_mistral3(GraphContext& c) {
  SelfAttention attention{.pairs = kernels::RopePairs::kAdjacent};
  TANDEM_TRY(attention.rope, shared_rope_table(c));
  TANDEM_TRY(attention.query_scale, query_scale(c));
  TANDEM_TRY(ValueId x, embed_tokens(c));
  for (uint32_t layer = 0; layer < c.h.n_layers; ++layer) {
    c.enter_layer(layer);
    TANDEM_TRY(x, pre_norm_layer(c, x, attention));
  }
  return output_logits(c, x);
}

}  // namespace tandem
