#pragma once

#include <array>
#include <memory>
#include <vector>

#include "device/device.h"
#include "planner/plan.h"

namespace tandem {

class SplitLinear;

/// A segment ready to run, and what takes its place when its device is not trusted any more.
struct CompiledSegment {
  Device* device;
  NodeRange nodes;
  std::unique_ptr<Executable> executable;
  /// The executable when it shares rows with the host, `device` then being the other one.
  const SplitLinear* split = nullptr;
  /// The same nodes for the host: made when a self check asks for it or the device is demoted.
  std::unique_ptr<Executable> on_host = nullptr;
  uint64_t n_executions = 0;
  /// Executions of 1, 2 to 3, 4 to 7, ... rows.
  std::array<uint64_t, 33> n_by_size = {};
};

/// Starts a segment on its device, or on both where its rows are shared.
Event start(const CompiledSegment& segment, const Bindings& bindings);

/// One plan of a phase, compiled.
struct CompiledPhase {
  const Graph* graph;
  const PhasePlan* plan;
  std::vector<CompiledSegment> segments;
};

/// Something that went wrong with a device while it was used. The device is out from then on.
struct Incident {
  std::string device;
  Reason reason;
  Phase phase;
  uint64_t step = 0;      ///< forward passes before it, over the engine's life
  uint32_t position = 0;  ///< first position of the step's first sequence
  /// Position from which results had not been checked when a check failed; equal to `position`
  /// when nothing wrong can have been used.
  uint32_t suspect_from = 0;
};

}  // namespace tandem
