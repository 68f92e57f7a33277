#pragma once

#include <string>
#include <vector>

#include "planner/plan.h"

namespace tandem {

/// How many nodes of an op went where.
struct OpDelegation {
  Op op;
  uint32_t n_delegated = 0;
  uint32_t n_nodes = 0;
};

struct DeviceShare {
  std::string device;
  uint32_t n_segments = 0;
  uint32_t n_nodes = 0;
  uint64_t macs = 0;
  uint64_t bytes = 0;  ///< weights and cache that its nodes read
  double seconds = 0;
};

/// A node that the host runs, with every other device's Reason.
struct UndelegatedNode {
  std::string name;
  Op op;
  std::vector<Refusal> refusals = {};
};

/// Undelegated nodes of one op that a device does not run for one Reason.
struct ReasonGroup {
  Op op;
  std::string device;
  ReasonCode code;
  uint32_t n_nodes = 0;
  std::string first_node = {};
  std::string sentence = {};  ///< the first node's; the values of others may differ
};

/// One phase, counted. Model nodes only: quantizing, padding and layout changes are counted as
/// helpers and never among them.
struct PhaseDelegation {
  Phase phase;
  uint32_t max_tokens = 0;
  bool is_padded = false;
  uint32_t n_nodes = 0;
  uint32_t n_delegated = 0;
  uint32_t n_helpers = 0;
  uint64_t macs = 0, delegated_macs = 0;
  uint64_t bytes = 0, delegated_bytes = 0;
  uint32_t n_crossings = 0;
  uint64_t crossing_bytes = 0;
  uint64_t copied_bytes = 0;
  std::vector<OpDelegation> ops = {};     ///< in the order of Op; those that occur
  std::vector<DeviceShare> devices = {};  ///< in the plan's order
  std::vector<UndelegatedNode> undelegated = {};

  /// "Delegated N of M nodes (x % of MACs, y % of bytes)".
  std::string headline() const;
  /// "prefill, steps padded to 256", "decode".
  std::string title() const;
  /// Its undelegated nodes by device, op and Reason: many layers give the same one.
  std::vector<ReasonGroup> reasons() const;
};

/// Counts a phase of a plan. `graph` is the one it was made for.
PhaseDelegation count_delegation(const Plan& plan, const PhasePlan& phase, const Graph& graph);

/// The nodes of the phase's graph by device: indices into plan.devices. (n_nodes)
std::vector<size_t> devices_of_nodes(const Plan& plan, const PhasePlan& phase);

/// Errors: kUnsupported naming the nodes that the host would run and their Reasons, when there are
/// any: the answer to "all of it on the NPU, or not at all".
Result<void> require_all_delegated(const PhaseDelegation& phase);

}  // namespace tandem
