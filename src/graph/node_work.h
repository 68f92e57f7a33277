#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace tandem {

/// What running a node once takes, whatever runs it: the terms of every cost model.
struct NodeWork {
  uint64_t n_rows = 0;            ///< of its output
  uint64_t macs = 0;              ///< multiply-accumulates with weights or with the cache
  uint64_t elements = 0;          ///< written; the work of nodes without multiply-accumulates
  uint64_t weight_bytes = 0;      ///< read, in the file's layout
  uint64_t state_bytes = 0;       ///< of the key/value cache, read and written
  uint64_t activation_bytes = 0;  ///< of inputs and output, f32
};

/// For `n_tokens` rows of one sequence whose last position is `context` - 1. Attention counts the
/// positions that each row sees, window and causality included. A prefill computes one output, the
/// other phases one for each token. `context` >= `n_tokens`.
/// Of a weight as it is read: both planes of a nested one.
uint64_t weight_bytes(const Weight& weight);

NodeWork count_work(const Graph& graph, const Node& node, uint64_t n_tokens, uint64_t context);

}  // namespace tandem
