// Which tensors a model of each architecture has.

#include "synth/tensor_list.h"

#include <fmt/format.h>

namespace tandem {
namespace {

class Lister {
 public:
  explicit Lister(const ModelShape& shape) : s_(shape) {}

  std::vector<ListedTensor> run() {
    add("token_embd.weight", {s_.width, s_.vocabulary}, TensorRole::kEmbedding);
    add_rope_divisors();
    for (uint32_t layer = 0; layer < s_.n_layers; ++layer) {
      prefix_ = fmt::format("blk.{}.", layer);
      add_attention();
      add_ffn();
    }
    prefix_.clear();
    add("output_norm.weight", {s_.width}, TensorRole::kNorm);
    if (!s_.tied) add("output.weight", {s_.width, s_.vocabulary}, TensorRole::kEmbedding);
    return std::move(out_);
  }

 private:
  bool is(const char* architecture) const { return s_.architecture == architecture; }
  bool is_gemma() const { return is("gemma2") || is("gemma3"); }

  void add(const char* name, std::vector<uint64_t> dims, TensorRole role) {
    out_.push_back({prefix_ + name, std::move(dims), role});
  }

  void add_rope_divisors() {
    const uint64_t n_pairs = (s_.n_rotated == 0 ? s_.key_size : s_.n_rotated) / 2;
    if (s_.llama3_factor != 0) add("rope_freqs.weight", {n_pairs}, TensorRole::kRopeDivisors);
    if (!s_.longrope) return;
    add("rope_factors_long.weight", {n_pairs}, TensorRole::kRopeDivisors);
    add("rope_factors_short.weight", {n_pairs}, TensorRole::kRopeDivisors);
  }

  void add_attention() {
    const uint64_t q = uint64_t{s_.n_heads} * s_.key_size;
    const uint64_t k = uint64_t{s_.n_kv_heads} * s_.key_size;
    const uint64_t v = uint64_t{s_.n_kv_heads} * s_.value_size;
    add("attn_norm.weight", {s_.width}, TensorRole::kNorm);
    if (is("phi3")) {
      add("attn_qkv.weight", {s_.width, q + k + v}, TensorRole::kMatrix);
    } else {
      add("attn_q.weight", {s_.width, q}, TensorRole::kMatrix);
      add("attn_k.weight", {s_.width, k}, TensorRole::kMatrix);
      add("attn_v.weight", {s_.width, v}, TensorRole::kMatrix);
    }
    if (s_.qkv_bias) {
      add("attn_q.bias", {q}, TensorRole::kBias);
      add("attn_k.bias", {k}, TensorRole::kBias);
      add("attn_v.bias", {v}, TensorRole::kBias);
    }
    if (is("qwen3") || is("gemma3")) {
      add("attn_q_norm.weight", {s_.key_size}, TensorRole::kNorm);
      add("attn_k_norm.weight", {s_.key_size}, TensorRole::kNorm);
    }
    const uint64_t mixed = uint64_t{s_.n_heads} * s_.value_size;
    if (is("bitnet")) add("attn_sub_norm.weight", {mixed}, TensorRole::kNorm);
    add("attn_output.weight", {mixed, s_.width}, TensorRole::kResidualMatrix);
    if (is_gemma()) add("post_attention_norm.weight", {s_.width}, TensorRole::kNorm);
  }

  void add_ffn() {
    const uint64_t f = s_.ffn_width;
    add("ffn_norm.weight", {s_.width}, TensorRole::kNorm);
    if (!is("phi3")) add("ffn_gate.weight", {s_.width, f}, TensorRole::kMatrix);
    add("ffn_up.weight", {s_.width, is("phi3") ? 2 * f : f}, TensorRole::kMatrix);
    if (is("bitnet")) add("ffn_sub_norm.weight", {f}, TensorRole::kNorm);
    add("ffn_down.weight", {f, s_.width}, TensorRole::kResidualMatrix);
    if (is_gemma()) add("post_ffw_norm.weight", {s_.width}, TensorRole::kNorm);
  }

  const ModelShape& s_;
  std::string prefix_;
  std::vector<ListedTensor> out_;
};

}  // namespace

std::vector<ListedTensor> list_tensors(const ModelShape& shape) { return Lister(shape).run(); }

}  // namespace tandem
