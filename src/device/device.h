#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/event.h"
#include "device/reason.h"
#include "fabric/sequence_state.h"
#include "graph/graph.h"
#include "tensor/weight_planes.h"

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

/// Looks at the processor's nodes while they run: calibration at what linears read, traces and
/// benchmarks at when each ran. Called on the thread that runs the step.
class NodeObserver {
 public:
  virtual ~NodeObserver() = default;
  /// Before a linear runs. `x` is (n_rows, weight.columns), dense.
  virtual void before_linear(const Graph&, const Node&, const float* /*x*/, size_t /*n_rows*/) {}
  /// After work for `nodes`, of monotonic_seconds() `start` to `end`: linears of one input run as
  /// one, coding that input is work of its own for the first of them, and what precedes all nodes
  /// has none.
  virtual void after_work(const Graph&, std::span<const Node* const> /*nodes*/, double /*start*/,
                          double /*end*/) {}
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
  WeightPlanes planes = WeightPlanes::kBoth;  ///< of nested weights
  NodeObserver* observer = nullptr;           ///< told of every node when set
  bool check_finite = false;  ///< stop at the first node that writes NaN or infinity, naming it
};

/// A segment compiled for a device at one shape. Immutable; run by the device that made it.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Bytes this segment reads from its weights to run once.
  virtual uint64_t weight_bytes() const = 0;
  /// Those among them that WeightPlanes::kHigh leaves out.
  virtual uint64_t low_plane_bytes() const { return 0; }
  /// Whether it gives the processor's own bits; otherwise results differ within what the
  /// conformance suite allows.
  virtual bool matches_reference() const { return false; }
  /// For a device whose arithmetic is specified to the bit and is not the processor's: an
  /// executable of the host that computes the same in that arithmetic, for self checks. Null when
  /// matches_reference(), and when results are specified within a bound only.
  virtual const Executable* reference() const { return nullptr; }
  /// Simulated devices: what compiling would have taken; 0 when the code came from a cache.
  virtual double compile_seconds() const { return 0; }
};

/// What a device takes for one op.
struct OpSupport {
  Op op;
  std::vector<DType> weight_types = {};  ///< of the weight matrix; empty: the op has none
  uint32_t row_multiple = 1;             ///< N of the weight matrix is a multiple of this
  uint32_t column_multiple = 1;          ///< and K of this
};

/// What a device is and has; facts only, nothing that changes while it runs.
struct Capabilities {
  std::string name;         ///< "cpu"
  std::string description;  ///< for people: the processor, the driver
  std::string isa;          ///< kernels in use
  int n_threads = 0;
  bool host = false;  ///< the processor that runs this program; nodes elsewhere are delegated
  bool shares_memory = false;  ///< reads and writes the host's memory without a copy
  bool simulated = false;
  std::string soc = {};     ///< the profile that a simulated device belongs to
  std::string driver = {};  ///< version; an executable of another one is never reused
  bool static_shapes =
      false;                  ///< every execution costs its compiled shape; missing rows are padded
  bool knows_energy = false;  ///< Estimate::joules means something
  /// Of values moved in or out where memory is not shared.
  double copy_bytes_per_second = 0;
  /// What all devices on the same memory can draw from it together; 0: not known, or a memory of
  /// its own.
  double memory_bytes_per_second = 0;
  double wake_seconds = 0;             ///< simulated devices: from off to the first execution
  std::vector<uint32_t> buckets = {};  ///< row counts worth compiling for, rising; static shapes
  uint64_t context_memory_bytes = 0;   ///< weights that its executables may hold; 0: no limit
  uint32_t max_contexts = 0;           ///< executables at a time; 0: no limit
  uint64_t sram_bytes = 0;             ///< on-chip memory that the planner may fill; 0: none
  uint32_t binding_alignment = 64;     ///< bytes; of the workspace and of weights
  std::vector<OpSupport> ops = {};     ///< for reports and people; supports() decides
};

/// Work on one lane of a device while a segment runs: what traces draw.
struct DeviceSpan {
  std::string lane;  ///< "array", "dma in", "prime"
  uint32_t node;     ///< index into the graph; its node count for a launch
  double start;      ///< seconds from the segment's start
  double end;
  uint64_t bytes;  ///< moved between memory and the device
};

/// What a step is asked to do, for estimates.
struct StepLoad {
  uint32_t n_tokens;                         ///< rows
  uint32_t context;                          ///< positions held after the step; at least n_tokens
  std::span<const WeightId> resident = {};   ///< weights that lie in the device's SRAM already
  std::vector<DeviceSpan>* spans = nullptr;  ///< filled when set, by devices that know their lanes
};

/// Predicted cost of running a segment once.
struct Estimate {
  double seconds = 0;  ///< all of it, with the three parts below
  double launch_seconds = 0;
  double entry_seconds = 0;  ///< fetching the inputs: saved when the node before is in the segment
  double exit_seconds = 0;   ///< handing outputs over: saved when the node behind is in it
  uint64_t bytes = 0;        ///< moved between memory and the device
  double joules = 0;         ///< 0 unless Capabilities::knows_energy
  uint64_t macs = 0;

  /// What a node costs inside a longer segment.
  double inner_seconds() const { return seconds - launch_seconds - entry_seconds - exit_seconds; }

  Estimate& operator+=(const Estimate& other) {
    seconds += other.seconds;
    launch_seconds += other.launch_seconds;
    entry_seconds += other.entry_seconds;
    exit_seconds += other.exit_seconds;
    bytes += other.bytes;
    joules += other.joules;
    macs += other.macs;
    return *this;
  }
};

/// How a device reaches memory of the host.
enum class Access : uint8_t {
  kMapped,  ///< where it lies
  kCopied,  ///< every execution copies what it needs in and out
};

enum class PowerState : uint8_t { kOff, kIdle, kActive };

/// Something that executes. Seven functions, none optional; no device's name appears above this
/// folder. Implementations are thread safe unless a function says otherwise. device_example.h tells
/// a vendor the whole contract; tests/conformance checks it.
class Device {
 public:
  virtual ~Device() = default;

  virtual const Capabilities& describe() const = 0;

  /// Nothing when the device can run the node at this shape.
  virtual std::optional<Reason> supports(const Graph& graph, const Node& node,
                                         const StepShape& shape) const = 0;

  /// Cost of a segment at this load. An empty segment costs one launch. The planner adds nodes up:
  /// a segment costs at most launch, first node's entry, each node's inner part, last node's exit.
  virtual Estimate estimate(const Graph& graph, NodeRange segment, const StepLoad& load) const = 0;

  /// Prepares a segment; weights are imported as a part of it and shared between executables. The
  /// graph and the layout must outlive the executable. Errors: kUnsupported with the Reason's
  /// sentence for a node that supports() refuses, kOutOfMemory.
  virtual Result<std::unique_ptr<Executable>> compile(const Graph& graph, NodeRange segment,
                                                      const StepShape& shape,
                                                      const WorkspaceLayout& layout) = 0;

  /// Runs after every event of `after` has completed; when one of them failed, nothing runs and the
  /// result is its error. One execution at a time per device; the order is that of the calls. May
  /// return before the end: the bindings stay alive until the Event has completed.
  virtual Event enqueue(const Executable& executable, const Bindings& bindings,
                        std::span<const Event> after) = 0;

  /// Makes host memory reachable, for instance a session's cache; tells how. Errors: kOutOfMemory.
  virtual Result<Access> import(std::span<const std::byte> memory) = 0;

  /// kOff forgets what can be rebuilt; the next enqueue wakes the device by itself.
  virtual Result<void> set_power_state(PowerState state) = 0;
};

}  // namespace tandem
