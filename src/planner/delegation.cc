// Counts what was delegated.

#include "planner/delegation.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/check.h"
#include "graph/node_work.h"

namespace tandem {
namespace {

constexpr size_t kNamedInErrors = 8;

double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string PhaseDelegation::headline() const {
  return fmt::format("Delegated {} of {} nodes ({:.1f} % of MACs, {:.1f} % of bytes)", n_delegated,
                     n_nodes, percent(delegated_macs, macs), percent(delegated_bytes, bytes));
}

std::string PhaseDelegation::title() const {
  const char* kind = is_padded ? "padded to" : "of up to";
  if (phase == Phase::kPrefill) return fmt::format("prefill, steps {} {}", kind, max_tokens);
  return to_string(phase);
}

std::vector<ReasonGroup> PhaseDelegation::reasons() const {
  std::map<std::tuple<std::string, Op, ReasonCode>, ReasonGroup> groups;
  for (const UndelegatedNode& node : undelegated) {
    for (const Refusal& r : node.refusals) {
      const ReasonGroup empty{node.op, r.device, r.reason.code, 0, node.name, r.reason.sentence};
      ++groups.try_emplace({r.device, node.op, r.reason.code}, empty).first->second.n_nodes;
    }
  }
  std::vector<ReasonGroup> out;
  for (auto& [key, group] : groups) out.push_back(std::move(group));
  return out;
}

std::vector<size_t> devices_of_nodes(const Plan& plan, const PhasePlan& phase) {
  std::vector<size_t> out;
  for (const Segment& s : phase.segments) {
    const auto found = std::find_if(plan.devices.begin(), plan.devices.end(),
                                    [&](const Capabilities& c) { return c.name == s.device; });
    TANDEM_CHECK(found != plan.devices.end());
    out.insert(out.end(), s.nodes.count, static_cast<size_t>(found - plan.devices.begin()));
  }
  return out;
}

PhaseDelegation count_delegation(const Plan& plan, const PhasePlan& phase, const Graph& graph) {
  PhaseDelegation out{.phase = phase.phase,
                      .max_tokens = phase.shape.max_tokens,
                      .is_padded = phase.is_padded,
                      .n_nodes = static_cast<uint32_t>(graph.nodes.size()),
                      .n_crossings = phase.n_crossings(),
                      .crossing_bytes = phase.crossing_bytes,
                      .copied_bytes = phase.copied_bytes};
  for (const Capabilities& c : plan.devices) out.devices.push_back({.device = c.name});
  const std::vector<size_t> device = devices_of_nodes(plan, phase);
  const uint32_t n_tokens = phase.phase == Phase::kPrefill ? phase.shape.max_tokens : 1;
  const uint32_t context = std::max(phase.context, n_tokens);
  std::vector<OpDelegation> ops(kOpCount);
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const NodeWork work = count_work(graph, node, n_tokens, context);
    const uint64_t bytes = work.weight_bytes + work.state_bytes;
    const bool delegated = !plan.devices[device[i]].host;
    OpDelegation& op = ops[static_cast<size_t>(node.op)];
    op.op = node.op;
    ++op.n_nodes;
    out.macs += work.macs;
    out.bytes += bytes;
    DeviceShare& share = out.devices[device[i]];
    ++share.n_nodes;
    share.macs += work.macs;
    share.bytes += bytes;
    if (delegated) {
      ++op.n_delegated;
      ++out.n_delegated;
      out.delegated_macs += work.macs;
      out.delegated_bytes += bytes;
      continue;
    }
    out.undelegated.push_back({node.name, node.op, {}});
    for (const Refusal& r : phase.refusals) {
      if (r.node == i) out.undelegated.back().refusals.push_back(r);
    }
  }
  for (const Segment& s : phase.segments) {
    for (DeviceShare& share : out.devices) {
      if (share.device != s.device) continue;
      ++share.n_segments;
      share.seconds += s.estimate.seconds;
    }
  }
  std::copy_if(ops.begin(), ops.end(), std::back_inserter(out.ops),
               [](const OpDelegation& op) { return op.n_nodes > 0; });
  return out;
}

Result<void> require_all_delegated(const PhaseDelegation& phase) {
  if (phase.undelegated.empty()) return {};
  std::string names;
  for (size_t i = 0; i < std::min(kNamedInErrors, phase.undelegated.size()); ++i) {
    const UndelegatedNode& node = phase.undelegated[i];
    names += fmt::format("\n  {}", node.name);
    for (const Refusal& r : node.refusals) {
      names += fmt::format("; {}: {} ({})", r.device, r.reason.sentence, to_string(r.reason.code));
    }
    if (node.refusals.empty()) names += "; there is no device but the host";
  }
  if (phase.undelegated.size() > kNamedInErrors) {
    names += fmt::format("\n  and {} more", phase.undelegated.size() - kNamedInErrors);
  }
  return failure(ErrorCode::kUnsupported, "{} of {} nodes of {} would run on the host:{}",
                 phase.undelegated.size(), phase.n_nodes, to_string(phase.phase), names);
}

}  // namespace tandem
