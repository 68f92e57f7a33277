// Phi-3 and Phi-4-mini: gate and up projections stored fused, longrope with two sets of divisors,
// partial rotation. The sliding window that some of its files name is not applied, as in the
// runtimes that made these files.

#include "model/architecture.h"
#include "model/blocks.h"

namespace tandem {
namespace {

Result<ValueId> fused_gated_ffn(GraphContext& c, ValueId x) {
  const uint32_t f = c.h.ffn_width;
  TANDEM_TRY(const WeightId gate, c.matrix_rows("ffn_up.weight", 2 * f, c.h.width, 0, f));
  TANDEM_TRY(const WeightId up, c.matrix_rows("ffn_up.weight", 2 * f, c.h.width, f, f));
  TANDEM_TRY(const WeightId down, c.matrix("ffn_down.weight", c.h.width, f));
  const ValueId g = c.build.linear("gate", x, gate);
  const ValueId u = c.build.linear("up", x, up);
  return c.build.linear("down", c.build.glu(g, u, kernels::Activation::kSilu), down);
}

Result<ValueId> layer(GraphContext& c, ValueId x, const SelfAttention& attention) {
  TANDEM_TRY(ValueId h, normed(c, "attention_norm", "attn_norm.weight", x));
  TANDEM_TRY(h, self_attention(c, h, attention));
  x = c.build.add("attention_residual", x, h);
  TANDEM_TRY(h, normed(c, "ffn_norm", "ffn_norm.weight", x));
  TANDEM_TRY(h, fused_gated_ffn(c, h));
  return c.build.add("ffn_residual", x, h);
}

}  // namespace

Result<ValueId> build_phi3(GraphContext& c) {
  SelfAttention attention;
  TANDEM_TRY(attention.rope, shared_rope_table(c));
  TANDEM_TRY(ValueId x, embed_tokens(c));
  for (uint32_t i = 0; i < c.h.n_layers; ++i) {
    c.enter_layer(i);
    TANDEM_TRY(x, layer(c, x, attention));
  }
  return output_logits(c, x);
}

}  // namespace tandem
