#pragma once

#include <functional>
#include <span>

#include "planner/plan.h"

namespace tandem {

/// Looks for decode linears whose rows two devices of one memory should share: where neither draws
/// all that the memory gives, both together stream the weights sooner, at the price of launches.
/// Splits those that shorten the step by more than half a per cent and brings the plan's
/// predictions up to date. Only for steps of one row, since the shares of several rows would not
/// lie side by side. `plan` is predicted; `is_allowed` says where a node may run.
struct SplitRequest {
  const Graph& graph;
  const StepLoad& load;
  std::span<Device* const> devices;
  std::function<bool(uint32_t node, size_t device)> is_allowed;
};
void split_rows(const SplitRequest& request, PhasePlan& plan);

}  // namespace tandem
