#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "synth/shapes.h"
#include "synth/tensor_list.h"

namespace tandem {

/// Random weights with the spread of trained ones: near normal with heavier tails; every layer's
/// norms lift a few channels to 60 times the rest, as real models' activations have them. The same
/// seed, shape and name give the same values in any order of calls.
class RandomWeights {
 public:
  RandomWeights(const ModelShape& shape, uint64_t seed) : shape_(shape), seed_(seed) {}

  /// One row of the tensor (its only one for a vector); `out` has dims[0] elements.
  void fill_row(const ListedTensor& tensor, uint64_t row, std::span<float> out) const;

 private:
  float embedding_spread() const;
  void fill_norm(const ListedTensor& tensor, std::span<float> out) const;
  void fill_divisors(const ListedTensor& tensor, std::span<float> out) const;

  const ModelShape& shape_;
  uint64_t seed_;
};

}  // namespace tandem
