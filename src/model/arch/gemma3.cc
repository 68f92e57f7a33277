// Gemma 3: norms of queries and keys, five sliding layers to each full one, and rope frequencies of
// their own in the sliding layers.

#include "model/arch/gemma.h"
#include "model/architecture.h"
#include "model/rope_table.h"

namespace tandem {
namespace {

constexpr uint32_t kLayersOf27B = 62;

}  // namespace

Result<ValueId> build_gemma3(GraphContext& c) {
  TANDEM_TRY(const RopeTableId full_rope, shared_rope_table(c));
  TANDEM_TRY(const float sliding_base, c.metadata().f32_or(c.key("rope.freq_base_swa"), 10000.0f));
  const RopeTableId sliding_rope =
      c.build.add_rope_table(make_rope_table({c.h.n_rotated, sliding_base, {}, {}}));
  TANDEM_TRY(const float cap, c.metadata().f32_or(c.key("final_logit_softcapping"), 0.0f));
  TANDEM_TRY(const std::vector<bool> slides, sliding_layers(c, 6));
  TANDEM_TRY(ValueId x, gemma_embedding(c));
  for (uint32_t layer = 0; layer < c.h.n_layers; ++layer) {
    c.enter_layer(layer);
    const bool sliding = c.h.window > 0 && slides[layer];
    TANDEM_TRY(x, gemma_layer(c, x,
                              {.rope = sliding ? sliding_rope : full_rope,
                               .qk_norm = true,
                               .window = sliding ? c.h.window : 0,
                               .scale = gemma_attention_scale(c, kLayersOf27B)}));
  }
  return gemma_logits(c, x, cap);
}

}  // namespace tandem
