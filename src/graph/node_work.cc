#include "graph/node_work.h"

#include <algorithm>

#include "tensor/nested_tensor.h"

namespace tandem {
namespace {

uint64_t rows_of(const Graph& graph, const Value& value, uint64_t n_tokens) {
  if (value.rows == RowSet::kTokens) return n_tokens;
  return graph.phase == Phase::kPrefill ? std::min<uint64_t>(n_tokens, 1) : n_tokens;
}

/// Positions that the rows see, summed: row r sees min(window, first + r + 1).
uint64_t seen_positions(uint64_t n_tokens, uint64_t context, uint64_t window) {
  const uint64_t first = context - n_tokens;
  if (window == 0 || window >= context) {
    return n_tokens * first + n_tokens * (n_tokens + 1) / 2;
  }
  const uint64_t growing = first < window ? window - first : 0;  // rows that see all there is
  return growing * first + growing * (growing + 1) / 2 + (n_tokens - growing) * window;
}

uint64_t kv_bytes(const KvState& kv) {
  // Codes of a byte with a scale for each key and value, or f16.
  const bool is_coded = kv.storage == kernels::KvStorage::kI8;
  const uint64_t elements = uint64_t{kv.key_size} + kv.value_size;
  const uint64_t head = is_coded ? elements + 2 * sizeof(float) : elements * sizeof(uint16_t);
  return kv.n_kv_heads * head;
}

}  // namespace

uint64_t weight_bytes(const Weight& weight) {
  const uint64_t low = weight.nested ? uint64_t{weight.rows} * low_row_bytes(weight.columns) : 0;
  return weight.bytes.size() + low;
}

NodeWork count_work(const Graph& graph, const Node& node, uint64_t n_tokens, uint64_t context) {
  NodeWork out;
  for (ValueId input : node.inputs) {
    const Value& value = graph.values[input];
    out.activation_bytes += rows_of(graph, value, n_tokens) * value.width * sizeof(float);
  }
  if (node.output) {
    const Value& value = graph.values[*node.output];
    out.n_rows = rows_of(graph, value, n_tokens);
    out.elements = out.n_rows * value.width;
    out.activation_bytes += out.elements * sizeof(float);
  }
  if (const auto* a = std::get_if<LinearAttributes>(&node.attributes)) {
    const Weight& w = graph.weights[a->weight];
    out.macs = out.n_rows * w.rows * w.columns;
    out.weight_bytes = weight_bytes(w);
  } else if (const auto* a = std::get_if<EmbedAttributes>(&node.attributes)) {
    const Weight& w = graph.weights[a->table];
    out.weight_bytes = n_tokens * row_bytes(w.type, w.columns);
  } else if (const auto* a = std::get_if<KvWriteAttributes>(&node.attributes)) {
    const KvState& kv = std::get<KvState>(graph.states[a->state]);
    out.n_rows = n_tokens;
    out.state_bytes = n_tokens * kv_bytes(kv);
    out.elements = n_tokens * kv.n_kv_heads * (kv.key_size + kv.value_size);
  } else if (const auto* a = std::get_if<AttentionAttributes>(&node.attributes)) {
    const KvState& kv = std::get<KvState>(graph.states[a->state]);
    out.macs =
        seen_positions(n_tokens, context, kv.window) * a->n_heads * (kv.key_size + kv.value_size);
    const uint64_t oldest_seen =
        kv.window == 0 ? context : std::min<uint64_t>(context, kv.window + n_tokens - 1);
    out.state_bytes = oldest_seen * kv_bytes(kv);
  }
  return out;
}

}  // namespace tandem
