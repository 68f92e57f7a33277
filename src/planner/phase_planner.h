#pragma once

#include "planner/plan.h"

namespace tandem {

struct PhaseRequest {
  const Graph& graph;
  StepShape shape;
  StepLoad load;
  std::span<Device* const> devices;
  const PlanOptions& options;
};

/// Places one graph at one size. Errors as make_plan.
Result<PhasePlan> plan_phase(const PhaseRequest& request);

}  // namespace tandem
