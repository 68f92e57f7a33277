#pragma once

#include <string>
#include <vector>

#include "synth/shapes.h"

namespace tandem {

/// What a tensor does, as far as its random values depend on it.
enum class TensorRole : uint8_t {
  kEmbedding,
  kMatrix,
  kResidualMatrix,  ///< writes to the residual stream, so smaller the deeper the model
  kNorm,
  kBias,
  kRopeDivisors,
};

struct ListedTensor {
  std::string name;
  std::vector<uint64_t> dims;  ///< innermost first
  TensorRole role;
};

/// Every tensor of a model of that shape under GGUF's names, in file order.
std::vector<ListedTensor> list_tensors(const ModelShape& shape);

}  // namespace tandem
