#pragma once

#include <string>

#include "graph/graph.h"

namespace tandem {

/// Writes a Graph node by node; each function appends one node and returns the value it writes.
/// Architectures read like the model's own formula:
///
///   ValueId x = build.embed(table);
///   build.enter_layer(0);
///   ValueId h = build.rms_norm("attention_norm", x, weight, epsilon);
///
/// Shapes were checked when the weights were looked up; a mismatch here is our own bug.
class GraphBuilder {
 public:
  explicit GraphBuilder(Phase phase) { graph_.phase = phase; }

  WeightId add_weight(Weight weight);
  RopeTableId add_rope_table(RopeTable table);
  StateId add_state(State state);
  const Weight& weight(WeightId id) const { return graph_.weights[id]; }
  uint32_t width(ValueId id) const { return graph_.values[id].width; }

  /// Names of the following nodes start with "layers.N.", or with nothing after leave_layers.
  void enter_layer(int layer) { layer_ = layer; }
  void leave_layers() { layer_ = -1; }

  ValueId embed(WeightId table);
  ValueId rms_norm(const char* name, ValueId x, std::optional<WeightId> weight, float epsilon);
  ValueId qk_norm(const char* name, ValueId x, std::optional<WeightId> weight, uint32_t head_size,
                  float epsilon);
  ValueId linear(const char* name, ValueId x, WeightId weight,
                 std::optional<WeightId> bias = std::nullopt);
  ValueId rope(const char* name, ValueId x, const RopeAttributes& attributes);
  ValueId position_scale(const char* name, ValueId x, const PositionScaleAttributes& attributes);
  void kv_write(ValueId k, ValueId v, StateId state);
  ValueId attention(ValueId q, const AttentionAttributes& attributes);
  ValueId glu(ValueId gate, ValueId up, kernels::Activation activation);
  ValueId add(const char* name, ValueId a, ValueId b);
  ValueId scale(const char* name, ValueId x, float factor);
  ValueId softcap(const char* name, ValueId x, float cap);
  ValueId select_rows(ValueId x);

  /// The graph whose result is `logits`. The builder is empty afterwards.
  Graph finish(ValueId logits);

 private:
  ValueId append(Op op, const char* name, std::vector<ValueId> inputs, uint32_t width,
                 NodeAttributes attributes = {});

  Graph graph_;
  int layer_ = -1;
};

}  // namespace tandem
