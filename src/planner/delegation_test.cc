#include "planner/delegation.h"

#include <gtest/gtest.h>

#include "planner/prediction.h"
#include "planner/testing/fake_device.h"

namespace tandem {
namespace {

using testing::FakeDevice;
using testing::ten_node_graph;

/// An NPU that takes linears and adds: six of the ten nodes.
struct Fixture {
  FakeDevice npu{"npu", {Op::kLinear, Op::kAdd}};
  FakeDevice cpu{"cpu", testing::all_ops()};
  Device* devices[2]{&npu, &cpu};
  Graph graph = ten_node_graph(Phase::kPrefill);
  PlanRequest request{graph, {8, 8}};

  Fixture() {
    npu.seconds_per_node = 1;
    cpu.seconds_per_node = 5;
  }
  Plan plan(const PlanOptions& options = {}) {
    auto made = make_plan({&request, 1}, devices, 64, options);
    EXPECT_TRUE(made) << made.error().message;
    return *made;
  }
};

// What users cannot find out elsewhere (onnxruntime issue 22439): how much really runs on the NPU.
TEST(Delegation, FieldReportH03CountsSixOfTenAndNamesTheOtherFour) {
  Fixture f;
  const Plan plan = f.plan();
  const PhaseDelegation d = count_delegation(plan, plan.phases[0], f.graph);
  EXPECT_EQ(d.n_nodes, 10u);
  EXPECT_EQ(d.n_delegated, 6u);
  EXPECT_EQ(d.headline(), "Delegated 6 of 10 nodes (100.0 % of MACs, 97.6 % of bytes)");
  EXPECT_EQ(d.n_crossings, 5u);
  ASSERT_EQ(d.devices.size(), 2u);
  EXPECT_EQ(d.devices[0].n_nodes, 6u);
  EXPECT_DOUBLE_EQ(d.devices[0].seconds, 6);
  EXPECT_DOUBLE_EQ(d.devices[1].seconds, 20);
  const auto refused = require_all_delegated(d);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "4 of 10 nodes of prefill would run on the host:\n"
            "  embed; npu: embed is not built in (unsupported_op)\n"
            "  layers.0.norm; npu: rms_norm is not built in (unsupported_op)\n"
            "  layers.0.glu; npu: glu is not built in (unsupported_op)\n"
            "  select_rows; npu: select_rows is not built in (unsupported_op)");
}

TEST(Delegation, FieldReportH03AnUnknownSizeIsNotReadAsOne) {
  Fixture f;
  f.npu.refuses_unknown_rows = true;
  f.request.shape = {0, 0};  // no token count known
  const Plan plan = f.plan();
  const PhaseDelegation d = count_delegation(plan, plan.phases[0], f.graph);
  EXPECT_EQ(d.n_delegated, 0u);
  EXPECT_EQ(d.undelegated[1].refusals[0].reason.code, ReasonCode::kDynamicShape);
}

TEST(Delegation, TellsByOp) {
  Fixture f;
  const Plan plan = f.plan();
  const PhaseDelegation d = count_delegation(plan, plan.phases[0], f.graph);
  const auto linear = std::find_if(d.ops.begin(), d.ops.end(),
                                   [](const OpDelegation& op) { return op.op == Op::kLinear; });
  ASSERT_NE(linear, d.ops.end());
  EXPECT_EQ(linear->n_delegated, 5u);
  EXPECT_EQ(linear->n_nodes, 5u);
}

TEST(Delegation, AllDelegatedIsNoError) {
  Fixture f;
  FakeDevice whole("npu", testing::all_ops());
  f.devices[0] = &whole;
  f.cpu.seconds_per_node = 10;
  const Plan plan = f.plan();
  EXPECT_TRUE(require_all_delegated(count_delegation(plan, plan.phases[0], f.graph)));
}

TEST(Prediction, AddsChunksAndDecodedTokens) {
  Fixture f;
  f.cpu.per_token = true;
  f.devices[0] = &f.cpu;
  const Graph decode = ten_node_graph(Phase::kDecode);
  const PlanRequest requests[] = {{f.graph, {8, 8}}, {decode, {1, 1}}};
  Device* const devices[] = {&f.cpu};
  const auto plan = make_plan(requests, devices, 64);
  ASSERT_TRUE(plan);
  const Prediction p = predict(*plan, f.graph, decode, devices, {20, 11});
  EXPECT_EQ(p.chunks, (std::vector<uint32_t>{8, 8, 4}));
  EXPECT_DOUBLE_EQ(p.prefill.seconds, 20 * 50);
  EXPECT_EQ(p.n_decoded, 10u);
  EXPECT_DOUBLE_EQ(p.decode.seconds, 10 * 50);
}

}  // namespace
}  // namespace tandem
