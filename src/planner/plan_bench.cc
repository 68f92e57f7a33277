// How long planning takes: the shape of Llama 3.1 8B over four devices.

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "graph/builder.h"
#include "graph/node_work.h"
#include "planner/plan.h"

namespace tandem {
namespace {

/// Costs by roofline; runs nothing.
class RooflineDevice : public Device {
 public:
  RooflineDevice(std::string name, double macs, double bytes, double launch, bool is_static) {
    facts_.name = std::move(name);
    facts_.host = facts_.name == "cpu";
    facts_.shares_memory = facts_.knows_energy = true;
    facts_.static_shapes = is_static;
    if (is_static) facts_.buckets = {32, 64, 128, 256, 512, 1024};
    macs_ = macs;
    bytes_ = bytes;
    launch_ = launch;
  }
  const Capabilities& describe() const override { return facts_; }
  std::optional<Reason> supports(const Graph&, const Node& node, const StepShape&) const override {
    if (facts_.host || node.op != Op::kEmbed) return std::nullopt;
    return Reason{ReasonCode::kUnsupportedOp, "embed is not built in"};
  }
  Estimate estimate(const Graph& graph, NodeRange segment, const StepLoad& load) const override {
    Estimate out{.seconds = launch_, .launch_seconds = launch_};
    for (uint32_t i = segment.first; i < segment.first + segment.count; ++i) {
      const NodeWork work = count_work(graph, graph.nodes[i], load.n_tokens, load.context);
      out.seconds += std::max(work.macs / macs_, (work.weight_bytes + work.state_bytes) / bytes_);
    }
    out.joules = out.seconds;
    return out;
  }
  Result<std::unique_ptr<Executable>> compile(const Graph&, NodeRange, const StepShape&,
                                              const WorkspaceLayout&) override {
    return failure(ErrorCode::kUnsupported, "compiles nothing");
  }
  Event enqueue(const Executable&, const Bindings&, std::span<const Event>) override {
    return Event::completed({});
  }
  Result<Access> import(std::span<const std::byte>) override { return Access::kMapped; }
  Result<void> set_power_state(PowerState) override { return {}; }

 private:
  Capabilities facts_;
  double macs_, bytes_, launch_;
};

Graph llama_8b(Phase phase) {
  GraphBuilder build(phase);
  const auto weight = [&](uint32_t rows, uint32_t columns) {
    // Sizes count, bytes are never read.
    const size_t n = row_bytes(DType::kQ4_0, columns) * rows;
    return build.add_weight({"w", DType::kQ4_0, rows, columns,
                             std::span(reinterpret_cast<const std::byte*>(64), n), nullptr});
  };
  const RopeTableId table = build.add_rope_table({std::vector<float>(64, 1.0f)});
  const RopeAttributes q_rope{table, 32, 128, kernels::RopePairs::kAdjacent};
  const RopeAttributes k_rope{table, 8, 128, kernels::RopePairs::kAdjacent};
  ValueId x = build.embed(weight(128256, 4096));
  for (int layer = 0; layer < 32; ++layer) {
    build.enter_layer(layer);
    const StateId state = build.add_state(KvState{8, 128, 128, 0});
    const ValueId h = build.rms_norm("attention_norm", x, std::nullopt, 1e-5f);
    const ValueId q = build.rope("q_rope", build.linear("q", h, weight(4096, 4096)), q_rope);
    const ValueId k = build.rope("k_rope", build.linear("k", h, weight(1024, 4096)), k_rope);
    const ValueId v = build.linear("v", h, weight(1024, 4096));
    build.kv_write(k, v, state);
    const ValueId mixed = build.attention(q, {state, 32, 0.088f, 0.0f});
    x = build.add("attention_residual", x, build.linear("o", mixed, weight(4096, 4096)));
    const ValueId f = build.rms_norm("ffn_norm", x, std::nullopt, 1e-5f);
    const ValueId gate = build.linear("gate", f, weight(14336, 4096));
    const ValueId up = build.linear("up", f, weight(14336, 4096));
    const ValueId glu = build.glu(gate, up, kernels::Activation::kSilu);
    x = build.add("ffn_residual", x, build.linear("down", glu, weight(4096, 14336)));
  }
  build.leave_layers();
  const ValueId rows = build.select_rows(build.rms_norm("norm", x, std::nullopt, 1e-5f));
  return build.finish(build.linear("head", rows, weight(128256, 4096)));
}

void plan_8b_on_four_devices(benchmark::State& state) {
  const Graph prefill = llama_8b(Phase::kPrefill), decode = llama_8b(Phase::kDecode);
  RooflineDevice npu("npu", 15e12, 45e9, 50e-6, true), gpu("gpu", 2e12, 50e9, 100e-6, false);
  RooflineDevice pim("pim", 1e12, 200e9, 20e-6, false), cpu("cpu", 0.5e12, 40e9, 0, false);
  Device* const devices[] = {&npu, &gpu, &pim, &cpu};
  const PlanRequest requests[] = {{prefill, {1024, 16}}, {decode, {16, 16}}};
  for (auto _ : state) {
    auto plan = make_plan(requests, devices, 4096, {.objective = Objective::kBalanced});
    TANDEM_CHECK(plan);
    benchmark::DoNotOptimize(plan->phases.data());
  }
  state.counters["nodes"] = static_cast<double>(prefill.nodes.size());
}
BENCHMARK(plan_8b_on_four_devices)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tandem
