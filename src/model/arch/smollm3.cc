// SmolLM3: Llama's layers, every fourth of them without rope.

#include "model/architecture.h"
#include "model/blocks.h"

namespace tandem {
namespace {

// The model's own constant; its files have no key for it.
constexpr uint32_t kNoRopeInterval = 4;

}  // namespace

Result<ValueId> build_smollm3(GraphContext& c) {
  TANDEM_TRY(const RopeTableId rope, shared_rope_table(c));
  TANDEM_TRY(ValueId x, embed_tokens(c));
  for (uint32_t layer = 0; layer < c.h.n_layers; ++layer) {
    c.enter_layer(layer);
    SelfAttention attention{.pairs = kernels::RopePairs::kAdjacent};
    if ((layer + 1) % kNoRopeInterval != 0) attention.rope = rope;
    TANDEM_TRY(x, pre_norm_layer(c, x, attention));
  }
  return output_logits(c, x);
}

}  // namespace tandem
