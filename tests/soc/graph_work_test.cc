// The work of a model's sizes is the work of its graph: both ways to ask give the same cost.

#include <gtest/gtest.h>

#include "soc/cost.h"
#include "soc/model_work.h"
#include "soc/profile_reader.h"
#include "tests/support/tiny_model.h"

namespace tandem::soc {
namespace {

std::vector<Work> graph_work(const Graph& graph, const WorkTypes& types, const StepWork& step) {
  std::vector<Work> out;
  for (const Node& node : graph.nodes) {
    out.push_back(work_of(graph, node, step.n_tokens, step.context, types));
  }
  return out;
}

/// Sums that do not depend on the order of nodes or on how linears are grouped.
struct Totals {
  uint64_t macs = 0, weight_bytes = 0, state_bytes = 0, written_bytes = 0;
  double vector_ops = 0;
};

Totals totals_of(const std::vector<Work>& list) {
  Totals out;
  for (const Work& work : list) {
    out.macs += macs_of(work);
    if (work.op == Op::kLinear) out.weight_bytes += work.weight_bytes;
    out.state_bytes += work.state_bytes;
    out.written_bytes += work.written_bytes;
    out.vector_ops += vector_ops_of(work);
  }
  return out;
}

TEST(GraphWork, EqualsTheWorkOfTheModelsSizes) {
  const ModelShape shape = testing::tiny_shape("llama");
  const auto model = testing::make_tiny_model(shape, DType::kF32);
  const ModelSizes sizes{.n_layers = shape.n_layers,
                         .width = shape.width,
                         .n_heads = shape.n_heads,
                         .n_kv_heads = shape.n_kv_heads,
                         .head_size = shape.key_size,
                         .ffn_width = shape.ffn_width,
                         .vocabulary = shape.vocabulary};
  const WorkTypes types{
      .activations = NumericType::kFp16, .weights = NumericType::kFp32, .weight_bits = 32};
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    const auto graph = build_graph(*model, phase);
    ASSERT_TRUE(graph) << graph.error().message;
    const uint64_t tokens = phase == Phase::kPrefill ? 8 : 1;
    const StepWork step{.n_tokens = tokens, .context = 24, .head_bits = 32};
    const Totals from_graph = totals_of(graph_work(*graph, types, step));
    const Totals from_sizes = totals_of(model_work(sizes, types, step));
    EXPECT_EQ(from_graph.macs, from_sizes.macs);
    EXPECT_EQ(from_graph.weight_bytes, from_sizes.weight_bytes);
    EXPECT_EQ(from_graph.state_bytes, from_sizes.state_bytes);
    EXPECT_EQ(from_graph.written_bytes, from_sizes.written_bytes);
    EXPECT_DOUBLE_EQ(from_graph.vector_ops, from_sizes.vector_ops);
  }
}

}  // namespace
}  // namespace tandem::soc
