// Where each row of a grown model comes from.

#include "synth/grown_weights.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tensor/convert.h"

namespace tandem {
namespace {

// The first added channel holds a small constant that only the output norm sees: it pushes the
// added tokens' logits far down. Small enough not to be felt in any norm, all powers of two.
constexpr float kConstantChannel = 0x1p-12f;
constexpr float kConstantGain = 0x1p14f;
constexpr float kAddedTokenWeight = -256.0f;

bool is_layer_tensor(const std::string& name) { return name.starts_with("blk."); }

uint64_t layer_of(const std::string& name) { return std::strtoull(name.c_str() + 4, nullptr, 10); }

}  // namespace

std::vector<float> GrownWeights::source_row(const std::string& name, uint64_t row) const {
  const TensorView& tensor = *source_.find_tensor(name);
  std::vector<float> out(tensor.dims[0]);
  const size_t stride = row_bytes(tensor.type, out.size());
  decode_row(tensor.type, tensor.bytes.data() + row * stride, out.data(), out.size());
  return out;
}

void GrownWeights::fill_row(const ListedTensor& tensor, uint64_t row, std::span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0f);
  if (tensor.role == TensorRole::kEmbedding) return fill_embedding(tensor, row, out);
  const bool added = is_layer_tensor(tensor.name) && layer_of(tensor.name) >= h_.n_layers;
  if (added && tensor.role == TensorRole::kResidualMatrix) return;
  if (added) return random_.fill_row(tensor, row, out);
  if (tensor.role == TensorRole::kNorm) return fill_norm(tensor, out);
  fill_matrix(tensor, row, out);
}

void GrownWeights::fill_embedding(const ListedTensor& tensor, uint64_t row,
                                  std::span<float> out) const {
  if (row >= h_.vocabulary) {
    out[h_.width] = kAddedTokenWeight;
    return;
  }
  const std::vector<float> from = source_row(tensor.name, row);
  std::copy(from.begin(), from.end(), out.begin());
  out[h_.width] = kConstantChannel;
}

void GrownWeights::fill_norm(const ListedTensor& tensor, std::span<float> out) const {
  std::fill(out.begin(), out.end(), 1.0f);
  const std::vector<float> from = source_row(tensor.name, 0);
  if (tensor.name.ends_with("attn_q_norm.weight") || tensor.name.ends_with("attn_k_norm.weight")) {
    // Zero channels halve a head's mean square r-fold, and scores are divided by a larger root:
    // together a factor of 1 on queries and 1 / sqrt(r) on keys.
    const bool is_key = tensor.name.ends_with("attn_k_norm.weight");
    const float factor =
        is_key ? std::sqrt(static_cast<float>(h_.key_size) / shape_.key_size) : 1.0f;
    for (size_t i = 0; i < out.size(); ++i) {
      if (const int64_t channel = source_channel(i); channel >= 0) out[i] = from[channel] * factor;
    }
    return;
  }
  const float factor = std::sqrt(static_cast<float>(h_.width) / shape_.width);
  std::transform(from.begin(), from.end(), out.begin(), [&](float x) { return x * factor; });
  if (tensor.name == "output_norm.weight") out[h_.width] = kConstantGain;
}

int64_t GrownWeights::source_channel(uint64_t channel) const {
  const uint64_t ratio = shape_.key_size / h_.key_size;
  const uint64_t half = shape_.key_size / 2;
  const uint64_t pair = channel % half;
  if (pair % ratio != 0) return -1;
  return static_cast<int64_t>(pair / ratio + (channel < half ? 0 : h_.key_size / 2));
}

int64_t GrownWeights::source_query_head(uint64_t head) const {
  const uint64_t group = shape_.n_heads / shape_.n_kv_heads;
  const uint64_t source_group = h_.n_heads / h_.n_kv_heads;
  const uint64_t kv_head = head / group;
  if (kv_head >= h_.n_kv_heads || head % group >= source_group) return -1;
  return static_cast<int64_t>(kv_head * source_group + head % group);
}

int64_t GrownWeights::source_head_row(uint64_t row, bool is_query, bool rotates) const {
  const uint64_t size = rotates ? shape_.key_size : shape_.value_size;
  const uint64_t source_size = rotates ? h_.key_size : h_.value_size;
  const uint64_t head = row / size;
  const int64_t source_head = is_query               ? source_query_head(head)
                              : head < h_.n_kv_heads ? static_cast<int64_t>(head)
                                                     : -1;
  const uint64_t channel = row % size;
  const int64_t from = rotates                 ? source_channel(channel)
                       : channel < source_size ? static_cast<int64_t>(channel)
                                               : -1;
  return source_head < 0 || from < 0 ? -1 : source_head * static_cast<int64_t>(source_size) + from;
}

void GrownWeights::fill_matrix(const ListedTensor& tensor, uint64_t row,
                               std::span<float> out) const {
  const std::string& name = tensor.name;
  int64_t from_row = static_cast<int64_t>(row);
  if (name.ends_with("attn_q.weight")) from_row = source_head_row(row, true, true);
  if (name.ends_with("attn_k.weight")) from_row = source_head_row(row, false, true);
  if (name.ends_with("attn_v.weight")) from_row = source_head_row(row, false, false);
  const int64_t n_source_rows = static_cast<int64_t>(source_.find_tensor(name)->dims[1]);
  if (from_row < 0 || from_row >= n_source_rows) return;
  const std::vector<float> from = source_row(name, static_cast<uint64_t>(from_row));
  if (!name.ends_with("attn_output.weight")) {
    std::copy(from.begin(), from.end(), out.begin());
    return;
  }
  for (uint64_t column = 0; column < out.size(); ++column) {
    const int64_t from_column = source_head_row(column, true, false);
    if (from_column >= 0) out[column] = from[from_column];
  }
}

}  // namespace tandem
