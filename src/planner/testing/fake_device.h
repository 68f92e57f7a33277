#pragma once

#include <set>

#include "device/device.h"
#include "graph/builder.h"

namespace tandem::testing {

/// A device for tests of planning: runs nothing, supports the ops it is told to and costs a launch
/// plus the same for each node.
class FakeDevice : public Device {
 public:
  FakeDevice(std::string name, std::set<Op> ops) : ops_(std::move(ops)) {
    facts.name = std::move(name);
    facts.host = facts.name == "cpu";
    facts.shares_memory = facts.knows_energy = true;
  }

  Capabilities facts;
  double launch_seconds = 0, seconds_per_node = 0, watts = 1;
  bool per_token = false;
  bool refuses_unknown_rows = false;

  const Capabilities& describe() const override { return facts; }
  std::optional<Reason> supports(const Graph&, const Node& node,
                                 const StepShape& shape) const override {
    if (refuses_unknown_rows && shape.max_tokens == 0) {
      return Reason{ReasonCode::kDynamicShape, "the token count is not known"};
    }
    if (ops_.contains(node.op)) return std::nullopt;
    return Reason{ReasonCode::kUnsupportedOp,
                  fmt::format("{} is not built in", to_string(node.op))};
  }
  Estimate estimate(const Graph&, NodeRange segment, const StepLoad& load) const override {
    Estimate out{.seconds = launch_seconds, .launch_seconds = launch_seconds};
    out.seconds += segment.count * seconds_per_node * (per_token ? load.n_tokens : 1);
    out.joules = out.seconds * watts;
    return out;
  }
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
  std::set<Op> ops_;
};

inline std::set<Op> all_ops() {
  std::set<Op> out;
  for (int i = 0; i < kOpCount; ++i) out.insert(static_cast<Op>(i));
  return out;
}

/// A feed-forward block between an embedding and a head: embed, norm, gate, up, glu, down,
/// residual, mix, select_rows, head. Weights are F32 of width 32, values never read.
inline Graph ten_node_graph(Phase phase) {
  static const std::vector<std::byte> bytes(100 * 64 * 4);
  GraphBuilder build(phase);
  const auto weight = [&](const char* name, uint32_t rows, uint32_t columns) {
    return build.add_weight({name, DType::kF32, rows, columns,
                             std::span(bytes).first(size_t{rows} * columns * 4), nullptr});
  };
  const ValueId x = build.embed(weight("table", 100, 32));
  build.enter_layer(0);
  const ValueId h = build.rms_norm("norm", x, std::nullopt, 1e-6f);
  const ValueId gate = build.linear("gate", h, weight("gate", 64, 32));
  const ValueId up = build.linear("up", h, weight("up", 64, 32));
  const ValueId glu = build.glu(gate, up, kernels::Activation::kSilu);
  const ValueId down = build.linear("down", glu, weight("down", 32, 64));
  const ValueId y = build.add("residual", x, down);
  const ValueId mixed = build.linear("mix", y, weight("mix", 32, 32));
  build.leave_layers();
  return build.finish(build.linear("head", build.select_rows(mixed), weight("head", 100, 32)));
}

}  // namespace tandem::testing
