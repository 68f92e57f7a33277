#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/reason.h"
#include "fabric/sequence_state.h"
#include "graph/graph.h"

namespace tandem {

/// A contiguous run of a graph's nodes.
struct NodeRange {
  uint32_t first;
  uint32_t count;
};

/// The sizes a segment is compiled for.
struct StepShape {
  uint32_t max_tokens;   ///< rows of values with RowSet::kTokens
  uint32_t max_outputs;  ///< rows of values with RowSet::kOutputs
};

/// Where each value of a graph lies in the workspace, in bytes; made by the planner.
struct WorkspaceLayout {
  std::vector<uint64_t> offsets;  ///< by ValueId
  uint64_t size_bytes = 0;
};

/// The rows of one sequence in a step: rows [first_row, first_row + n_rows) hold its tokens at
/// positions first_position, first_position + 1, ...
struct SequenceRows {
  uint32_t first_row;
  uint32_t n_rows;
  uint32_t first_position;
  SequenceState* state;
};

/// What one execution reads and writes. Everything is owned by the caller and must outlive the
/// returned Event.
struct Bindings {
  std::span<const int32_t> tokens;            ///< (n_tokens), ids checked by the caller
  std::span<const SequenceRows> sequences;    ///< cover all rows, in order
  std::span<const uint32_t> output_rows;      ///< rows whose logits are wanted, rising
  std::byte* workspace = nullptr;             ///< WorkspaceLayout::size_bytes, 64-byte aligned
  float* logits = nullptr;                    ///< (output_rows, vocabulary)
  const std::atomic<bool>* cancel = nullptr;  ///< looked at between nodes when set
  bool check_finite = false;  ///< stop at the first node that writes NaN or infinity, naming it
};

/// Completion of an enqueued execution. Copyable; cheap.
class Event {
 public:
  /// An execution that ended before enqueue returned.
  static Event completed(Result<void> outcome) { return Event(std::move(outcome)); }

  /// Blocks until the execution has ended.
  Result<void> wait() const { return outcome_; }

 private:
  explicit Event(Result<void> outcome) : outcome_(std::move(outcome)) {}
  Result<void> outcome_;
};

/// A segment compiled for a device at one shape. Immutable; run by the device that made it.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Bytes this segment reads from its weights to run once.
  virtual uint64_t weight_bytes() const = 0;
};

/// What a device is and has; facts only, nothing that changes while it runs.
struct Capabilities {
  std::string name;         ///< "cpu"
  std::string description;  ///< for people: the processor, the driver
  std::string isa;          ///< kernels in use
  int n_threads = 0;
  bool shares_memory = false;  ///< reads and writes the host's memory without a copy
  bool simulated = false;
};

/// Predicted cost of running a segment once.
struct Estimate {
  double seconds = 0;
  uint64_t bytes = 0;
  double joules = 0;
  uint64_t macs = 0;
};

enum class PowerState : uint8_t { kOff, kIdle, kActive };

/// Something that executes. Seven functions, none optional; no device's name appears above this
/// folder. Implementations are thread safe unless a function says otherwise.
class Device {
 public:
  virtual ~Device() = default;

  virtual const Capabilities& describe() const = 0;

  /// Nothing when the device can run the node at this shape.
  virtual std::optional<Reason> supports(const Graph& graph, const Node& node,
                                         const StepShape& shape) const = 0;

  virtual Estimate estimate(const Graph& graph, NodeRange segment, uint32_t n_tokens,
                            uint32_t context) const = 0;

  /// Prepares a segment; weights are imported as a part of it and shared between executables. The
  /// graph and the layout must outlive the executable.
  virtual Result<std::unique_ptr<Executable>> compile(const Graph& graph, NodeRange segment,
                                                      const StepShape& shape,
                                                      const WorkspaceLayout& layout) = 0;

  /// Runs after every event of `after` has completed. One execution at a time per device.
  virtual Event enqueue(const Executable& executable, const Bindings& bindings,
                        std::span<const Event> after) = 0;

  /// Makes host memory reachable; a device that shares memory does nothing.
  virtual Result<void> import(std::span<const std::byte> memory) = 0;

  virtual Result<void> set_power_state(PowerState state) = 0;
};

}  // namespace tandem
