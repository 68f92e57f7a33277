#include "planner/plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "graph/builder.h"

namespace tandem {
namespace {

/// Runs nothing; supports the ops it is told to.
class FakeDevice : public Device {
 public:
  FakeDevice(std::string name, std::set<Op> ops) : ops_(std::move(ops)) {
    capabilities_.name = std::move(name);
  }
  const Capabilities& describe() const override { return capabilities_; }
  std::optional<Reason> supports(const Graph&, const Node& node, const StepShape&) const override {
    if (ops_.contains(node.op)) return std::nullopt;
    return Reason{ReasonCode::kUnsupportedOp,
                  fmt::format("{} is not built in", to_string(node.op))};
  }
  Estimate estimate(const Graph&, NodeRange, const StepLoad&) const override { return {}; }
  Result<std::unique_ptr<Executable>> compile(const Graph&, NodeRange, const StepShape&,
                                              const WorkspaceLayout&) override {
    return failure(ErrorCode::kUnsupported, "a fake compiles nothing");
  }
  Event enqueue(const Executable&, const Bindings&, std::span<const Event>) override {
    return Event::completed({});
  }
  Result<Access> import(std::span<const std::byte>) override { return Access::kMapped; }
  Result<void> set_power_state(PowerState) override { return {}; }

 private:
  Capabilities capabilities_;
  std::set<Op> ops_;
};

const std::byte kTable[4]{}, kHead[8]{};

/// embed, norm, linear with a state of one layer.
Graph small_graph() {
  GraphBuilder build(Phase::kPrefill);
  build.add_state(KvState{2, 16, 8, 0});
  const ValueId x = build.embed(build.add_weight({"table", DType::kF32, 100, 32, kTable, nullptr}));
  const ValueId h = build.rms_norm("norm", x, std::nullopt, 1e-6f);
  return build.finish(
      build.linear("head", h, build.add_weight({"head", DType::kF32, 100, 32, kHead, nullptr})));
}

const std::set<Op> kAll{Op::kEmbed, Op::kRmsNorm, Op::kLinear};

TEST(MakePlan, OneDeviceGetsOneSegment) {
  const Graph graph = small_graph();
  FakeDevice cpu("cpu", kAll);
  Device* const devices[] = {&cpu};
  const PlanRequest request{graph, {16, 1}};
  const auto plan = make_plan({&request, 1}, devices, 20);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->phase(Phase::kPrefill).segments.size(), 1u);
  EXPECT_EQ(plan->phase(Phase::kPrefill).segments[0].nodes.count, 3u);
  EXPECT_EQ(plan->weight_bytes, sizeof kTable + sizeof kHead);
  // 20 positions are padded to two tiles of 16: 32 * 2 heads * (16 + 8) * 2 bytes.
  EXPECT_EQ(plan->state_bytes, 32u * 2 * 24 * 2);
}

TEST(MakePlan, NeighbouringNodesOfADeviceShareASegment) {
  const Graph graph = small_graph();
  FakeDevice npu("npu", {Op::kRmsNorm, Op::kLinear}), cpu("cpu", kAll);
  Device* const devices[] = {&npu, &cpu};
  const PlanRequest request{graph, {16, 1}};
  const auto plan = make_plan({&request, 1}, devices, 16);
  ASSERT_TRUE(plan);
  const auto& segments = plan->phase(Phase::kPrefill).segments;
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].device, "cpu");
  EXPECT_EQ(segments[0].nodes.count, 1u);
  EXPECT_EQ(segments[1].device, "npu");
  EXPECT_EQ(segments[1].nodes.first, 1u);
  EXPECT_EQ(segments[1].nodes.count, 2u);
}

TEST(MakePlan, ANodeThatNothingRunsIsAnErrorWithEveryReason) {
  const Graph graph = small_graph();
  FakeDevice npu("npu", {Op::kLinear}), cpu("cpu", {Op::kEmbed});
  Device* const devices[] = {&npu, &cpu};
  const PlanRequest request{graph, {16, 1}};
  const auto plan = make_plan({&request, 1}, devices, 16);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(plan.error().message,
            "no device can run node norm; npu: rms_norm is not built in (unsupported_op); "
            "cpu: rms_norm is not built in (unsupported_op)");
}

TEST(Plan, HasAStableJsonForm) {
  const Graph graph = small_graph();
  FakeDevice cpu("cpu", kAll);
  Device* const devices[] = {&cpu};
  const PlanRequest request{graph, {16, 2}};
  const auto json = nlohmann::json::parse(make_plan({&request, 1}, devices, 16)->to_json());
  EXPECT_EQ(json["schema"], "tandem.plan.v1");
  EXPECT_EQ(json["phases"][0]["phase"], "prefill");
  EXPECT_EQ(json["phases"][0]["max_outputs"], 2);
  EXPECT_EQ(json["phases"][0]["segments"][0]["device"], "cpu");
  EXPECT_EQ(json["phases"][0]["segments"][0]["n_nodes"], 3);
}

}  // namespace
}  // namespace tandem
