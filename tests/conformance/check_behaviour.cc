// The parts of the device contract that are not arithmetic.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "graph/builder.h"
#include "graph/node_work.h"
#include "tests/conformance/conformance.h"

namespace tandem::testing {
namespace {

constexpr uint32_t kRows = 4;

/// embed, scale by `factor`, rms_norm, and a scale as the end.
struct SmallStep {
  explicit SmallStep(float factor) : table(64 * 32, 0.5f) {
    GraphBuilder build(Phase::kPrefill);
    const ValueId x = build.embed(
        build.add_weight({"table", DType::kF32, 64, 32, std::as_bytes(std::span(table)), nullptr}));
    const ValueId y = build.scale("scaled", x, factor);
    graph = build.finish(build.rms_norm("norm", y, std::nullopt, 1e-6f));
    for (size_t i = 0; i < graph.values.size(); ++i) layout.offsets.push_back(i * kRows * 32 * 4);
    layout.size_bytes = graph.values.size() * kRows * 32 * 4;
    workspace = *Buffer::allocate(layout.size_bytes, "a conformance case");
    bindings.tokens = tokens;
    bindings.sequences = {&sequence, 1};
    bindings.output_rows = outputs;
    bindings.workspace = workspace.data();
    bindings.logits = logits;
  }

  bool supported_by(const Device& device) const {
    for (const Node& node : graph.nodes) {
      if (device.supports(graph, node, shape)) return false;
    }
    return true;
  }

  std::vector<float> table;
  Graph graph;
  WorkspaceLayout layout;
  StepShape shape{kRows, kRows};
  Buffer workspace;
  int32_t tokens[kRows]{1, 2, 3, 4};
  uint32_t outputs[1]{kRows - 1};
  SequenceRows sequence{0, kRows, 0, nullptr};
  float logits[kRows * 32]{};
  Bindings bindings;
};

void check_facts(const Device& device) {
  const Capabilities& facts = device.describe();
  EXPECT_FALSE(facts.name.empty());
  EXPECT_EQ(facts.name.find_first_of(" \t\n\"'"), std::string::npos) << facts.name;
  EXPECT_FALSE(facts.description.empty());
  EXPECT_FALSE(facts.ops.empty()) << "reports show the operator matrix";
}

void check_refusals(Device& device) {
  for (const OpCase& c : all_op_cases()) {
    const Node& node = c.graph->nodes[c.tested.first];
    const auto reason = device.supports(*c.graph, node, c.shape);
    if (!reason) continue;
    EXPECT_FALSE(reason->sentence.empty()) << c.name;
    WorkspaceLayout layout;
    layout.offsets.resize(c.graph->values.size(), 0);
    const auto made = device.compile(*c.graph, {c.tested.first, 1}, c.shape, layout);
    ASSERT_FALSE(made) << c.name << ": compiled what supports() refuses";
    EXPECT_EQ(made.error().code, ErrorCode::kUnsupported) << c.name;
  }
}

void check_order(Device& device, SmallStep& step, const Executable& executable) {
  const Event failed = Event::completed(failure(ErrorCode::kDevice, "earlier failure"));
  step.logits[0] = 123.0f;
  const auto outcome = device.enqueue(executable, step.bindings, {&failed, 1}).wait();
  ASSERT_FALSE(outcome) << "ran after a failure";
  EXPECT_EQ(outcome.error().message, "earlier failure");
  EXPECT_EQ(step.logits[0], 123.0f) << "ran after a failure";

  const auto completion = std::make_shared<Completion>();
  const Event pending = Event::pending(completion);
  Result<void> late;
  std::thread caller([&] {
    late = device.enqueue(executable, step.bindings, {&pending, 1}).wait();
  });
  completion->complete({});
  caller.join();
  EXPECT_TRUE(late);
  EXPECT_NE(step.logits[0], 123.0f);
}

void check_cancel_and_numbers(Device& device, SmallStep& step, const Executable& executable) {
  std::atomic<bool> cancel{true};
  Bindings cancelled = step.bindings;
  cancelled.cancel = &cancel;
  const auto outcome = device.enqueue(executable, cancelled, {}).wait();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kCancelled);

  SmallStep bad(std::numeric_limits<float>::infinity());
  const auto made = device.compile(bad.graph, {0, 3}, bad.shape, bad.layout);
  ASSERT_TRUE(made) << made.error().message;
  bad.bindings.check_finite = true;
  const auto found = device.enqueue(**made, bad.bindings, {}).wait();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNumeric);
}

void check_estimates(const Device& device) {
  for (const OpCase& c : all_op_cases()) {
    const Graph& graph = *c.graph;
    const NodeRange all{0, static_cast<uint32_t>(graph.nodes.size())};
    const StepLoad load{.n_tokens = 64, .context = 64};
    const Estimate launch = device.estimate(graph, {0, 0}, load);
    EXPECT_GE(launch.seconds, 0);
    EXPECT_EQ(launch.seconds, launch.launch_seconds);
    const Estimate few = device.estimate(graph, all, {.n_tokens = 4, .context = 64});
    const Estimate many = device.estimate(graph, all, load);
    EXPECT_GT(few.seconds, 0) << c.name;
    EXPECT_TRUE(std::isfinite(many.seconds)) << c.name;
    EXPECT_GE(many.seconds, few.seconds * (1 - 1e-9)) << c.name;
    uint64_t macs = 0;
    double parts = launch.seconds;
    for (uint32_t i = 0; i < all.count; ++i) {
      const Estimate one = device.estimate(graph, {i, 1}, load);
      EXPECT_GE(one.inner_seconds(), 0) << c.name;
      macs += count_work(graph, graph.nodes[i], load.n_tokens, load.context).macs;
      parts += one.inner_seconds();
      if (i == 0) parts += one.entry_seconds;
      if (i + 1 == all.count) parts += one.exit_seconds;
    }
    EXPECT_EQ(many.macs, macs) << c.name;
    EXPECT_LE(many.seconds, parts * (1 + 1e-9)) << c.name;
    if (!device.describe().knows_energy) {
      EXPECT_EQ(many.joules, 0) << c.name;
    }
  }
}

}  // namespace

void check_behaviour(Device& device) {
  check_facts(device);
  check_refusals(device);
  check_estimates(device);
  SmallStep step(2.0f);
  if (!step.supported_by(device)) return;
  const auto executable = device.compile(step.graph, {0, 3}, step.shape, step.layout);
  ASSERT_TRUE(executable) << executable.error().message;
  EXPECT_TRUE(device.import(step.workspace.bytes()));
  EXPECT_TRUE(device.import(step.workspace.bytes())) << "the second time";
  check_order(device, step, **executable);
  check_cancel_and_numbers(device, step, **executable);
  for (PowerState state : {PowerState::kActive, PowerState::kIdle, PowerState::kOff}) {
    EXPECT_TRUE(device.set_power_state(state));
    EXPECT_TRUE(device.enqueue(**executable, step.bindings, {}).wait()) << "wakes by itself";
  }
}

}  // namespace tandem::testing
