#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/model.h"
#include "synth/random_weights.h"

namespace tandem {

/// The rows of a grown model's tensors, each made from the source's rows (docs/synth.md).
class GrownWeights {
 public:
  GrownWeights(const Model& source, const ModelShape& shape, uint64_t seed)
      : source_(source), h_(source.hyperparameters()), shape_(shape), random_(shape_, seed) {}

  void fill_row(const ListedTensor& tensor, uint64_t row, std::span<float> out) const;

 private:
  void fill_embedding(const ListedTensor& tensor, uint64_t row, std::span<float> out) const;
  void fill_norm(const ListedTensor& tensor, std::span<float> out) const;
  void fill_matrix(const ListedTensor& tensor, uint64_t row, std::span<float> out) const;

  /// A row of a source tensor as floats.
  std::vector<float> source_row(const std::string& name, uint64_t row) const;
  /// The source's row that a row of a grown projection stands for; negative: none.
  int64_t source_head_row(uint64_t row, bool is_query, bool rotates) const;
  int64_t source_query_head(uint64_t head) const;
  /// Where in a head of the source a channel of a rotated head comes from; negative: nowhere.
  int64_t source_channel(uint64_t channel) const;

  const Model& source_;
  const Hyperparameters& h_;
  ModelShape shape_;
  RandomWeights random_;
};

}  // namespace tandem
