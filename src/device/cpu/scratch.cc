#include "device/cpu/scratch.h"

namespace tandem {

void ScratchNeeds::merge(const ScratchNeeds& other) {
  n_rows = std::max(n_rows, other.n_rows);
  quantized_columns = std::max(quantized_columns, other.quantized_columns);
  partial_columns = std::max(partial_columns, other.partial_columns);
  attention_bytes = std::max(attention_bytes, other.attention_bytes);
  rope_pairs.resize(std::max(rope_pairs.size(), other.rope_pairs.size()), 0);
  for (size_t i = 0; i < other.rope_pairs.size(); ++i) {
    rope_pairs[i] = std::max(rope_pairs[i], other.rope_pairs[i]);
  }
}

Result<void> Scratch::reserve(const ScratchNeeds& needs, int n_threads) {
  needs_.merge(needs);
  const size_t n_codes = needs_.n_rows * needs_.quantized_columns;
  const size_t n_groups = n_codes / kernels::kActivationGroup;
  TANDEM_TRY(codes_, Buffer::allocate(n_codes, "quantized activations"));
  TANDEM_TRY(scales_, Buffer::allocate(n_groups * sizeof(float), "activation scales"));
  const size_t n_halves = n_codes / kernels::kActivationHalf;
  TANDEM_TRY(sums_, Buffer::allocate(n_halves * sizeof(int16_t), "activation sums"));
  if (needs_.partial_columns > 0) {
    const size_t n_partial = needs_.n_rows * needs_.partial_columns;
    TANDEM_TRY(partial_, Buffer::allocate(n_partial * sizeof(float), "partial results"));
    TANDEM_TRY(rounding_, Buffer::allocate(needs_.partial_columns * sizeof(uint16_t) * n_threads,
                                           "rounded activations"));
  }
  attention_stride_ = (needs_.attention_bytes + 63) / 64 * 64;
  TANDEM_TRY(attention_, Buffer::allocate(attention_stride_ * n_threads, "attention scratch"));
  rope_.resize(needs_.rope_pairs.size());
  for (size_t i = 0; i < rope_.size(); ++i) {
    rope_[i].cosines.resize(needs_.n_rows * needs_.rope_pairs[i]);
    rope_[i].sines.resize(needs_.n_rows * needs_.rope_pairs[i]);
  }
  positions_.resize(needs_.n_rows);
  return {};
}

kernels::QuantizedActivations Scratch::quantized() {
  return {codes_.as<int8_t>(), scales_.as<float>(), sums_.as<int16_t>()};
}

}  // namespace tandem
