// What Gemma 2 and Gemma 3 share.

#include "model/arch/gemma.h"

#include <cmath>

namespace tandem {

Result<std::vector<bool>> sliding_layers(const GraphContext& c, uint32_t interval) {
  const std::string key = c.key("attention.sliding_window_pattern");
  const MetadataValue* stated = c.metadata().find(key);
  if (stated != nullptr) {
    if (const auto* flags = std::get_if<std::vector<bool>>(stated)) {
      if (flags->size() == c.h.n_layers) return *flags;
      return failure(ErrorCode::kCorruptFile, "{}: {} has {} entries for {} layers",
                     c.metadata().source(), key, flags->size(), c.h.n_layers);
    }
    TANDEM_TRY(interval, c.metadata().u32(key));
  }
  std::vector<bool> out(c.h.n_layers);
  for (uint32_t i = 0; i < c.h.n_layers; ++i) {
    out[i] = interval != 0 && i % interval != interval - 1;
  }
  return out;
}

Result<ValueId> gemma_embedding(GraphContext& c) {
  TANDEM_TRY(const ValueId x, embed_tokens(c));
  return c.build.scale("embed_scale", x, std::sqrt(static_cast<float>(c.h.width)));
}

Result<ValueId> gemma_layer(GraphContext& c, ValueId x, const SelfAttention& attention) {
  TANDEM_TRY(ValueId h, normed(c, "attention_norm", "attn_norm.weight", x));
  TANDEM_TRY(h, self_attention(c, h, attention));
  TANDEM_TRY(h, normed(c, "attention_post_norm", "post_attention_norm.weight", h));
  x = c.build.add("attention_residual", x, h);
  TANDEM_TRY(h, normed(c, "ffn_norm", "ffn_norm.weight", x));
  TANDEM_TRY(h, gated_ffn(c, h, kernels::Activation::kGeluTanh));
  TANDEM_TRY(h, normed(c, "ffn_post_norm", "post_ffw_norm.weight", h));
  return c.build.add("ffn_residual", x, h);
}

Result<ValueId> gemma_logits(GraphContext& c, ValueId x, float cap) {
  TANDEM_TRY(const ValueId logits, output_logits(c, x));
  return cap == 0 ? logits : c.build.softcap("logits_softcap", logits, cap);
}

float gemma_attention_scale(const GraphContext& c, uint32_t layers_of_largest) {
  const bool is_largest = c.h.n_layers == layers_of_largest;
  const float channels =
      is_largest ? static_cast<float>(c.h.width) / c.h.n_heads : static_cast<float>(c.h.key_size);
  return 1.0f / std::sqrt(channels);
}

}  // namespace tandem
