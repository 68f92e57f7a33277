// The work of a whole model from its sizes alone; models that no file is at hand for.

#include "soc/model_work.h"

#include <algorithm>
#include <cmath>

namespace tandem::soc {
namespace {

class Builder {
 public:
  Builder(const ModelSizes& model, const WorkTypes& types, const StepWork& step)
      : model_(model), types_(types), step_(step) {}

  std::vector<Work> build() {
    add(Op::kEmbed, step_.n_tokens, model_.width);
    list_.back().weight_bytes = bytes(double(step_.n_tokens) * model_.width, types_.weight_bits);
    for (uint32_t layer = 0; layer < model_.n_layers; ++layer) add_layer(layer);
    if (!step_.with_head) return std::move(list_);
    add(Op::kSelectRows, 1, model_.width);
    add(Op::kRmsNorm, 1, model_.width);
    add_linear(1, model_.vocabulary, model_.width, step_.head_weights, step_.head_bits);
    return std::move(list_);
  }

 private:
  static uint64_t bytes(double elements, double bits) {
    return static_cast<uint64_t>(std::llround(elements * bits / 8));
  }

  Work& add(Op op, uint64_t rows, uint64_t channels) {
    Work work;
    work.op = op;
    work.m = rows;
    work.n = channels;
    work.activations = types_.activations;
    work.weights = types_.weights;
    work.input_bytes = bytes(double(rows) * double(channels), bits_of(types_.activations));
    work.output_bytes = work.input_bytes;
    list_.push_back(work);
    return list_.back();
  }

  void add_linear(uint64_t rows, uint64_t n, uint64_t k, NumericType weights, double bits) {
    Work& work = add(Op::kLinear, rows, n);
    work.k = k;
    work.weights = weights;
    work.weight_bytes = bytes(double(n) * double(k), bits);
    work.input_bytes = bytes(double(rows) * double(k), bits_of(types_.activations));
  }

  void add_projection(uint64_t n, uint64_t k) {
    add_linear(step_.n_tokens, n, k, types_.weights, types_.weight_bits);
  }

  /// Positions that some row of the step sees in a layer.
  uint64_t seen(uint32_t layer) const {
    const bool is_global = model_.global_every > 0 && (layer + 1) % model_.global_every == 0;
    if (model_.window == 0 || is_global) return step_.context;
    return std::min<uint64_t>(step_.context, model_.window + step_.n_tokens - 1);
  }

  void add_attention(uint64_t query_width, uint64_t cache_width, uint64_t n_seen) {
    const uint64_t t = step_.n_tokens;
    Work& write = add(Op::kKvWrite, t, 2 * cache_width);
    write.written_bytes = bytes(double(t) * 2 * double(cache_width), bits_of(types_.state));
    write.output_bytes = 0;
    Work& attention = add(Op::kAttention, t, n_seen);
    attention.k = model_.head_size;
    attention.instances = model_.n_heads;
    attention.state_bytes = bytes(double(n_seen) * 2 * double(cache_width), bits_of(types_.state));
    attention.input_bytes = bytes(double(t) * double(query_width), bits_of(types_.activations));
    attention.output_bytes = attention.input_bytes;
  }

  void add_layer(uint32_t layer) {
    const uint64_t t = step_.n_tokens;
    const uint64_t query_width = uint64_t{model_.n_heads} * model_.head_size;
    const uint64_t cache_width = uint64_t{model_.n_kv_heads} * model_.head_size;
    add(Op::kRmsNorm, t, model_.width);
    add_projection(query_width, model_.width);
    add_projection(cache_width, model_.width);
    add_projection(cache_width, model_.width);
    if (model_.qk_norm) add(Op::kQkNorm, t, query_width);
    if (model_.qk_norm) add(Op::kQkNorm, t, cache_width);
    add(Op::kRope, t, query_width);
    add(Op::kRope, t, cache_width);
    add_attention(query_width, cache_width, seen(layer));
    add_projection(model_.width, query_width);
    add(Op::kAdd, t, model_.width);
    add(Op::kRmsNorm, t, model_.width);
    add_projection(model_.ffn_width, model_.width);
    add_projection(model_.ffn_width, model_.width);
    add(Op::kGlu, t, model_.ffn_width);
    add_projection(model_.width, model_.ffn_width);
    add(Op::kAdd, t, model_.width);
  }

  const ModelSizes& model_;
  const WorkTypes& types_;
  const StepWork& step_;
  std::vector<Work> list_;
};

}  // namespace

std::vector<Work> model_work(const ModelSizes& model, const WorkTypes& types,
                             const StepWork& step) {
  return Builder(model, types, step).build();
}

}  // namespace tandem::soc
