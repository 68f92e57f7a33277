// Places nodes on devices and sizes the memory.

#include "planner/plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/check.h"

namespace tandem {
namespace {

/// The first device that can run the node; the order of devices is the order of preference.
Result<Device*> choose_device(const Graph& graph, const Node& node, const StepShape& shape,
                              std::span<Device* const> devices) {
  std::string reasons;
  for (Device* device : devices) {
    const std::optional<Reason> reason = device->supports(graph, node, shape);
    if (!reason) return device;
    reasons += fmt::format("; {}: {} ({})", device->describe().name, reason->sentence,
                           to_string(reason->code));
  }
  return failure(ErrorCode::kUnsupported, "no device can run node {}{}", node.name, reasons);
}

Result<PhasePlan> plan_phase(const PlanRequest& request, std::span<Device* const> devices) {
  PhasePlan out{request.graph.phase, request.shape, {}, {}};
  for (uint32_t i = 0; i < request.graph.nodes.size(); ++i) {
    TANDEM_TRY(Device* const device,
               choose_device(request.graph, request.graph.nodes[i], request.shape, devices));
    const std::string& name = device->describe().name;
    if (out.segments.empty() || out.segments.back().device != name) {
      out.segments.push_back({name, {i, 0}});
    }
    ++out.segments.back().nodes.count;
  }
  out.workspace = plan_workspace(request.graph, request.shape);
  return out;
}

uint64_t unique_weight_bytes(const Graph& graph) {
  std::set<const std::byte*> seen;
  uint64_t total = 0;
  for (const Weight& w : graph.weights) {
    if (seen.insert(w.bytes.data()).second) total += w.bytes.size();
  }
  return total;
}

}  // namespace

const PhasePlan& Plan::phase(Phase phase) const {
  const auto found = std::find_if(phases.begin(), phases.end(),
                                  [&](const PhasePlan& p) { return p.phase == phase; });
  TANDEM_CHECK(found != phases.end());
  return *found;
}

std::string Plan::to_json() const {
  nlohmann::ordered_json out{
      {"schema", "tandem.plan.v1"},         {"context", context},
      {"weight_bytes", weight_bytes},       {"state_bytes", state_bytes},
      {"workspace_bytes", workspace_bytes}, {"phases", nlohmann::ordered_json::array()}};
  for (const PhasePlan& p : phases) {
    nlohmann::ordered_json segments = nlohmann::ordered_json::array();
    for (const Segment& s : p.segments) {
      segments.push_back(
          {{"device", s.device}, {"first_node", s.nodes.first}, {"n_nodes", s.nodes.count}});
    }
    out["phases"].push_back({{"phase", to_string(p.phase)},
                             {"max_tokens", p.shape.max_tokens},
                             {"max_outputs", p.shape.max_outputs},
                             {"segments", std::move(segments)}});
  }
  return out.dump(2);
}

Result<Plan> make_plan(std::span<const PlanRequest> phases, std::span<Device* const> devices,
                       uint32_t context) {
  Plan plan;
  plan.context = context;
  for (const PlanRequest& request : phases) {
    TANDEM_TRY(PhasePlan phase, plan_phase(request, devices));
    plan.workspace_bytes = std::max(plan.workspace_bytes, phase.workspace.size_bytes);
    plan.phases.push_back(std::move(phase));
  }
  plan.weight_bytes = unique_weight_bytes(phases.front().graph);
  plan.state_bytes = SequenceState::bytes_needed(phases.front().graph, context);
  return plan;
}

}  // namespace tandem
