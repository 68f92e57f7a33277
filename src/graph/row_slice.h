#pragma once

#include "graph/graph.h"

namespace tandem {

/// A graph of one node: the `n_rows` rows from `first_row` of a linear. Value 0 is its input, value
/// 1 its output and the graph's logits, so that whoever runs it says where both lie. Views the
/// bytes of `graph`'s weights. `linear` is a linear of `graph` over a weight that is not nested.
Graph slice_linear(const Graph& graph, const Node& linear, uint32_t first_row, uint32_t n_rows);

}  // namespace tandem
