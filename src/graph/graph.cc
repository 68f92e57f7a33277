// The names, the textual form and the operation counts of a graph.

#include "graph/graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem {

const char* to_string(Phase phase) {
  switch (phase) {
    case Phase::kPrefill:
      return "prefill";
    case Phase::kDecode:
      return "decode";
    case Phase::kVerify:
      return "verify";
  }
  return "unknown";
}

const char* to_string(Op op) {
  switch (op) {
    case Op::kEmbed:
      return "embed";
    case Op::kRmsNorm:
      return "rms_norm";
    case Op::kQkNorm:
      return "qk_norm";
    case Op::kLinear:
      return "linear";
    case Op::kRope:
      return "rope";
    case Op::kPositionScale:
      return "position_scale";
    case Op::kKvWrite:
      return "kv_write";
    case Op::kAttention:
      return "attention";
    case Op::kGlu:
      return "glu";
    case Op::kAdd:
      return "add";
    case Op::kScale:
      return "scale";
    case Op::kSoftcap:
      return "softcap";
    case Op::kSelectRows:
      return "select_rows";
  }
  return "unknown";
}

namespace {

std::string describe_value(const Graph& graph, ValueId id) {
  const Value& value = graph.values[id];
  const char* rows = value.rows == RowSet::kTokens ? "T" : "O";
  return fmt::format("{}[{},{}]", value.name, rows, value.width);
}

std::string describe_weights(const Graph& graph, const Node& node) {
  const auto one = [&](WeightId id) {
    const Weight& w = graph.weights[id];
    return fmt::format(" {}:{}[{},{}]", w.name, name(w.type), w.rows, w.columns);
  };
  if (const auto* a = std::get_if<EmbedAttributes>(&node.attributes)) return one(a->table);
  if (const auto* a = std::get_if<NormAttributes>(&node.attributes)) {
    return a->weight ? one(*a->weight) : "";
  }
  if (const auto* a = std::get_if<LinearAttributes>(&node.attributes)) {
    return one(a->weight) + (a->bias ? one(*a->bias) : "");
  }
  return "";
}

}  // namespace

std::string Graph::dump() const {
  std::string out = fmt::format("graph {}: {} nodes\n", to_string(phase), nodes.size());
  for (const Node& node : nodes) {
    out += fmt::format("{} = {}(", node.output ? describe_value(*this, *node.output) : "-",
                       to_string(node.op));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      out += (i == 0 ? "" : ", ") + values[node.inputs[i]].name;
    }
    out += ")" + describe_weights(*this, node) + "\n";
  }
  return out;
}

uint64_t count_macs(const Graph& graph, const Node& node, uint64_t n_tokens, uint64_t context) {
  if (const auto* linear = std::get_if<LinearAttributes>(&node.attributes)) {
    const Weight& w = graph.weights[linear->weight];
    return n_tokens * w.rows * w.columns;
  }
  if (const auto* attention = std::get_if<AttentionAttributes>(&node.attributes)) {
    const KvState& kv = std::get<KvState>(graph.states[attention->state]);
    const uint64_t seen = kv.window == 0 ? context : std::min<uint64_t>(context, kv.window);
    return n_tokens * attention->n_heads * seen * (kv.key_size + kv.value_size);
  }
  return 0;
}

}  // namespace tandem
