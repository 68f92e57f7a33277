#include "synth/weight_types.h"

#include <cstdlib>

#include "tensor/convert.h"
#include "tensor/small_block_format.h"

namespace tandem {
namespace {

/// Which layers of a Q4_K_M file keep more bits: the first and last eighth and every third between.
bool keeps_more_bits(uint64_t layer, uint64_t n_layers) {
  const uint64_t eighth = n_layers / 8;
  return layer < eighth || layer >= 7 * n_layers / 8 || (layer - eighth) % 3 == 2;
}

DType mixture_type(const ListedTensor& tensor, const ModelShape& shape) {
  if (tensor.role == TensorRole::kEmbedding) return DType::kQ6_K;
  const bool sensitive = tensor.name.ends_with("attn_v.weight") ||
                         tensor.name.ends_with("attn_qkv.weight") ||
                         tensor.name.ends_with("ffn_down.weight");
  const uint64_t layer = std::strtoull(tensor.name.c_str() + 4, nullptr, 10);  // "blk.N."
  return sensitive && keeps_more_bits(layer, shape.n_layers) ? DType::kQ6_K : DType::kQ4_K;
}

}  // namespace

Result<WeightTypes> WeightTypes::parse(std::string_view name) {
  if (name == "q4_k_m" || name == "Q4_K_M") {
    WeightTypes out(DType::kQ4_K);
    out.mixture_ = true;
    return out;
  }
  const auto type = dtype_from_name(name);
  if (type && holds_weights(*type)) return WeightTypes(*type);
  std::string known;
  for (const DTypeInfo& i : all_dtypes()) {
    if (holds_weights(i.type)) known += std::string(i.name) + ", ";
  }
  return failure(ErrorCode::kInvalidArgument, "type \"{}\" is not known; known are {}Q4_K_M", name,
                 known);
}

DType WeightTypes::choose(const ListedTensor& tensor, const ModelShape& shape) const {
  if (tensor.dims.size() == 1) return DType::kF32;
  DType type = mixture_ ? mixture_type(tensor, shape) : type_;
  while (tensor.dims[0] % info(type).block_size != 0) type = small_block_format(type);
  return type;
}

}  // namespace tandem
