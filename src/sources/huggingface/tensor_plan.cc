// Names and shapes of a model's tensors, in GGUF and in checkpoints.

#include "sources/huggingface/tensor_plan.h"

#include <fmt/format.h>

#include <array>
#include <span>

namespace tandem {
namespace {

enum class Size : uint8_t { kWidth, kQuery, kKv, kQkv, kFfn, kTwoFfn, kHead };

/// One tensor of a layer, or two when it may have a bias.
struct Row {
  std::string_view stored;  ///< module within the layer
  std::string_view gguf;
  Size rows;     ///< of a matrix
  Size columns;  ///< or the length of a norm
  bool is_norm = false;
  bool turns = false;  ///< its heads are turned by rope
  std::string_view other_stored = {};
};

constexpr Row norm(std::string_view stored, std::string_view gguf, Size length = Size::kWidth,
                   std::string_view other = {}) {
  return {stored, gguf, Size::kWidth, length, true, false, other};
}

constexpr Row kQuery{"self_attn.q_proj", "attn_q", Size::kQuery, Size::kWidth, false, true};
constexpr Row kKey{"self_attn.k_proj", "attn_k", Size::kKv, Size::kWidth, false, true};
constexpr Row kValue{"self_attn.v_proj", "attn_v", Size::kKv, Size::kWidth};
constexpr Row kOutput{"self_attn.o_proj", "attn_output", Size::kWidth, Size::kQuery};
constexpr Row kGate{"mlp.gate_proj", "ffn_gate", Size::kFfn, Size::kWidth};
constexpr Row kUp{"mlp.up_proj", "ffn_up", Size::kFfn, Size::kWidth};
constexpr Row kDown{"mlp.down_proj", "ffn_down", Size::kWidth, Size::kFfn};
constexpr Row kQueryNorm = norm("self_attn.q_norm", "attn_q_norm", Size::kHead);
constexpr Row kKeyNorm = norm("self_attn.k_norm", "attn_k_norm", Size::kHead);

constexpr std::array<Row, 9> kLlamaRows{
    norm("input_layernorm", "attn_norm"),         kQuery, kKey, kValue, kOutput,
    norm("post_attention_layernorm", "ffn_norm"), kGate,  kUp,  kDown};
constexpr std::array<Row, 11> kQwen3Rows{norm("input_layernorm", "attn_norm"),
                                         kQuery,
                                         kKey,
                                         kValue,
                                         kQueryNorm,
                                         kKeyNorm,
                                         kOutput,
                                         norm("post_attention_layernorm", "ffn_norm"),
                                         kGate,
                                         kUp,
                                         kDown};
constexpr std::array<Row, 11> kGemma2Rows{norm("input_layernorm", "attn_norm"),
                                          kQuery,
                                          kKey,
                                          kValue,
                                          kOutput,
                                          norm("post_attention_layernorm", "post_attention_norm"),
                                          norm("pre_feedforward_layernorm", "ffn_norm"),
                                          kGate,
                                          kUp,
                                          kDown,
                                          norm("post_feedforward_layernorm", "post_ffw_norm")};
constexpr std::array<Row, 13> kGemma3Rows{norm("input_layernorm", "attn_norm"),
                                          kQuery,
                                          kKey,
                                          kValue,
                                          kQueryNorm,
                                          kKeyNorm,
                                          kOutput,
                                          norm("post_attention_layernorm", "post_attention_norm"),
                                          norm("pre_feedforward_layernorm", "ffn_norm"),
                                          kGate,
                                          kUp,
                                          kDown,
                                          norm("post_feedforward_layernorm", "post_ffw_norm")};
constexpr std::array<Row, 6> kPhi3Rows{
    norm("input_layernorm", "attn_norm"),
    Row{"self_attn.qkv_proj", "attn_qkv", Size::kQkv, Size::kWidth},
    kOutput,
    norm("post_attention_layernorm", "ffn_norm"),
    Row{"mlp.gate_up_proj", "ffn_up", Size::kTwoFfn, Size::kWidth},
    kDown};
constexpr std::array<Row, 11> kBitnetRows{
    norm("input_layernorm", "attn_norm"),
    kQuery,
    kKey,
    kValue,
    norm("self_attn.attn_sub_norm", "attn_sub_norm", Size::kQuery, "self_attn.inner_attn_ln"),
    kOutput,
    norm("post_attention_layernorm", "ffn_norm"),
    kGate,
    kUp,
    norm("mlp.ffn_sub_norm", "ffn_sub_norm", Size::kFfn, "mlp.ffn_layernorm"),
    kDown};

std::span<const Row> rows_of(std::string_view architecture) {
  if (architecture == "qwen3") return kQwen3Rows;
  if (architecture == "gemma2") return kGemma2Rows;
  if (architecture == "gemma3") return kGemma3Rows;
  if (architecture == "phi3") return kPhi3Rows;
  if (architecture == "bitnet") return kBitnetRows;
  return kLlamaRows;
}

class Planner {
 public:
  Planner(const DecoderShape& shape, CheckpointNames names)
      : shape_(shape),
        is_mlc_(names == CheckpointNames::kMlc),
        // MLC adds it before it writes.
        norm_addend_(shape.architecture.starts_with("gemma") && !is_mlc_ ? 1.0f : 0.0f),
        interleaves_(shape.architecture == "llama" || shape.architecture == "mistral3" ||
                     shape.architecture == "smollm3") {}

  std::vector<PlannedTensor> plan() {
    add_outer("token_embd", is_mlc_phi3() ? "transformer.embd" : "model.embed_tokens",
              shape_.vocabulary);
    for (uint32_t layer = 0; layer < shape_.n_layers; ++layer) {
      for (const Row& row : rows_of(shape_.architecture)) add_row(layer, row);
    }
    add_outer("output_norm", is_mlc_phi3() ? "transformer.norm" : "model.norm", 0);
    if (!shape_.tied_embeddings) add_outer("output", "lm_head", shape_.vocabulary);
    return std::move(tensors_);
  }

 private:
  bool is_mlc_phi3() const { return is_mlc_ && shape_.architecture == "phi3"; }

  uint64_t size(Size size) const {
    const uint64_t head = shape_.head_size;
    switch (size) {
      case Size::kWidth:
        return shape_.width;
      case Size::kQuery:
        return shape_.n_heads * head;
      case Size::kKv:
        return shape_.n_kv_heads * head;
      case Size::kQkv:
        return (shape_.n_heads + 2ull * shape_.n_kv_heads) * head;
      case Size::kFfn:
        return shape_.ffn_width;
      case Size::kTwoFfn:
        return 2ull * shape_.ffn_width;
      case Size::kHead:
        return head;
    }
    return 0;
  }

  /// A matrix of `rows` by width, or with rows = 0 a norm.
  void add_outer(const std::string& gguf, const std::string& stored, uint64_t rows) {
    PlannedTensor tensor;
    tensor.name = gguf + ".weight";
    tensor.stored = stored + ".weight";
    tensor.is_vector = rows == 0;
    tensor.rows = tensor.is_vector ? 1 : rows;
    tensor.columns = shape_.width;
    tensor.stored_extent = tensor.is_vector ? tensor.columns : rows;
    tensor.addend = tensor.is_vector ? norm_addend_ : 0;
    // A head that nobody promised is the embedding.
    tensor.optional = gguf == "output" && !shape_.states_tied;
    tensors_.push_back(std::move(tensor));
  }

  void add_row(uint32_t layer, const Row& row) {
    PlannedTensor tensor;
    tensor.name = fmt::format("blk.{}.{}.weight", layer, row.gguf);
    tensor.columns = size(row.columns);
    std::string module(row.stored);
    if (row.is_norm) {
      tensor.is_vector = true;
      tensor.addend = norm_addend_;
      tensor.stored_extent = tensor.columns;
    } else {
      tensor.is_linear = true;
      tensor.rows = tensor.stored_extent = size(row.rows);
      if (interleaves_ && row.turns) tensor.head_rows = shape_.head_size;
      if (is_mlc_) fuse(row, module, tensor);
    }
    const std::string stored = layer_prefix(layer) + mlc_phi3_module(module);
    tensor.stored = stored + ".weight";
    if (!row.other_stored.empty()) {
      tensor.other_stored = fmt::format("{}{}.weight", layer_prefix(layer), row.other_stored);
    }
    const bool can_have_bias = tensor.is_linear;
    PlannedTensor bias = tensor;
    tensors_.push_back(std::move(tensor));
    if (!can_have_bias) return;
    bias.name = fmt::format("blk.{}.{}.bias", layer, row.gguf);
    bias.stored = stored + ".bias";
    bias.is_vector = true;
    bias.optional = true;
    bias.is_linear = false;
    bias.columns = bias.rows;
    bias.rows = 1;
    tensors_.push_back(std::move(bias));
  }

  std::string layer_prefix(uint32_t layer) const {
    return fmt::format("{}.{}.", is_mlc_phi3() ? "transformer.h" : "model.layers", layer);
  }

  /// MLC stores queries, keys and values as one matrix, gate and up as another.
  void fuse(const Row& row, std::string& module, PlannedTensor& tensor) const {
    const uint64_t q = size(Size::kQuery);
    const uint64_t kv = size(Size::kKv);
    const bool qkv_apart = shape_.architecture == "gemma3";
    const bool is_qwen = shape_.architecture.starts_with("qwen");
    const bool is_attention = row.gguf == "attn_q" || row.gguf == "attn_k" || row.gguf == "attn_v";
    if (is_attention && !qkv_apart) {
      module = is_qwen ? "self_attn.c_attn" : "self_attn.qkv_proj";
      tensor.first = row.gguf == "attn_q" ? 0 : row.gguf == "attn_k" ? q : q + kv;
      tensor.stored_extent = size(Size::kQkv);
    }
    if (row.stored == "mlp.gate_proj" || row.stored == "mlp.up_proj") {
      module = "mlp.gate_up_proj";
      tensor.first = row.stored == "mlp.up_proj" ? shape_.ffn_width : 0;
      tensor.stored_extent = size(Size::kTwoFfn);
    }
  }

  /// MLC kept the module names of Phi-1 for this family.
  std::string mlc_phi3_module(const std::string& module) const {
    if (!is_mlc_phi3()) return module;
    if (module == "input_layernorm") return "ln";
    if (module == "self_attn.qkv_proj") return "mixer.qkv_proj";
    if (module == "self_attn.o_proj") return "mixer.out_proj";
    return module;
  }

  const DecoderShape& shape_;
  bool is_mlc_;
  float norm_addend_;
  bool interleaves_;
  std::vector<PlannedTensor> tensors_;
};

}  // namespace

std::vector<PlannedTensor> plan_tensors(const DecoderShape& shape, CheckpointNames names) {
  return Planner(shape, names).plan();
}

std::string plain_stored_name(std::string_view name) {
  constexpr std::string_view kPart = "language_model.";
  std::string out(name);
  if (const size_t at = out.find(kPart); at == 0 || (at == 6 && out.starts_with("model."))) {
    out.erase(at, kPart.size());
  }
  for (const std::string_view start : {"layers.", "embed_tokens.", "norm."}) {
    if (out.starts_with(start)) return "model." + out;
  }
  return out;
}

bool is_beside_the_model(std::string_view plain_name) {
  for (const std::string_view end : {".rotary_emb.inv_freq", ".attention.bias", ".masked_bias",
                                     ".rotary_emb.cos_cached", ".rotary_emb.sin_cached"}) {
    if (plain_name.ends_with(end)) return true;
  }
  std::string_view name = plain_name;
  if (name.starts_with("model.")) name.remove_prefix(6);
  for (const std::string_view start :
       {"vision_tower.", "vision_model.", "vision_encoder.", "multi_modal_projector.",
        "patch_merger.", "audio_tower.", "embed_vision.", "embed_audio."}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

}  // namespace tandem
