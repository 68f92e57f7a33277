#pragma once

#include <span>

#include "graph/graph.h"
#include "model/hyperparameters.h"

namespace tandem {

/// What a rope table is made from; see docs/rope.md for the formulas and their sources.
struct RopeTableOptions {
  uint32_t n_rotated;
  float base;
  RopeScaling scaling;
  /// (n_rotated / 2) divisors of the frequencies (llama3 and longrope files), or empty.
  std::span<const float> divisors;
};

/// Frequencies base^(-2p / n_rotated), divided and stretched as the scaling kind says.
RopeTable make_rope_table(const RopeTableOptions& options);

}  // namespace tandem
