#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "device/device.h"
#include "kernels/isa.h"
#include "model/model.h"
#include "planner/plan.h"

namespace tandem {

struct EngineOptions {
  /// Positions a session may hold. 0: what the model was trained for, at most 32,768. Memory is
  /// touched only as positions fill.
  uint32_t context = 0;
  int n_threads = 0;  ///< compute threads, the caller included; 0: all processors
  std::optional<kernels::Isa> isa = std::nullopt;  ///< forces a row of the kernel tables
  uint32_t prefill_chunk = 256;                    ///< tokens of a prompt computed together
  uint32_t max_sequences = 16;                     ///< sessions that may decode in one step
  uint32_t max_outputs = 16;                       ///< rows of logits computed in one step
  /// kHigh: nested weights are read at INT4 only and their low planes never loaded. kBoth: sessions
  /// begin at INT8 and may change at every step.
  WeightPlanes planes = WeightPlanes::kBoth;
  LinearObserver* observer = nullptr;  ///< told of the inputs of every linear; outlives the engine
  bool check_finite = false;           ///< stop at the first node that writes NaN or infinity
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
  const Device& device() const { return *device_; }
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

 private:
  struct CompiledPhase {
    Graph graph;
    const PhasePlan* plan = nullptr;
    std::vector<std::unique_ptr<Executable>> segments;
  };

  Engine(std::shared_ptr<const Model> model, const EngineOptions& options)
      : model_(std::move(model)), options_(options) {}
  Result<void> build();
  Result<void> compile(CompiledPhase& phase);
  const CompiledPhase& choose_phase(std::span<const SequenceRows> sequences) const;

  std::shared_ptr<const Model> model_;
  EngineOptions options_;
  std::unique_ptr<Device> device_;
  Plan plan_;
  CompiledPhase prefill_, decode_;
  std::mutex mutex_;  ///< guards the workspace and the device
  Buffer workspace_;
};

}  // namespace tandem
