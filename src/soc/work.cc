// Counts what nodes compute and move.

#include "soc/work.h"

#include <algorithm>

#include "graph/node_work.h"

namespace tandem::soc {
namespace {

/// 16-bit lane operations on each element; docs/simulator.md says how they are counted.
struct ElementOps {
  Op op;
  double per_element;
};
constexpr ElementOps kElementOps[] = {
    {Op::kEmbed, 2},    {Op::kRmsNorm, 8}, {Op::kQkNorm, 8},     {Op::kRope, 6},
    {Op::kGlu, 16},     {Op::kAdd, 2},     {Op::kScale, 1},      {Op::kPositionScale, 1},
    {Op::kSoftcap, 12}, {Op::kKvWrite, 4}, {Op::kSelectRows, 1},
};
constexpr double kRequantizeOps = 4;  ///< each output of a product
constexpr double kSoftmaxOps = 40;    ///< each score: mask, maximum, exponential, sum, scale

double bytes_of(NumericType type) { return bits_of(type) / 8.0; }

uint64_t to_bytes(double elements, NumericType type) {
  return static_cast<uint64_t>(elements * bytes_of(type));
}

void fill_linear(Work& work, const Graph& graph, const LinearAttributes& attributes) {
  const Weight& weight = graph.weights[attributes.weight];
  work.n = weight.rows;
  work.k = weight.columns;
  work.weight_bytes = weight_bytes(weight);
  if (attributes.bias) work.weight_bytes += graph.weights[*attributes.bias].bytes.size();
}

void fill_attention(Work& work, const Graph& graph, const AttentionAttributes& attributes,
                    uint64_t context, NumericType state) {
  const KvState& kv = std::get<KvState>(graph.states[attributes.state]);
  // What some row of the step sees: the first sees positions that the last does not any more.
  const uint64_t seen =
      kv.window == 0 ? context : std::min<uint64_t>(context, kv.window + work.m - 1);
  work.n = seen;
  work.k = (kv.key_size + kv.value_size) / 2;
  work.instances = attributes.n_heads;
  work.state_bytes = to_bytes(double(seen) * kv.n_kv_heads * (kv.key_size + kv.value_size), state);
}

uint64_t width_of(const Graph& graph, const Node& node) {
  if (node.output) return graph.values[*node.output].width;
  uint64_t width = 0;
  for (const ValueId input : node.inputs) width += graph.values[input].width;
  return width;
}

/// A prefill computes one output, the other phases one for each token.
uint64_t rows_of(const Graph& graph, const Value& value, uint64_t n_tokens) {
  return value.rows == RowSet::kOutputs && graph.phase == Phase::kPrefill ? 1 : n_tokens;
}

uint64_t input_elements(const Graph& graph, const Node& node, uint64_t n_tokens) {
  uint64_t out = 0;
  for (const ValueId input : node.inputs) {
    const Value& value = graph.values[input];
    out += value.width * rows_of(graph, value, n_tokens);
  }
  return out;
}

}  // namespace

uint64_t macs_of(const Work& work) {
  if (work.op == Op::kLinear) return work.m * work.n * (work.nonzero_k ? work.nonzero_k : work.k);
  if (work.op == Op::kAttention) return 2 * work.m * work.n * work.k * work.instances;
  return 0;
}

double vector_ops_of(const Work& work) {
  const double elements = double(work.m) * double(work.n);
  if (work.op == Op::kLinear) return kRequantizeOps * elements;
  if (work.op == Op::kAttention) {
    return work.instances *
           (kSoftmaxOps * elements + kRequantizeOps * double(work.m) * double(work.k));
  }
  for (const ElementOps& entry : kElementOps) {
    if (entry.op == work.op) return entry.per_element * elements;
  }
  return 0;
}

Work work_of(const Graph& graph, const Node& node, uint64_t n_tokens, uint64_t context,
             const WorkTypes& types) {
  Work work;
  work.op = node.op;
  work.m = node.output ? rows_of(graph, graph.values[*node.output], n_tokens) : n_tokens;
  work.n = width_of(graph, node);
  work.activations = types.activations;
  work.weights = types.weights;
  work.input_bytes = to_bytes(double(input_elements(graph, node, n_tokens)), types.activations);
  work.output_bytes = to_bytes(double(work.m * work.n), types.activations);
  if (const auto* linear = std::get_if<LinearAttributes>(&node.attributes)) {
    fill_linear(work, graph, *linear);
  } else if (const auto* attention = std::get_if<AttentionAttributes>(&node.attributes)) {
    fill_attention(work, graph, *attention, context, types.state);
  } else if (node.op == Op::kKvWrite) {
    work.written_bytes = to_bytes(double(work.m * work.n), types.state);
    work.output_bytes = 0;
  } else if (const auto* embed = std::get_if<EmbedAttributes>(&node.attributes)) {
    const Weight& table = graph.weights[embed->table];
    work.weight_bytes = table.rows == 0 ? 0 : table.bytes.size() / table.rows * n_tokens;
  }
  return work;
}

}  // namespace tandem::soc
