#pragma once

// What a vendor implements to put a processor behind Tandem: prose and declarations only; nothing
// includes this file. Copy it to src/device/<name>/<name>_device.h, write the .cc beside it, and
// run the conformance suite (tests/conformance/conformance.h) until no case says "wrong".
//
// The rules that hold for every function
// - No exception leaves the device, no foreign library may abort the process: probe it first.
// - Thread safe, all of it, unless stated. Work that ends later ends through an Event.
// - Errors are values: kUnsupported (you said no), kOutOfMemory (with the size), kDevice (it failed
//   while running; the engine demotes you and goes on with the processor).
// - Nothing is printed, no environment is read; options come through make_example_device.
// - You see buffers and nodes. Model wiring, buckets, sessions and fallbacks are the planner's and
//   the engine's.

#include "device/device.h"

namespace tandem {

struct ExampleOptions {
  std::string library_path = "libexample.so";  ///< opened at run time, never linked
};

/// Errors: kNotFound when the library or the device node is missing, kUnsupported for a driver that
/// is too old, each in one sentence with the path or the two versions. Reached on every start on
/// every machine: it must be quick, and harmless where there is no such processor.
Result<std::unique_ptr<Device>> make_example_device(const ExampleOptions& options = {});

class ExampleDevice : public Device {
 public:
  /// Facts. Constant for the device's life; the reference stays valid as long.
  ///   name                  short and stable: reports, pins and baselines use it
  ///   driver                every version that may change results or compiled code, joined; a
  ///                         cached executable of another string is rebuilt
  ///   shares_memory         true only when an execution copies neither weights nor cache
  ///   static_shapes         each execution costs its compiled shape whatever the row count
  ///   knows_energy          estimates carry joules
  ///   context_memory_bytes  most bytes of weights in one executable (an address window, a
  ///   session);
  ///                         the planner cuts longer segments
  ///   sram_bytes            memory on the chip that the planner may fill with what stays
  ///   ops                   the operator matrix, for people; supports() decides
  const Capabilities& describe() const override;

  /// Whether one node can run at `shape`: at most shape.max_tokens rows a value (max_outputs for
  /// RowSet::kOutputs). Answer from tables, in microseconds; it is asked for each node of each
  /// phase. A refusal is a Reason: its code from the closed list, its sentence with the values that
  /// decided:
  ///   {kAlignment, "K is 100, must be a multiple of 32"}
  /// Promise nothing that compile() may break: a node is yes or no by itself, never "it depends on
  /// its neighbours". An unknown size is not 1: refuse with kDynamicShape.
  std::optional<Reason> supports(const Graph& graph, const Node& node,
                                 const StepShape& shape) const override;

  /// Predicted cost of one execution at this load; an empty segment costs the launch alone. Never
  /// negative, never falling when rows or nodes are added. Static shapes: the cost is that of the
  /// compiled rows, so the caller asks with those. `entry` and `exit` are what the first node pays
  /// to fetch its inputs and the last to hand its outputs over: a segment costs no more than
  /// launch, entry, exit and its nodes' inner parts, and less where the device overlaps them.
  Estimate estimate(const Graph& graph, NodeRange segment, const StepLoad& load) const override;

  /// Turns a segment into something that runs. Inputs are the values that the segment reads and
  /// does not write; outputs those that later nodes read. Where they lie is `layout`: the same
  /// workspace for all devices, so that a crossing copies nothing on shared memory. The same weight
  /// in two executables is held once. Refuse (kUnsupported) a segment with a node you do not
  /// support, before work is spent.
  Result<std::unique_ptr<Executable>> compile(const Graph& graph, NodeRange segment,
                                              const StepShape& shape,
                                              const WorkspaceLayout& layout) override;

  /// Starts one execution and returns at once, or runs it and returns a completed Event; both are
  /// right. Contract:
  /// - waits for `after` first; when one failed, nothing runs and its error is the outcome
  /// - executions start in the order of the calls; one runs at a time
  /// - rows: bindings.tokens.size() <= the shape's max_tokens, and fewer is normal: pad inside
  /// - padding never reaches a value, the cache or the logits of a real row
  /// - kv_write and attention act on SequenceRows::state, one entry a sequence
  /// - bindings.cancel, when set, ends with kCancelled between nodes, or soon after
  /// - bindings.check_finite names the first node that wrote NaN or infinity (kNumeric); a device
  ///   that cannot look inside a segment looks at its outputs
  /// - a failure leaves values undefined, but writes nothing outside this step's values and cache
  ///   positions: the engine repeats the step elsewhere
  /// - the caller waits with a deadline; after it has passed the device is never used again, and
  /// its
  ///   destructor must return even if the hardware does not
  /// - allocates nothing once warm
  Event enqueue(const Executable& executable, const Bindings& bindings,
                std::span<const Event> after) override;

  /// Called for each session's cache and for the workspace before the first enqueue that uses them;
  /// twice for the same memory is fine. kMapped promises that no execution copies it.
  Result<Access> import(std::span<const std::byte> memory) override;

  /// kActive before a burst of work hides the wake-up; kIdle after it; kOff drops caches.
  Result<void> set_power_state(PowerState state) override;
};

}  // namespace tandem
