#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/delegation.h"
#include "planner/prediction.h"

namespace tandem {

/// Everything that a plan says, counted and named, without the graphs it was made from: what
/// `tandem plan` prints. Figures of simulated devices are marked wherever they appear.
struct PlanReport {
  std::string model;
  std::string soc;  ///< profile's name; empty: this machine
  Workload workload;
  Prediction prediction;
  std::vector<PhaseDelegation> phases;
  Plan plan;
  /// One entry a phase: the node names and layers, for the map.
  struct NodeName {
    std::string name;
    Op op;
    int layer;
    size_t device;                                     ///< index into plan.devices
    std::optional<size_t> shared_with = std::nullopt;  ///< computes the other rows (RowSplit)
  };
  std::vector<std::vector<NodeName>> nodes;
  struct Resident {
    std::string weight;
    uint64_t bytes;
  };
  std::vector<Resident> resident;  ///< of the decode phase
  bool has_costs = false;  ///< more than one device, or a profile: predictions mean something

  bool is_simulated() const { return !soc.empty(); }
  /// For people. `all_nodes`: each undelegated node on a line of its own instead of grouped by
  /// reason.
  std::string to_text(bool all_nodes = false) const;
  /// Schema "tandem.plan_report.v1"; docs/planner.md.
  std::string to_json() const;
  /// One self-contained page with the layer map drawn.
  std::string to_html() const;
};

/// `devices` are those the plan was made for, graphs likewise.
PlanReport make_report(const Plan& plan, const Graph& prefill, const Graph& decode,
                       std::span<Device* const> devices, const Workload& workload);

/// "  12.34 ms", "1.20 s": a time for people.
std::string format_seconds(double seconds);
/// "1.21 GB", "512 B".
std::string format_bytes(uint64_t bytes);

}  // namespace tandem
