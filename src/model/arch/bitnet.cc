// BitNet b1.58: norms inside the attention and feed-forward blocks before their last projection,
// and a scale beside each weight matrix. The embedding is always the output head.

#include "model/architecture.h"
#include "model/blocks.h"

namespace tandem {
namespace {

Result<ValueId> attention_block(GraphContext& c, ValueId x, const SelfAttention& attention) {
  TANDEM_TRY(const ValueId h, normed(c, "attention_norm", "attn_norm.weight", x));
  TANDEM_TRY(const Qkv qkv, project_qkv(c, h));
  TANDEM_TRY(const ValueId mixed, attend(c, qkv, attention));
  TANDEM_TRY(const ValueId inner, normed(c, "attention_sub_norm", "attn_sub_norm.weight", mixed));
  TANDEM_TRY(const ValueId out, project_attention_output(c, inner));
  return c.build.add("attention_residual", x, out);
}

Result<ValueId> scaled_linear(GraphContext& c, const std::string& name, ValueId x, uint32_t rows,
                              uint32_t columns) {
  TANDEM_TRY(const WeightId weight, c.matrix(("ffn_" + name + ".weight").c_str(), rows, columns));
  return scale_by_file(c, ("ffn_" + name + ".scale").c_str(), name.c_str(),
                       c.build.linear(name.c_str(), x, weight));
}

Result<ValueId> ffn_block(GraphContext& c, ValueId x) {
  TANDEM_TRY(const ValueId h, normed(c, "ffn_norm", "ffn_norm.weight", x));
  TANDEM_TRY(const ValueId gate, scaled_linear(c, "gate", h, c.h.ffn_width, c.h.width));
  TANDEM_TRY(const ValueId up, scaled_linear(c, "up", h, c.h.ffn_width, c.h.width));
  const ValueId gated = c.build.glu(gate, up, kernels::Activation::kSilu);
  TANDEM_TRY(const ValueId inner, normed(c, "ffn_sub_norm", "ffn_sub_norm.weight", gated));
  TANDEM_TRY(const ValueId out, scaled_linear(c, "down", inner, c.h.width, c.h.ffn_width));
  return c.build.add("ffn_residual", x, out);
}

}  // namespace

Result<ValueId> build_bitnet(GraphContext& c) {
  SelfAttention attention;
  TANDEM_TRY(attention.rope, shared_rope_table(c));
  TANDEM_TRY(ValueId x, embed_tokens(c));
  for (uint32_t i = 0; i < c.h.n_layers; ++i) {
    c.enter_layer(i);
    TANDEM_TRY(x, attention_block(c, x, attention));
    TANDEM_TRY(x, ffn_block(c, x));
  }
  return output_logits(c, x);
}

}  // namespace tandem
