// Builds, plans and compiles a model, and runs forward passes over it.

#include "engine/engine.h"

#include <algorithm>

#include "base/check.h"
#include "base/clock.h"
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
  TANDEM_TRY(auto cpu, make_cpu_device({.n_threads = options_.n_threads,
                                        .isa = options_.isa,
                                        .compile_cache = options_.compile_cache}));
  std::vector<std::unique_ptr<Device>> devices;
  if (options_.devices) {
    TANDEM_TRY(devices, options_.devices(std::move(cpu)));
  } else {
    devices.push_back(std::move(cpu));
  }
  runner_ = std::make_unique<StepRunner>(std::move(devices), options_.safety);
  const GraphOptions graph_options{
      .context = options_.context, .planes = options_.planes, .kv_storage = options_.kv_storage};
  TANDEM_TRY(prefill_, build_graph(*model_, Phase::kPrefill, graph_options));
  TANDEM_TRY(decode_, build_graph(*model_, Phase::kDecode, graph_options));
  const PlanRequest requests[] = {
      {prefill_, {options_.prefill_chunk, options_.max_outputs}},
      {decode_, {options_.max_sequences, options_.max_outputs}},
  };
  TANDEM_TRY(plan_, make_plan(requests, runner_->devices(), options_.context, options_.plan));
  for (const PhasePlan& phase : plan_.phases) {
    TANDEM_TRY(const size_t index, runner_->add_phase(graph(phase.phase), phase));
    if (phase.phase == Phase::kDecode) decode_phase_ = index;
  }
  const uint64_t logits_bytes = uint64_t{options_.max_outputs} * vocabulary() * sizeof(float);
  return runner_->reserve(std::max(options_.prefill_chunk, options_.max_sequences), logits_bytes);
}

Result<SequenceState> Engine::create_state() {
  const std::lock_guard lock(mutex_);
  if (plan_.devices.size() < 2) return SequenceState::create(prefill_, context());
  TANDEM_TRY(auto state, SequenceState::create(prefill_, context(), Sharing::kShareable));
  TANDEM_TRY(runner_->import(state.bytes(), "cache"));
  return state;
}

std::vector<MemoryUse> Engine::memory() const {
  const std::lock_guard lock(mutex_);
  return runner_->memory();
}

uint64_t Engine::copied_state_bytes() const {
  const std::lock_guard lock(mutex_);
  return runner_->copied_state_bytes();
}

std::vector<Incident> Engine::incidents() const {
  const std::lock_guard lock(mutex_);
  return runner_->incidents();
}

SimulatedTotals Engine::simulated() const {
  const std::lock_guard lock(mutex_);
  return runner_->simulated();
}

void Engine::warm_up() {
  const std::lock_guard lock(mutex_);
  runner_->warm_up();
}

double Engine::now() const { return is_simulated() ? simulated().seconds : monotonic_seconds(); }

const Graph& Engine::graph(Phase phase) const {
  return phase == Phase::kDecode ? decode_ : prefill_;
}

uint64_t Engine::weight_bytes_per_step(WeightPlanes planes) const {
  uint64_t total = 0;
  for (const CompiledSegment& segment : runner_->phases()[decode_phase_].segments) {
    total += segment.executable->weight_bytes();
    if (planes == WeightPlanes::kHigh) total -= segment.executable->low_plane_bytes();
  }
  return total;
}

size_t Engine::choose_phase(std::span<const SequenceRows> sequences, size_t n_rows) const {
  const bool one_row_each = std::all_of(sequences.begin(), sequences.end(),
                                        [](const SequenceRows& s) { return s.n_rows == 1; });
  if (one_row_each && sequences.size() <= options_.max_sequences) return decode_phase_;
  return plan_.prefill_for(static_cast<uint32_t>(n_rows));
}

Result<void> Engine::forward(std::span<const TokenId> tokens,
                             std::span<const SequenceRows> sequences,
                             std::span<const uint32_t> output_rows, float* logits,
                             const std::atomic<bool>* cancel, WeightPlanes planes) {
  const size_t phase = choose_phase(sequences, tokens.size());
  TANDEM_CHECK(tokens.size() <= plan_.phases[phase].shape.max_tokens);
  TANDEM_CHECK(output_rows.size() <= plan_.phases[phase].shape.max_outputs);
  const std::lock_guard lock(mutex_);
  return runner_->run(phase, bindings_for(tokens, sequences, output_rows, logits, cancel, planes));
}

Bindings Engine::bindings_for(std::span<const TokenId> tokens,
                              std::span<const SequenceRows> sequences,
                              std::span<const uint32_t> output_rows, float* logits,
                              const std::atomic<bool>* cancel, WeightPlanes planes) const {
  return {.tokens = tokens,
          .sequences = sequences,
          .output_rows = output_rows,
          .workspace = nullptr,
          .logits = logits,
          .cancel = cancel,
          .planes = planes,
          .observer = options_.observer,
          .check_finite = options_.check_finite};
}

Result<void> Engine::forward_prompt(std::span<const TokenId> tokens, SequenceState& state,
                                    uint32_t first_position, float* logits,
                                    const std::atomic<bool>* cancel, WeightPlanes planes,
                                    const std::function<void(size_t n_tokens)>& done) {
  std::vector<SequenceRows> rows;
  for (size_t at = 0; at < tokens.size(); at += rows.back().n_rows) {
    const auto left = static_cast<uint32_t>(tokens.size() - at);
    rows.push_back(
        {0, std::min(next_chunk(left), left), first_position + static_cast<uint32_t>(at), &state});
  }
  const uint32_t last_row = rows.back().n_rows - 1;
  std::vector<PromptChunk> chunks;
  for (const SequenceRows& r : rows) {
    const auto chunk = tokens.subspan(r.first_position - first_position, r.n_rows);
    const auto outputs = std::span(&last_row, &r == &rows.back() ? 1 : 0);
    chunks.push_back({choose_phase({&r, 1}, r.n_rows),
                      bindings_for(chunk, {&r, 1}, outputs, logits, cancel, planes)});
  }
  const auto tell = [&](size_t c) {
    done(rows[c].first_position - first_position + rows[c].n_rows);
  };
  if (runner_->overlaps_prompts()) {
    const std::lock_guard lock(mutex_);
    return runner_->run_prompt(chunks, tell);
  }
  for (size_t c = 0; c < chunks.size(); ++c) {  // other sessions' steps come in between
    std::unique_lock lock(mutex_);
    TANDEM_TRY(runner_->run(chunks[c].phase, chunks[c].bindings));
    lock.unlock();
    tell(c);
  }
  return {};
}

}  // namespace tandem
