// Qwen2 and Qwen2.5: biases on queries, keys and values.

#include "model/architecture.h"
#include "model/blocks.h"

namespace tandem {

Result<ValueId> build_qwen2(GraphContext& c) {
  TANDEM_TRY(const RopeTableId rope, shared_rope_table(c));
  TANDEM_TRY(ValueId x, embed_tokens(c));
  for (uint32_t layer = 0; layer < c.h.n_layers; ++layer) {
    c.enter_layer(layer);
    TANDEM_TRY(x, pre_norm_layer(c, x, SelfAttention{.rope = rope}));
  }
  return output_logits(c, x);
}

}  // namespace tandem
