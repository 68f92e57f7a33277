// The parts that most decoder layers share.

#include "model/blocks.h"

#include "model/rope_table.h"

namespace tandem {
namespace {

Result<ValueId> project(GraphContext& c, const char* name, ValueId x, uint32_t rows) {
  const std::string weight_name = std::string("attn_") + name + ".weight";
  const std::string bias_name = std::string("attn_") + name + ".bias";
  TANDEM_TRY(const WeightId weight, c.matrix(weight_name.c_str(), rows, c.h.width));
  TANDEM_TRY(const auto bias, c.optional_vector(bias_name.c_str(), rows));
  return c.build.linear(name, x, weight, bias);
}

Result<ValueId> normalize_heads(GraphContext& c, const char* name, ValueId x) {
  const std::string weight_name = std::string("attn_") + name + ".weight";
  TANDEM_TRY(const WeightId weight, c.vector(weight_name.c_str(), c.h.key_size));
  return c.build.qk_norm(name, x, weight, c.h.key_size, c.h.norm_epsilon);
}

}  // namespace

Result<Qkv> project_qkv(GraphContext& c, ValueId x) {
  Qkv out;
  TANDEM_TRY(out.q, project(c, "q", x, c.h.n_heads * c.h.key_size));
  TANDEM_TRY(out.k, project(c, "k", x, c.h.n_kv_heads * c.h.key_size));
  TANDEM_TRY(out.v, project(c, "v", x, c.h.n_kv_heads * c.h.value_size));
  return out;
}

Result<ValueId> attend(GraphContext& c, Qkv qkv, const SelfAttention& options) {
  if (options.qk_norm) {
    TANDEM_TRY(qkv.q, normalize_heads(c, "q_norm", qkv.q));
    TANDEM_TRY(qkv.k, normalize_heads(c, "k_norm", qkv.k));
  }
  if (options.rope) {
    const uint32_t size = c.h.key_size;
    qkv.q = c.build.rope("q_rope", qkv.q, {*options.rope, c.h.n_heads, size, options.pairs});
    qkv.k = c.build.rope("k_rope", qkv.k, {*options.rope, c.h.n_kv_heads, size, options.pairs});
  }
  if (options.query_scale) {
    qkv.q = c.build.position_scale("q_scale", qkv.q, *options.query_scale);
  }
  const StateId state =
      c.build.add_state(KvState{c.h.n_kv_heads, c.h.key_size, c.h.value_size, options.window});
  c.build.kv_write(qkv.k, qkv.v, state);
  const float scale = options.scale > 0 ? options.scale : c.h.attention_scale;
  return c.build.attention(qkv.q, {state, c.h.n_heads, scale, options.softcap});
}

Result<ValueId> self_attention(GraphContext& c, ValueId x, const SelfAttention& options) {
  TANDEM_TRY(const Qkv qkv, project_qkv(c, x));
  TANDEM_TRY(const ValueId mixed, attend(c, qkv, options));
  TANDEM_TRY(const WeightId weight,
             c.matrix("attn_output.weight", c.h.width, c.h.n_heads * c.h.value_size));
  TANDEM_TRY(const auto bias, c.optional_vector("attn_output.bias", c.h.width));
  return c.build.linear("attention_output", mixed, weight, bias);
}

Result<ValueId> gated_ffn(GraphContext& c, ValueId x, kernels::Activation activation) {
  TANDEM_TRY(const WeightId gate, c.matrix("ffn_gate.weight", c.h.ffn_width, c.h.width));
  TANDEM_TRY(const WeightId up, c.matrix("ffn_up.weight", c.h.ffn_width, c.h.width));
  TANDEM_TRY(const WeightId down, c.matrix("ffn_down.weight", c.h.width, c.h.ffn_width));
  TANDEM_TRY(const auto gate_bias, c.optional_vector("ffn_gate.bias", c.h.ffn_width));
  TANDEM_TRY(const auto up_bias, c.optional_vector("ffn_up.bias", c.h.ffn_width));
  TANDEM_TRY(const auto down_bias, c.optional_vector("ffn_down.bias", c.h.width));
  const ValueId g = c.build.linear("gate", x, gate, gate_bias);
  const ValueId u = c.build.linear("up", x, up, up_bias);
  return c.build.linear("down", c.build.glu(g, u, activation), down, down_bias);
}

Result<ValueId> output_logits(GraphContext& c, ValueId x) {
  c.leave_layers();
  TANDEM_TRY(const WeightId norm, c.vector("output_norm.weight", c.h.width));
  TANDEM_TRY(const WeightId head, c.output_head());
  const ValueId wanted = c.build.select_rows(x);
  const ValueId normed = c.build.rms_norm("output_norm", wanted, norm, c.h.norm_epsilon);
  return c.build.linear("logits", normed, head);
}

Result<ValueId> embed_tokens(GraphContext& c) {
  TANDEM_TRY(const WeightId table, c.matrix("token_embd.weight", c.h.vocabulary, c.h.width));
  return c.build.embed(table);
}

Result<RopeTableId> shared_rope_table(GraphContext& c) {
  TANDEM_TRY(const auto divisors, c.optional_numbers("rope_freqs.weight", c.h.n_rotated / 2));
  return c.build.add_rope_table(
      make_rope_table({c.h.n_rotated, c.h.rope_base, c.h.rope_scaling, divisors}));
}

Result<ValueId> pre_norm_layer(GraphContext& c, ValueId x, const SelfAttention& options) {
  TANDEM_TRY(const WeightId attention_norm, c.vector("attn_norm.weight", c.h.width));
  const ValueId normed = c.build.rms_norm("attention_norm", x, attention_norm, c.h.norm_epsilon);
  TANDEM_TRY(const ValueId attention, self_attention(c, normed, options));
  x = c.build.add("attention_residual", x, attention);

  TANDEM_TRY(const WeightId ffn_norm, c.vector("ffn_norm.weight", c.h.width));
  const ValueId ffn_input = c.build.rms_norm("ffn_norm", x, ffn_norm, c.h.norm_epsilon);
  TANDEM_TRY(const ValueId ffn, gated_ffn(c, ffn_input, kernels::Activation::kSilu));
  return c.build.add("ffn_residual", x, ffn);
}

}  // namespace tandem
