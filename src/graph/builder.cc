#include "graph/builder.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"

namespace tandem {

WeightId GraphBuilder::add_weight(Weight weight) {
  graph_.weights.push_back(std::move(weight));
  return static_cast<WeightId>(graph_.weights.size() - 1);
}

RopeTableId GraphBuilder::add_rope_table(RopeTable table) {
  graph_.rope_tables.push_back(std::move(table));
  return static_cast<RopeTableId>(graph_.rope_tables.size() - 1);
}

StateId GraphBuilder::add_state(State state) {
  graph_.states.push_back(state);
  return static_cast<StateId>(graph_.states.size() - 1);
}

ValueId GraphBuilder::embed(WeightId table) {
  return append(Op::kEmbed, "embed", {}, weight(table).columns, EmbedAttributes{table});
}

ValueId GraphBuilder::rms_norm(const char* name, ValueId x, std::optional<WeightId> weight,
                               float epsilon) {
  return append(Op::kRmsNorm, name, {x}, width(x), NormAttributes{weight, width(x), epsilon});
}

ValueId GraphBuilder::qk_norm(const char* name, ValueId x, std::optional<WeightId> weight,
                              uint32_t head_size, float epsilon) {
  TANDEM_CHECK(width(x) % head_size == 0);
  return append(Op::kQkNorm, name, {x}, width(x), NormAttributes{weight, head_size, epsilon});
}

ValueId GraphBuilder::linear(const char* name, ValueId x, WeightId weight,
                             std::optional<WeightId> bias) {
  const Weight& w = this->weight(weight);
  TANDEM_CHECK(w.columns == width(x));
  return append(Op::kLinear, name, {x}, w.rows, LinearAttributes{weight, bias});
}

ValueId GraphBuilder::rope(const char* name, ValueId x, const RopeAttributes& attributes) {
  TANDEM_CHECK(width(x) == attributes.n_heads * attributes.head_size);
  return append(Op::kRope, name, {x}, width(x), attributes);
}

ValueId GraphBuilder::position_scale(const char* name, ValueId x,
                                     const PositionScaleAttributes& attributes) {
  return append(Op::kPositionScale, name, {x}, width(x), attributes);
}

void GraphBuilder::kv_write(ValueId k, ValueId v, StateId state) {
  const KvState& kv = std::get<KvState>(graph_.states[state]);
  TANDEM_CHECK(width(k) == kv.n_kv_heads * kv.key_size);
  TANDEM_CHECK(width(v) == kv.n_kv_heads * kv.value_size);
  graph_.nodes.push_back({Op::kKvWrite,
                          fmt::format("layers.{}.kv_write", layer_),
                          layer_,
                          {k, v},
                          std::nullopt,
                          KvWriteAttributes{state}});
}

ValueId GraphBuilder::attention(ValueId q, const AttentionAttributes& attributes) {
  const KvState& kv = std::get<KvState>(graph_.states[attributes.state]);
  TANDEM_CHECK(width(q) == attributes.n_heads * kv.key_size);
  TANDEM_CHECK(attributes.n_heads % kv.n_kv_heads == 0);
  return append(Op::kAttention, "attention", {q}, attributes.n_heads * kv.value_size, attributes);
}

ValueId GraphBuilder::glu(ValueId gate, ValueId up, kernels::Activation activation) {
  TANDEM_CHECK(width(gate) == width(up));
  return append(Op::kGlu, "glu", {gate, up}, width(up), GluAttributes{activation});
}

ValueId GraphBuilder::add(const char* name, ValueId a, ValueId b) {
  TANDEM_CHECK(width(a) == width(b));
  return append(Op::kAdd, name, {a, b}, width(a));
}

ValueId GraphBuilder::scale(const char* name, ValueId x, float factor) {
  return append(Op::kScale, name, {x}, width(x), ScaleAttributes{factor});
}

ValueId GraphBuilder::softcap(const char* name, ValueId x, float cap) {
  return append(Op::kSoftcap, name, {x}, width(x), SoftcapAttributes{cap});
}

ValueId GraphBuilder::select_rows(ValueId x) {
  const ValueId out = append(Op::kSelectRows, "select_rows", {x}, width(x));
  graph_.values[out].rows = RowSet::kOutputs;
  return out;
}

Graph GraphBuilder::finish(ValueId logits) {
  graph_.logits = logits;
  return std::exchange(graph_, Graph{});
}

ValueId GraphBuilder::append(Op op, const char* name, std::vector<ValueId> inputs, uint32_t width,
                             NodeAttributes attributes) {
  const RowSet rows = inputs.empty() ? RowSet::kTokens : graph_.values[inputs[0]].rows;
  const ValueId out = static_cast<ValueId>(graph_.values.size());
  std::string full = layer_ < 0 ? name : fmt::format("layers.{}.{}", layer_, name);
  graph_.values.push_back({full, width, rows});
  graph_.nodes.push_back(
      {op, std::move(full), layer_, std::move(inputs), out, std::move(attributes)});
  return out;
}

}  // namespace tandem
