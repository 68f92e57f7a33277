#pragma once

#include <functional>
#include <string>

#include "model/model.h"
#include "synth/shapes.h"
#include "synth/weight_types.h"

namespace tandem {

struct GrowOptions {
  ModelShape shape;  ///< of the same architecture as the source, nowhere smaller
  WeightTypes types{DType::kF16};
  uint64_t seed = 1;
  int n_threads = 0;
  std::function<void(uint64_t done, uint64_t total)> progress = {};
};

/// Writes `source` padded to a larger shape without changing its function: the same tokens, with
/// the larger model's bytes and work (docs/synth.md derives each factor). Errors: kInvalidArgument
/// naming the size in which the shape does not fit.
Result<void> grow(const std::string& path, const Model& source, const GrowOptions& options);

}  // namespace tandem
