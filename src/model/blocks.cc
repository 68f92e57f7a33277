// The parts that most decoder layers share.

#include "model/blocks.h"

#include "model/rope_table.h"

namespace tandem {

Result<ValueId> scale_by_file(GraphContext& c, const char* tensor, const char* name, ValueId x) {
  TANDEM_TRY(const std::vector<float> scale, c.optional_numbers(tensor, 1));
  return scale.empty() ? x : c.build.scale((std::string(name) + "_scale").c_str(), x, scale[0]);
}

namespace {

std::string attention_tensor(const char* name, const char* kind) {
  return std::string("attn_") + name + "." + kind;
}

/// One of several projections of the attention block's input that a file may store fused, one
/// after the other, as attn_qkv.
struct Projection {
  const char* name;
  uint32_t first;  ///< row in attn_qkv
  uint32_t rows;
};

Result<ValueId> project(GraphContext& c, const Projection& p, ValueId x, uint32_t fused_rows) {
  const bool fused = c.has("attn_qkv.weight");
  const char* file_name = fused ? "qkv" : p.name;
  const uint32_t total = fused ? fused_rows : p.rows;
  const uint32_t first = fused ? p.first : 0;
  TANDEM_TRY(const WeightId weight, c.matrix_rows(attention_tensor(file_name, "weight").c_str(),
                                                  total, c.h.width, first, p.rows));
  TANDEM_TRY(const auto bias, c.optional_vector_part(attention_tensor(file_name, "bias").c_str(),
                                                     total, first, p.rows));
  return scale_by_file(c, attention_tensor(p.name, "scale").c_str(), p.name,
                       c.build.linear(p.name, x, weight, bias));
}

Result<ValueId> normalize_heads(GraphContext& c, const char* name, ValueId x) {
  const std::string weight_name = std::string("attn_") + name + ".weight";
  TANDEM_TRY(const WeightId weight, c.vector(weight_name.c_str(), c.h.key_size));
  return c.build.qk_norm(name, x, weight, c.h.key_size, c.h.norm_epsilon);
}

}  // namespace

Result<Qkv> project_qkv(GraphContext& c, ValueId x) {
  const uint32_t q_rows = c.h.n_heads * c.h.key_size;
  const uint32_t k_rows = c.h.n_kv_heads * c.h.key_size;
  const uint32_t v_rows = c.h.n_kv_heads * c.h.value_size;
  const uint32_t all = q_rows + k_rows + v_rows;
  Qkv out;
  TANDEM_TRY(out.q, project(c, {"q", 0, q_rows}, x, all));
  TANDEM_TRY(out.k, project(c, {"k", q_rows, k_rows}, x, all));
  TANDEM_TRY(out.v, project(c, {"v", q_rows + k_rows, v_rows}, x, all));
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
  const StateId state = c.build.add_state(
      KvState{c.h.n_kv_heads, c.h.key_size, c.h.value_size, options.window, c.kv_storage()});
  c.build.kv_write(qkv.k, qkv.v, state);
  const float scale = options.scale > 0 ? options.scale : c.h.attention_scale;
  return c.build.attention(qkv.q, {state, c.h.n_heads, scale, options.softcap});
}

Result<ValueId> project_attention_output(GraphContext& c, ValueId mixed) {
  TANDEM_TRY(const WeightId weight,
             c.matrix("attn_output.weight", c.h.width, c.h.n_heads * c.h.value_size));
  TANDEM_TRY(const auto bias, c.optional_vector("attn_output.bias", c.h.width));
  return scale_by_file(c, "attn_output.scale", "attention_output",
                       c.build.linear("attention_output", mixed, weight, bias));
}

Result<ValueId> self_attention(GraphContext& c, ValueId x, const SelfAttention& options) {
  TANDEM_TRY(const Qkv qkv, project_qkv(c, x));
  TANDEM_TRY(const ValueId mixed, attend(c, qkv, options));
  return project_attention_output(c, mixed);
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
  TANDEM_TRY(const WeightId head, c.output_head());
  TANDEM_TRY(const ValueId h,
             normed(c, "output_norm", "output_norm.weight", c.build.select_rows(x)));
  TANDEM_TRY(const auto bias, c.optional_vector("output.bias", c.h.vocabulary));
  return c.build.linear("logits", h, head, bias);
}

Result<ValueId> embed_tokens(GraphContext& c) {
  TANDEM_TRY(const WeightId table, c.matrix("token_embd.weight", c.h.vocabulary, c.h.width));
  return c.build.embed(table);
}

Result<RopeTableId> shared_rope_table(GraphContext& c) {
  const bool is_long = c.context() > c.h.rope_scaling.original_context;
  const char* tensor = c.has("rope_freqs.weight") ? "rope_freqs.weight"
                       : is_long                  ? "rope_factors_long.weight"
                                                  : "rope_factors_short.weight";
  TANDEM_TRY(const auto divisors, c.optional_numbers(tensor, c.h.n_rotated / 2));
  return c.build.add_rope_table(
      make_rope_table({c.h.n_rotated, c.h.rope_base, c.h.rope_scaling, divisors}));
}

Result<ValueId> normed(GraphContext& c, const char* name, const char* tensor, ValueId x) {
  TANDEM_TRY(const WeightId weight, c.vector(tensor, c.build.width(x)));
  return c.build.rms_norm(name, x, weight, c.h.norm_epsilon);
}

Result<ValueId> pre_norm_layer(GraphContext& c, ValueId x, const SelfAttention& options) {
  TANDEM_TRY(ValueId h, normed(c, "attention_norm", "attn_norm.weight", x));
  TANDEM_TRY(h, self_attention(c, h, options));
  x = c.build.add("attention_residual", x, h);
  TANDEM_TRY(h, normed(c, "ffn_norm", "ffn_norm.weight", x));
  TANDEM_TRY(h, gated_ffn(c, h, kernels::Activation::kSilu));
  return c.build.add("ffn_residual", x, h);
}

}  // namespace tandem
