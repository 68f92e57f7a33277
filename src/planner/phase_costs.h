#pragma once

#include <optional>
#include <span>
#include <vector>

#include "device/device.h"
#include "planner/pins.h"
#include "planner/placement.h"

namespace tandem {

/// What a phase costs on each device, asked once for each kind of node: layers repeat, so a model
/// of hundreds of nodes has a few dozen kinds.
struct PhaseCosts {
  PlacementProblem problem;
  std::vector<bool> supported;  ///< (n_nodes, n_devices), pins aside
};

/// Asks every device about every node. With `weigh` false only support is asked.
PhaseCosts ask_devices(const Graph& graph, const StepShape& shape, const StepLoad& load,
                       std::span<Device* const> devices, bool weigh);

/// Leaves each pinned node its pin's device alone. Errors: kUnsupported when that device cannot.
Result<void> apply_pins(const Graph& graph, const StepShape& shape,
                        std::span<Device* const> devices, std::span<const Pin> pins,
                        PhaseCosts& costs);

/// Bytes of the values alive before each node, f32, at `load`. (n_nodes)
std::vector<uint64_t> live_bytes(const Graph& graph, const StepLoad& load);

}  // namespace tandem
