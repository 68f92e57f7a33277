#pragma once

#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "planner/workspace.h"

namespace tandem {

/// A run of nodes and the device that executes it.
struct Segment {
  std::string device;
  NodeRange nodes;
};

/// One phase of a model, placed.
struct PhasePlan {
  Phase phase;
  StepShape shape;
  std::vector<Segment> segments;
  WorkspaceLayout workspace;
};

/// Where everything runs and how much memory it takes. Immutable once made.
struct Plan {
  std::vector<PhasePlan> phases;
  uint64_t weight_bytes = 0;  ///< in the file's layout, each weight once
  uint64_t state_bytes = 0;   ///< of one session at full context
  uint64_t workspace_bytes = 0;
  uint32_t context = 0;  ///< positions of one session

  const PhasePlan& phase(Phase phase) const;
  /// The stable JSON form, schema "tandem.plan.v1".
  std::string to_json() const;
};

struct PlanRequest {
  const Graph& graph;
  StepShape shape;
};

/// Places each phase's graph. Errors: kUnsupported naming the first node that no device can run and
/// every device's Reason.
Result<Plan> make_plan(std::span<const PlanRequest> phases, std::span<Device* const> devices,
                       uint32_t context);

}  // namespace tandem
