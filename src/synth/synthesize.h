#pragma once

#include <functional>
#include <string>

#include "synth/shapes.h"
#include "synth/weight_types.h"

namespace tandem {

struct SynthOptions {
  ModelShape shape;
  WeightTypes types{DType::kF16};
  uint64_t seed = 1;
  int n_threads = 0;  ///< 0: all processors
  /// Metadata that holds the tokenizer to copy; null: a file without one.
  const Metadata* vocabulary = nullptr;
  /// Mean probability of the most likely token that the head is scaled to; 0: leave it.
  double mean_top_probability = 0.5;
  std::function<void(uint64_t done, uint64_t total)> progress = {};
};

struct SynthReport {
  double mean_top_probability = 0;  ///< measured after scaling; 0 when not measured
  float head_scale = 1.0f;          ///< factor put on output_norm.weight
};

/// Writes a GGUF file of that shape with random weights, then runs it on random tokens and scales
/// the output norm so that its predictions are neither flat nor certain. The same options give the
/// same bytes. The file appears under its name only when it is complete.
Result<SynthReport> synthesize(const std::string& path, const SynthOptions& options);

}  // namespace tandem
