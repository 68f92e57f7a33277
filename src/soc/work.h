#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "soc/numeric_type.h"

namespace tandem::soc {

/// One node's work, free of any graph: what a unit computes and moves.
///
///   op                  m        n                 k            instances
///   linear              rows     outputs           reduction    1
///   attention           rows     positions seen    head size    query heads
///   everything else     rows     channels written  -            1
struct Work {
  Op op = Op::kLinear;
  uint64_t m = 0;
  uint64_t n = 0;
  uint64_t k = 0;
  uint32_t instances = 1;
  NumericType activations = NumericType::kInt8;
  NumericType weights = NumericType::kInt8;
  uint64_t weight_bytes = 0;   ///< read once for the node, from DRAM unless `resident`
  uint64_t state_bytes = 0;    ///< key/value cache read
  uint64_t written_bytes = 0;  ///< key/value cache or table written to DRAM
  uint64_t input_bytes = 0;    ///< activations in, from DRAM when not kept on chip
  uint64_t output_bytes = 0;   ///< activations out
  uint64_t nonzero_k = 0;      ///< rows of a row-wise sparse weight that hold values; 0: dense
  bool resident = false;       ///< the weights lie in the unit's SRAM
};

/// Multiply-accumulates of the node.
uint64_t macs_of(const Work& work);

/// Element operations of the vector unit: what norms, softmax, activations and requantization do
/// to each element, in 16-bit lane operations. The counts are in docs/simulator.md.
double vector_ops_of(const Work& work);

/// How weights and activations of a run are stored.
struct WorkTypes {
  NumericType activations = NumericType::kInt8;
  NumericType weights = NumericType::kInt4;
  double weight_bits = 4.5;  ///< with scales, of a stored weight
  NumericType state = NumericType::kFp16;
};

/// The work of `node` for `n_tokens` rows of a sequence whose last token sees `context` positions
/// (itself included); a prefill has one output row, the other phases one for each token. Weight
/// bytes are the file's.
Work work_of(const Graph& graph, const Node& node, uint64_t n_tokens, uint64_t context,
             const WorkTypes& types);

}  // namespace tandem::soc
