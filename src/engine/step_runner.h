#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "base/buffer.h"
#include "engine/compiled_phase.h"
#include "engine/device_lanes.h"
#include "engine/self_check.h"
#include "planner/schedule.h"

namespace tandem {

/// How much the engine trusts devices other than the host.
struct SafetyOptions {
  double deadline_seconds = 10;  ///< for one execution of a delegated segment; 0: wait for ever
  /// Every so many executions of a delegated segment are compared with the host (SelfCheck), and
  /// the first two of each size; 0: none.
  uint32_t check_every = 256;
};

/// A chunk of a prompt: its phase, and everything that its execution reads and writes but the
/// workspace.
struct PromptChunk {
  size_t phase;
  Bindings bindings;
};

/// Host memory that a device was given.
struct MemoryUse {
  std::string device;
  std::string owner;  ///< "cache", "workspace"
  uint64_t bytes;
  Access access;
};

/// Simulated time and energy since the engine was made.
struct SimulatedTotals {
  double seconds = 0;          ///< compiling included
  double compile_seconds = 0;  ///< of that: every segment, before the first step
  double wake_seconds = 0;     ///< of that: devices that run something, likewise
  double joules = 0;
};

/// Compiled phases of a model over its devices, and what happens when a device fails: it is
/// demoted, its segments are the host's from then on, and the step is done again. One step at a
/// time.
class StepRunner {
 public:
  /// One of the devices is the host.
  StepRunner(std::vector<std::unique_ptr<Device>> devices, const SafetyOptions& safety);
  ~StepRunner();

  std::vector<Device*> devices() const;
  Device& host() const { return *host_; }
  bool is_simulated() const { return host_->describe().simulated; }

  /// Compiles a phase as planned; returns its index. A delegated segment that does not compile
  /// demotes its device, except when the host cannot run it either. `graph` and `plan` outlive the
  /// runner. Errors: those of the host.
  Result<size_t> add_phase(const Graph& graph, const PhasePlan& plan);
  /// After the last phase: memory for steps. `max_rows` and `logits_bytes` are a step's most.
  Result<void> reserve(uint32_t max_rows, uint64_t logits_bytes);

  /// Hands host memory to every device but the host and notes how each reaches it. A device that
  /// refuses is demoted.
  Result<void> import(std::span<const std::byte> memory, const char* owner);

  /// Accounts for what compiling every segment and waking devices takes on a simulated chip; the
  /// first step does so otherwise, so that no later phase pays for it. Once only.
  void warm_up();

  /// One forward pass; `bindings.workspace` is filled in. Errors: those of the host, kCancelled,
  /// kNumeric.
  Result<void> run(size_t phase, Bindings bindings);

  /// Whether several devices share the chunks of prompts, so that running them together pays. Never
  /// changes after reserve().
  bool overlaps_prompts() const { return lanes_ != nullptr; }
  /// The chunks of one prompt, in order. Where several devices share a chunk, segments of two
  /// chunks are under way at a time. `done` is told of each chunk, in order, on the caller's
  /// thread. Errors: as run(); chunks that `done` was told of are complete.
  Result<void> run_prompt(std::span<const PromptChunk> chunks,
                          const std::function<void(size_t chunk)>& done);

  const std::vector<CompiledPhase>& phases() const { return phases_; }
  const std::vector<Incident>& incidents() const { return incidents_; }
  const SimulatedTotals& simulated() const { return simulated_; }
  const std::vector<MemoryUse>& memory() const { return memory_; }
  /// Cache bytes that devices copied in or out, over the engine's life; 0 where all of them map it.
  uint64_t copied_state_bytes() const { return copied_state_bytes_; }

 private:
  bool is_out(const std::string& device) const;
  /// Whose failure it was that a segment did not compile.
  struct CompileFailure {
    Device* device;
    Error error;
  };
  Device& device_named(const std::string& name) const;
  tl::expected<CompiledSegment, CompileFailure> compile_segment(const Graph& graph,
                                                                const PhasePlan& plan,
                                                                const Segment& planned) const;
  void count_copies(const CompiledPhase& phase, const CompiledSegment& segment,
                    const Bindings& bindings);
  bool is_due_for_check(CompiledSegment& segment, size_t n_rows) const;
  Result<void> run_segments(CompiledPhase& phase, const Bindings& bindings);
  void finish_step(size_t phase, const Bindings& bindings, bool all_checked);
  Result<void> replace_workspaces();
  bool overlaps(const CompiledPhase& phase) const;
  std::vector<Task> tasks_of(std::span<const PromptChunk> chunks) const;
  /// Adds to `n_done`. After a failure of a device, failed_ and failure_ say whose and what.
  Result<void> run_overlapped(std::span<const PromptChunk> chunks, size_t& n_done,
                              const std::function<void(size_t chunk)>& done);
  /// One segment of a chunk on the thread of its device.
  Result<void> run_task(const Bindings& bindings, size_t chunk, size_t phase, size_t segment,
                        bool is_checked);
  Result<void> run_delegated(CompiledPhase& phase, CompiledSegment& segment,
                             const Bindings& bindings);
  Result<void> demote(Device& device, const Reason& reason, const CompiledPhase& phase,
                      const Bindings* bindings);
  Result<void> move_to_host(const CompiledPhase& phase, CompiledSegment& segment);
  /// A prompt whose chunks were computed one after another; on the chip they overlap.
  struct PromptAccount {
    const SequenceState* state = nullptr;
    uint32_t next_position = 0;
    double started = 0;
    std::vector<ChunkStep> chunks = {};
    std::vector<std::vector<Estimate>> costs = {};  ///< by chunk and segment
  };

  bool is_used(const Device& device) const;
  void account(size_t phase, const Bindings& bindings);
  void account_chunk(const CompiledPhase& phase, const SequenceRows& rows);
  StepLoad load_of(const CompiledPhase& phase, const CompiledSegment& segment, uint32_t n_rows,
                   uint32_t context) const;
  Estimate estimate(size_t phase, uint32_t n_rows, uint32_t context);

  std::vector<std::unique_ptr<Device>> devices_;
  Device* host_ = nullptr;
  std::vector<Capabilities> facts_;  ///< of devices_, in their order
  SafetyOptions safety_;
  std::vector<Buffer> workspaces_;  ///< one, or one for each chunk under way at a time
  uint64_t workspace_bytes_ = 0;
  std::optional<SelfCheck> check_;
  std::unique_ptr<DeviceLanes> lanes_;  ///< null when no prompt's segments overlap
  std::mutex overlap_mutex_;            ///< guards check_ and failure_ while they do
  struct Failure {
    Device* device;
    Reason reason;
    size_t chunk;
  };
  std::optional<Failure> failure_;
  std::vector<CompiledPhase> phases_;
  std::vector<Incident> incidents_;
  std::vector<MemoryUse> memory_;
  uint64_t copied_state_bytes_ = 0;
  Device* failed_ = nullptr;  ///< by the step that runs
  bool all_checked_ = true;   ///< the step that runs compared everything that was delegated
  uint64_t n_steps_ = 0;
  uint32_t checked_until_ = 0;  ///< position after the last step whose checks passed
  std::map<std::tuple<size_t, uint32_t, uint32_t>, Estimate> estimates_;
  SimulatedTotals simulated_;
  bool is_warm_ = false;
  PromptAccount prompt_;
  std::vector<Buffer> abandoned_;  ///< workspaces that a device which hung may still write to
  std::vector<std::unique_ptr<Executable>> retired_;
};

}  // namespace tandem
