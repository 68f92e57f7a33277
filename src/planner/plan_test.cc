#include "planner/plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "planner/testing/fake_device.h"

namespace tandem {
namespace {

using testing::FakeDevice;

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

/// The devices of each segment: "cpu npu cpu".
std::string path_of(const PhasePlan& phase) {
  std::string out;
  for (const Segment& s : phase.segments) out += (out.empty() ? "" : " ") + s.device;
  return out;
}

/// A fast npu that lacks embed, and a slow cpu.
struct TwoDevices {
  FakeDevice npu{"npu", {Op::kRmsNorm, Op::kLinear}}, cpu{"cpu", kAll};
  Device* devices[2]{&npu, &cpu};
  Graph graph = small_graph();
  PlanRequest request{graph, {16, 1}};

  TwoDevices() {
    npu.launch_seconds = 10;
    npu.seconds_per_node = 1;
    npu.watts = 4;
    cpu.seconds_per_node = 8;
  }
  Result<Plan> plan(const PlanOptions& options = {}) {
    return make_plan({&request, 1}, devices, 64, options);
  }
};

TEST(MakePlan, WeighsALaunchAgainstWhatTheDeviceSaves) {
  TwoDevices two;
  EXPECT_EQ(path_of(two.plan()->phases[0]), "cpu npu");  // 8 + 12 against 24
  two.npu.launch_seconds = 15;
  EXPECT_EQ(path_of(two.plan()->phases[0]), "cpu");  // 8 + 17 against 24
}

TEST(MakePlan, TellsWhyANodeStayedBehind) {
  TwoDevices two;
  two.npu.launch_seconds = 15;
  const auto plan = two.plan();
  const auto& refusals = plan->phases[0].refusals;
  ASSERT_EQ(refusals.size(), 3u);
  EXPECT_EQ(refusals[0].reason.code, ReasonCode::kUnsupportedOp);
  EXPECT_EQ(refusals[1].reason.code, ReasonCode::kCost);
  EXPECT_EQ(refusals[1].reason.sentence,
            "the step takes 24000.000 ms with it on cpu, 25000.000 ms with it there");
}

TEST(MakePlan, ObjectivesDisagree) {
  TwoDevices two;  // delegated: 20 s, 8 + 48 J; host: 24 s, 24 J
  EXPECT_EQ(path_of(two.plan({.objective = Objective::kLatency})->phases[0]), "cpu npu");
  EXPECT_EQ(path_of(two.plan({.objective = Objective::kEnergy})->phases[0]), "cpu");
  EXPECT_EQ(path_of(two.plan({.objective = Objective::kBalanced})->phases[0]), "cpu");
}

TEST(MakePlan, KeepsUnderAPowerCap) {
  TwoDevices two;  // delegated: 56 J in 20 s
  EXPECT_EQ(path_of(two.plan({.power_cap_watts = 3})->phases[0]), "cpu npu");
  EXPECT_EQ(path_of(two.plan({.power_cap_watts = 2})->phases[0]), "cpu");
  const auto impossible = two.plan({.power_cap_watts = 0.5});
  ASSERT_FALSE(impossible);
  EXPECT_EQ(impossible.error().message, "no plan for prefill draws 0.5 W or less");
}

TEST(MakePlan, RespectsPins) {
  TwoDevices two;
  const auto plan = two.plan({.pins = {{"h*d", "cpu"}}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(path_of(plan->phases[0]), "cpu");  // a launch for the norm alone does not pay
  EXPECT_EQ(plan->phases[0].refusals[2].reason.code, ReasonCode::kPinnedByUser);
  EXPECT_EQ(path_of(two.plan({.pins = {{"norm", "npu"}, {"head", "cpu"}}})->phases[0]),
            "cpu npu cpu");
}

TEST(MakePlan, RefusesPinsThatCannotHold) {
  TwoDevices two;
  EXPECT_EQ(two.plan({.pins = {{"embed", "npu"}}}).error().message,
            "pin embed=npu: embed cannot run there in prefill: embed is not built in");
  EXPECT_EQ(two.plan({.pins = {{"*", "gpu"}}}).error().message,
            "pin *=gpu: there is no such device; here are npu, cpu");
  EXPECT_EQ(two.plan({.pins = {{"layer.*", "cpu"}}}).error().message,
            "pin layer.*=cpu matches no node");
}

TEST(MakePlan, EnergyNeedsEnergyFigures) {
  TwoDevices two;
  two.cpu.facts.knows_energy = false;
  const auto plan = two.plan({.objective = Objective::kEnergy});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message,
            "an objective with energy needs energy figures, and cpu has none; a SoC profile has "
            "them");
}

TEST(MakePlan, CountsWhatCrossesAndWhatIsCopied) {
  TwoDevices two;
  EXPECT_EQ(two.plan()->phases[0].n_crossings(), 1u);
  EXPECT_EQ(two.plan()->phases[0].crossing_bytes, 16u * 32 * 4);
  EXPECT_EQ(two.plan()->phases[0].copied_bytes, 0u);
  two.npu.facts.shares_memory = false;
  two.npu.facts.copy_bytes_per_second = 16 * 32 * 4;  // a second more
  const auto plan = two.plan();
  EXPECT_EQ(plan->phases[0].copied_bytes, 16u * 32 * 4);
  EXPECT_DOUBLE_EQ(plan->phases[0].predicted.seconds, 21);
}

TEST(MakePlan, CutsASegmentThatAContextCannotHold) {
  TwoDevices two;
  two.npu.facts.context_memory_bytes = sizeof kHead;
  EXPECT_EQ(path_of(two.plan()->phases[0]), "cpu npu");
  two.npu.facts.context_memory_bytes = sizeof kHead - 1;  // supports() of a real device refuses
  EXPECT_EQ(path_of(two.plan()->phases[0]), "cpu npu npu");
}

TEST(MakePlan, DelegatesEachNodeByItselfToBeComparedWith) {
  TwoDevices two;
  const auto plan = two.plan({.policy = Policy::kPerNode});
  EXPECT_EQ(path_of(plan->phases[0]), "cpu npu npu");
  EXPECT_DOUBLE_EQ(plan->phases[0].predicted.seconds, 8 + 11 + 11);
  EXPECT_EQ(path_of(two.plan({.policy = Policy::kHostOnly})->phases[0]), "cpu");
}

TEST(MakePlan, StaticShapesGetBucketsAndTheEndOfAPromptGoesToTheHost) {
  TwoDevices two;
  two.request.shape = {64, 1};
  two.npu.facts.static_shapes = true;
  two.npu.facts.buckets = {16, 32, 64, 128};
  two.npu.per_token = two.cpu.per_token = true;
  two.npu.launch_seconds = 40;
  const auto plan = two.plan({.prompt_tokens = 66});
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_FALSE(plan->chunking.buckets().empty());
  EXPECT_EQ(plan->chunking.buckets().back().n_tokens, 64u);
  EXPECT_EQ(plan->next_chunk(66), 64u);
  EXPECT_EQ(path_of(plan->phases[plan->prefill_for(64)]), "cpu npu");
  // Two tokens: 2 * 24 on the host against a launch and sixteen padded rows.
  EXPECT_EQ(plan->next_chunk(2), 2u);
  EXPECT_EQ(path_of(plan->phases[plan->prefill_for(2)]), "cpu");
}

TEST(Plan, HasAStableJsonForm) {
  const Graph graph = small_graph();
  FakeDevice cpu("cpu", kAll);
  Device* const devices[] = {&cpu};
  const PlanRequest request{graph, {16, 2}};
  const auto json = nlohmann::json::parse(make_plan({&request, 1}, devices, 16)->to_json());
  EXPECT_EQ(json["schema"], "tandem.plan.v1");
  EXPECT_EQ(json["devices"][0]["name"], "cpu");
  EXPECT_EQ(json["phases"][0]["not_delegated"].size(), 0u);
  EXPECT_EQ(json["phases"][0]["phase"], "prefill");
  EXPECT_EQ(json["phases"][0]["max_outputs"], 2);
  EXPECT_EQ(json["phases"][0]["segments"][0]["device"], "cpu");
  EXPECT_EQ(json["phases"][0]["segments"][0]["n_nodes"], 3);
}

}  // namespace
}  // namespace tandem
