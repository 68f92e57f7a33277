#pragma once

#include <vector>

#include "base/token_id.h"
#include "graph/graph.h"

namespace tandem::testing {

/// How exactly keys and values are kept.
enum class Cache { kF16, kExact };

/// The logits after each token, computed node by node from the definitions in double precision,
/// without cache or kernels. Keys and values are rounded to f16 unless asked otherwise, as the
/// cache stores them, and the inputs of quantized weights to int8 by the rule of docs/numerics.md.
/// Slow and plain: it decides what is right where no peer can.
std::vector<std::vector<double>> slow_logits(const Graph& graph, const std::vector<TokenId>& tokens,
                                             Cache cache = Cache::kF16);

/// Normalised mean squared error of `ours` against `reference`, over all rows together.
double normalized_mse(const std::vector<std::vector<float>>& ours,
                      const std::vector<std::vector<double>>& reference);

}  // namespace tandem::testing
