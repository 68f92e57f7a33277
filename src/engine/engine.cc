// Builds, plans and compiles a model, and runs forward passes over it.

#include "engine/engine.h"

#include <algorithm>

#include "base/check.h"
#include "device/cpu/cpu_device.h"

namespace tandem {
namespace {

constexpr uint32_t kMaxDefaultContext = 32768;
constexpr uint32_t kMaxContext = 1u << 24;
constexpr uint32_t kMaxRows = 4096;

Result<void> check_range(const char* name, uint32_t value, uint32_t low, uint32_t high) {
  if (value >= low && value <= high) return {};
  return failure(ErrorCode::kInvalidArgument, "{} is {}, must be between {} and {}", name, value,
                 low, high);
}

Result<void> validate(const EngineOptions& options) {
  TANDEM_TRY(check_range("context", options.context, 0, kMaxContext));
  TANDEM_TRY(check_range("prefill_chunk", options.prefill_chunk, 1, kMaxRows));
  TANDEM_TRY(check_range("max_sequences", options.max_sequences, 1, kMaxRows));
  return check_range("max_outputs", options.max_outputs, 1, kMaxRows);
}

}  // namespace

Result<std::shared_ptr<Engine>> Engine::create(std::shared_ptr<const Model> model,
                                               const EngineOptions& options) {
  TANDEM_TRY(validate(options));
  std::shared_ptr<Engine> engine(new Engine(std::move(model), options));
  EngineOptions& chosen = engine->options_;
  if (chosen.context == 0) {
    chosen.context = std::min(engine->model_->hyperparameters().context_length, kMaxDefaultContext);
  }
  chosen.max_outputs = std::max(chosen.max_outputs, chosen.max_sequences);
  TANDEM_TRY(engine->build());
  return engine;
}

Result<void> Engine::build() {
  TANDEM_TRY(device_, make_cpu_device({.n_threads = options_.n_threads, .isa = options_.isa}));
  const GraphOptions graph_options{.context = options_.context, .planes = options_.planes};
  TANDEM_TRY(prefill_.graph, build_graph(*model_, Phase::kPrefill, graph_options));
  TANDEM_TRY(decode_.graph, build_graph(*model_, Phase::kDecode, graph_options));
  const PlanRequest requests[] = {
      {prefill_.graph, {options_.prefill_chunk, options_.max_outputs}},
      {decode_.graph, {options_.max_sequences, options_.max_outputs}},
  };
  Device* const devices[] = {device_.get()};
  TANDEM_TRY(plan_, make_plan(requests, devices, options_.context));
  TANDEM_TRY(compile(prefill_));
  TANDEM_TRY(compile(decode_));
  TANDEM_TRY(workspace_, Buffer::allocate(plan_.workspace_bytes, "the workspace"));
  return {};
}

Result<void> Engine::compile(CompiledPhase& phase) {
  phase.plan = &plan_.phase(phase.graph.phase);
  for (const Segment& segment : phase.plan->segments) {
    TANDEM_CHECK(segment.device == device_->describe().name);
    TANDEM_TRY(auto executable, device_->compile(phase.graph, segment.nodes, phase.plan->shape,
                                                 phase.plan->workspace));
    phase.segments.push_back(std::move(executable));
  }
  return {};
}

const Graph& Engine::graph(Phase phase) const {
  return phase == Phase::kDecode ? decode_.graph : prefill_.graph;
}

uint64_t Engine::weight_bytes_per_step(WeightPlanes planes) const {
  uint64_t total = 0;
  for (const auto& segment : decode_.segments) {
    total += segment->weight_bytes();
    if (planes == WeightPlanes::kHigh) total -= segment->low_plane_bytes();
  }
  return total;
}

const Engine::CompiledPhase& Engine::choose_phase(std::span<const SequenceRows> sequences) const {
  const bool one_row_each = std::all_of(sequences.begin(), sequences.end(),
                                        [](const SequenceRows& s) { return s.n_rows == 1; });
  return one_row_each && sequences.size() <= options_.max_sequences ? decode_ : prefill_;
}

Result<void> Engine::forward(std::span<const TokenId> tokens,
                             std::span<const SequenceRows> sequences,
                             std::span<const uint32_t> output_rows, float* logits,
                             const std::atomic<bool>* cancel, WeightPlanes planes) {
  const CompiledPhase& phase = choose_phase(sequences);
  TANDEM_CHECK(tokens.size() <= phase.plan->shape.max_tokens);
  TANDEM_CHECK(output_rows.size() <= phase.plan->shape.max_outputs);
  const std::lock_guard lock(mutex_);
  const Bindings bindings{.tokens = tokens,
                          .sequences = sequences,
                          .output_rows = output_rows,
                          .workspace = workspace_.data(),
                          .logits = logits,
                          .cancel = cancel,
                          .planes = planes,
                          .observer = options_.observer,
                          .check_finite = options_.check_finite};
  std::optional<Event> last;
  for (const auto& segment : phase.segments) {
    last = device_->enqueue(*segment, bindings,
                            last ? std::span<const Event>(&*last, 1) : std::span<const Event>());
  }
  return last->wait();
}

}  // namespace tandem
