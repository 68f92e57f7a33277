#include "planner/workspace.h"

#include <gtest/gtest.h>

#include "graph/builder.h"

namespace tandem {
namespace {

WeightId add_matrix(GraphBuilder& build, const char* name, uint32_t rows, uint32_t columns) {
  return build.add_weight({name, DType::kF32, rows, columns, {}, nullptr});
}

/// embed -> norm -> gate, up -> glu -> down -> add -> select -> head
Graph small_graph() {
  GraphBuilder build(Phase::kPrefill);
  const ValueId x = build.embed(add_matrix(build, "table", 100, 32));
  const ValueId h = build.rms_norm("norm", x, std::nullopt, 1e-6f);
  const ValueId gate = build.linear("gate", h, add_matrix(build, "gate", 64, 32));
  const ValueId up = build.linear("up", h, add_matrix(build, "up", 64, 32));
  const ValueId g = build.glu(gate, up, kernels::Activation::kSilu);
  const ValueId down = build.linear("down", g, add_matrix(build, "down", 32, 64));
  const ValueId sum = build.add("sum", x, down);
  const ValueId wanted = build.select_rows(sum);
  return build.finish(build.linear("head", wanted, add_matrix(build, "head", 100, 32)));
}

struct Lifetime {
  size_t first, last;
};

Lifetime lifetime(const Graph& graph, ValueId id) {
  Lifetime out{graph.nodes.size(), 0};
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].output == id) out.first = n;
    for (ValueId input : graph.nodes[n].inputs) {
      if (input == id) out.last = n;
    }
  }
  return out;
}

TEST(PlanWorkspace, ValuesAliveTogetherNeverOverlap) {
  const Graph graph = small_graph();
  const StepShape shape{10, 2};
  const WorkspaceLayout layout = plan_workspace(graph, shape);
  const auto bytes = [&](ValueId id) {
    const Value& v = graph.values[id];
    return (v.rows == RowSet::kTokens ? 10 : 2) * v.width * sizeof(float);
  };
  for (ValueId a = 0; a < graph.values.size(); ++a) {
    for (ValueId b = 0; b < a; ++b) {
      if (a == graph.logits || b == graph.logits) continue;
      const Lifetime la = lifetime(graph, a), lb = lifetime(graph, b);
      // A node may overwrite an input it reads last, so touching at one node is allowed.
      const bool together = la.first < lb.last && lb.first < la.last;
      const bool overlap = layout.offsets[a] < layout.offsets[b] + bytes(b) &&
                           layout.offsets[b] < layout.offsets[a] + bytes(a);
      EXPECT_FALSE(together && overlap) << graph.values[a].name << " and " << graph.values[b].name;
    }
    EXPECT_EQ(layout.offsets[a] % 64, 0u);
    if (a != graph.logits) {
      EXPECT_LE(layout.offsets[a] + bytes(a), layout.size_bytes);
    }
  }
}

TEST(PlanWorkspace, LinearNeverWritesOverItsInput) {
  const Graph graph = small_graph();
  const WorkspaceLayout layout = plan_workspace(graph, {10, 2});
  for (const Node& node : graph.nodes) {
    if (node.op != Op::kLinear || *node.output == graph.logits) continue;
    EXPECT_NE(layout.offsets[node.inputs[0]], layout.offsets[*node.output]) << node.name;
  }
}

TEST(PlanWorkspace, ReusesMemory) {
  const Graph graph = small_graph();
  uint64_t sum = 0;
  for (const Value& v : graph.values) sum += 10 * v.width * sizeof(float);
  EXPECT_LT(plan_workspace(graph, {10, 10}).size_bytes, sum / 2);
}

}  // namespace
}  // namespace tandem
