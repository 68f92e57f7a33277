// Llama 2 and 3.x, Mistral 7B, SmolLM2 and others that share their file form: adjacent rope pairs,
// whose divisors (Llama 3.1 scaling) come as the tensor rope_freqs.weight.

#include "model/architecture.h"
#include "model/blocks.h"

namespace tandem {

Result<ValueId> build_llama(GraphContext& c) {
  TANDEM_TRY(const RopeTableId rope, shared_rope_table(c));
  TANDEM_TRY(ValueId x, embed_tokens(c));
  for (uint32_t layer = 0; layer < c.h.n_layers; ++layer) {
    c.enter_layer(layer);
    TANDEM_TRY(x, pre_norm_layer(
                      c, x, SelfAttention{.rope = rope, .pairs = kernels::RopePairs::kAdjacent}));
  }
  return output_logits(c, x);
}

}  // namespace tandem
