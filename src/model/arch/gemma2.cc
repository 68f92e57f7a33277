// Gemma 2: soft caps on attention scores and logits, every other layer sliding.

#include "model/arch/gemma.h"
#include "model/architecture.h"

namespace tandem {
namespace {

constexpr uint32_t kLayersOf27B = 46;
constexpr uint32_t kDefaultWindow = 4096;

}  // namespace

Result<ValueId> build_gemma2(GraphContext& c) {
  SelfAttention attention{.scale = gemma_attention_scale(c, kLayersOf27B)};
  TANDEM_TRY(attention.rope, shared_rope_table(c));
  TANDEM_TRY(attention.softcap, c.metadata().f32_or(c.key("attn_logit_softcapping"), 50.0f));
  TANDEM_TRY(const float cap, c.metadata().f32_or(c.key("final_logit_softcapping"), 30.0f));
  TANDEM_TRY(const std::vector<bool> slides, sliding_layers(c, 2));
  TANDEM_TRY(ValueId x, gemma_embedding(c));
  for (uint32_t layer = 0; layer < c.h.n_layers; ++layer) {
    c.enter_layer(layer);
    attention.window = !slides[layer] ? 0 : c.h.window > 0 ? c.h.window : kDefaultWindow;
    TANDEM_TRY(x, gemma_layer(c, x, attention));
  }
  return gemma_logits(c, x, cap);
}

}  // namespace tandem
