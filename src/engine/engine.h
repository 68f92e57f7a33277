#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "device/compile_cache.h"
#include "device/device.h"
#include "engine/step_runner.h"
#include "kernels/isa.h"
#include "model/model.h"
#include "planner/plan.h"

namespace tandem {

/// Makes the devices of an engine around the processor that it is given: one of them is the host,
/// in order of preference at equal cost.
using DeviceFactory =
    std::function<Result<std::vector<std::unique_ptr<Device>>>(std::unique_ptr<Device> cpu)>;

struct EngineOptions {
  /// Positions a session may hold. 0: what the model was trained for, at most 32,768. Memory is
  /// touched only as positions fill.
  uint32_t context = 0;
  int n_threads = 0;  ///< compute threads, the caller included; 0: all processors
  std::optional<kernels::Isa> isa = std::nullopt;            ///< forces a row of the kernel tables
  kernels::KvStorage kv_storage = kernels::KvStorage::kF16;  ///< of keys and values
  uint32_t prefill_chunk = 256;  ///< tokens of a prompt computed together
  uint32_t max_sequences = 16;   ///< sessions that may decode in one step
  uint32_t max_outputs = 16;     ///< rows of logits computed in one step
  /// kHigh: nested weights are read at INT4 only and their low planes never loaded. kBoth: sessions
  /// begin at INT8 and may change at every step.
  WeightPlanes planes = WeightPlanes::kBoth;
  NodeObserver* observer = nullptr;  ///< told of every node; outlives the engine
  /// Keeps packed weights between runs, so that a start only maps them; null: none.
  std::shared_ptr<CompileCache> compile_cache = nullptr;
  bool check_finite = false;   ///< stop at the first node that writes NaN or infinity
  DeviceFactory devices = {};  ///< none: the processor alone
  PlanOptions plan = {};
  SafetyOptions safety = {};
};

/// A loaded model and its plan, compiled. Shared by its sessions; thread safe: steps of different
/// sessions take turns, since a device does one thing at a time.
class Engine {
 public:
  /// Plans, imports the weights and compiles. Errors: kInvalidArgument for an option out of range,
  /// kUnsupported when no device can run a node, kOutOfMemory.
  static Result<std::shared_ptr<Engine>> create(std::shared_ptr<const Model> model,
                                                const EngineOptions& options = {});

  const Model& model() const { return *model_; }
  const Plan& plan() const { return plan_; }
  const EngineOptions& options() const { return options_; }
  const Device& device() const { return runner_->host(); }
  /// Memory of a new sequence; shareable and known to every device when there are several.
  Result<SequenceState> create_state();
  /// Host memory that devices were given, and what they copied of caches.
  std::vector<MemoryUse> memory() const;
  uint64_t copied_state_bytes() const;
  /// Devices that failed while they were used; the plan tells what was meant, this what became of
  /// it.
  std::vector<Incident> incidents() const;
  /// Whether time and energy are those of a SoC profile.
  bool is_simulated() const { return runner_->is_simulated(); }
  SimulatedTotals simulated() const;
  /// Hides from the first answer what the first use of each segment costs.
  void warm_up();
  /// The clock that generation is timed with: the profile's when simulated, else this machine's.
  double now() const;
  /// Rows that the largest prefill plan holds, and those that the next chunk of a prompt should
  /// have when `remaining` tokens are left.
  uint32_t max_prefill_rows() const { return plan_.max_prefill_rows(); }
  uint32_t next_chunk(uint32_t remaining) const { return plan_.next_chunk(remaining); }
  uint32_t context() const { return plan_.context; }
  uint32_t vocabulary() const { return model_->hyperparameters().vocabulary; }
  /// The wiring of a phase; its states describe what a session must hold.
  const Graph& graph(Phase phase) const;
  /// Bytes of weights that one forward pass streams.
  uint64_t weight_bytes_per_step(WeightPlanes planes = WeightPlanes::kBoth) const;

  /// Runs one forward pass. `logits` has a row for each of `output_rows`. Rows are limited by
  /// prefill_chunk, or by max_sequences when every sequence has one row, and outputs by
  /// max_outputs; sessions keep to that. `planes` may differ from call to call at no cost.
  Result<void> forward(std::span<const TokenId> tokens, std::span<const SequenceRows> sequences,
                       std::span<const uint32_t> output_rows, float* logits,
                       const std::atomic<bool>* cancel, WeightPlanes planes = WeightPlanes::kBoth);

  /// Runs a prompt after the `first_position` tokens that `state` holds, cut into chunks; devices
  /// that share the work overlap. `logits` is a row for its last token. `done` is told how many
  /// tokens are computed, chunk by chunk. Errors: as forward(); the tokens that `done` was told of
  /// are computed.
  Result<void> forward_prompt(std::span<const TokenId> tokens, SequenceState& state,
                              uint32_t first_position, float* logits,
                              const std::atomic<bool>* cancel, WeightPlanes planes,
                              const std::function<void(size_t n_tokens)>& done);

 private:
  Engine(std::shared_ptr<const Model> model, const EngineOptions& options)
      : model_(std::move(model)), options_(options) {}
  Result<void> build();
  Bindings bindings_for(std::span<const TokenId> tokens, std::span<const SequenceRows> sequences,
                        std::span<const uint32_t> output_rows, float* logits,
                        const std::atomic<bool>* cancel, WeightPlanes planes) const;
  size_t choose_phase(std::span<const SequenceRows> sequences, size_t n_rows) const;

  std::shared_ptr<const Model> model_;
  EngineOptions options_;
  Plan plan_;
  Graph prefill_, decode_;
  size_t decode_phase_ = 0;  ///< index into the plan's phases
  /// Guards the runner. Recursive: who is told of a prompt's progress may ask for the time.
  mutable std::recursive_mutex mutex_;
  std::unique_ptr<StepRunner> runner_;
};

}  // namespace tandem
