#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "planner/buckets.h"
#include "planner/pins.h"
#include "planner/workspace.h"

namespace tandem {

/// The rows of a linear that another device computes at the same time: those from `first_row` on.
struct RowSplit {
  std::string device;
  uint32_t first_row = 0;
};

/// A run of nodes and the device that executes it.
struct Segment {
  std::string device;
  NodeRange nodes;
  Estimate estimate = {};  ///< at the phase's load; zero when the plan had nothing to weigh
  std::optional<RowSplit> split = std::nullopt;  ///< of the one node that the segment then has
};

/// A node that the host runs although another device is there, and why not there.
struct Refusal {
  uint32_t node;
  std::string device;  ///< the one that does not run it
  Reason reason;
};

/// One phase of a model at one size, placed.
struct PhasePlan {
  Phase phase;
  StepShape shape;
  std::vector<Segment> segments;
  WorkspaceLayout workspace;
  uint32_t context = 0;    ///< positions that the estimates assume
  bool is_padded = false;  ///< some device computes shape.max_tokens rows whatever is asked
  std::vector<Refusal> refusals = {};
  std::vector<WeightId> resident = {};  ///< weights that stay in a device's SRAM between steps
  uint64_t resident_bytes = 0;
  uint64_t crossing_bytes = 0;  ///< values alive where a segment of another device begins
  uint64_t copied_bytes = 0;    ///< of those, moved because a device does not share memory
  Estimate predicted = {};      ///< segments one after another, copies included

  /// Boundaries between devices; a launch more on the same device is none.
  uint32_t n_crossings() const;
};

enum class Objective : uint8_t {
  kLatency,
  kEnergy,
  kBalanced,  ///< seconds and joules, each relative to the least that is possible
};
const char* to_string(Objective objective);
/// Errors: kInvalidArgument listing the names.
Result<Objective> objective_from_name(std::string_view name);

/// How nodes find their place; the last two exist to be compared with.
enum class Policy : uint8_t {
  kCheapest,
  kHostOnly,  ///< as if there were no other device
  kPerNode,   ///< each node by itself, on another device than the host where one supports it
};
/// Names are "cheapest", "cpu-only", "node-by-node". Errors: kInvalidArgument listing them.
const char* to_string(Policy policy);
Result<Policy> policy_from_name(std::string_view name);

struct PlanOptions {
  Objective objective = Objective::kLatency;
  Policy policy = Policy::kCheapest;
  double power_cap_watts = 0;  ///< average over a step; 0: none
  std::vector<Pin> pins = {};
  uint32_t prompt_tokens = 0;     ///< of the expected request; 0: prompts of all lengths
  uint32_t generated_tokens = 0;  ///< 0: as many as a typical answer, 128
  size_t max_buckets = 4;         ///< sizes that a prefill is compiled for, where shapes are static
};

/// Where everything runs and how much memory it takes. Immutable once made.
struct Plan {
  /// Prefill plans by rising shape, then the other phases. Where shapes are static and the host may
  /// take the end of a prompt, the last prefill plan is the host's.
  std::vector<PhasePlan> phases;
  std::vector<Capabilities> devices;  ///< that the plan could choose from
  Chunking chunking;                  ///< over the padded prefill plans; empty when there are none
  PlanOptions options;
  uint64_t weight_bytes = 0;  ///< in the file's layout, each weight once
  uint64_t state_bytes = 0;   ///< of one session at full context
  uint64_t workspace_bytes = 0;
  uint32_t context = 0;  ///< positions of one session

  /// The first plan of a phase: for prefill the smallest.
  const PhasePlan& phase(Phase phase) const;
  /// Tokens that the next chunk of a prompt should take, and so the prefill plan that runs it.
  uint32_t next_chunk(uint32_t remaining) const;
  uint32_t max_prefill_rows() const;
  /// The prefill plan for a step of so many rows: the smallest that holds them.
  size_t prefill_for(uint32_t n_rows) const;
  /// The stable JSON form, schema "tandem.plan.v1"; docs/planner.md.
  std::string to_json() const;
};

struct PlanRequest {
  const Graph& graph;
  StepShape shape;  ///< the most that a step may ask
};

/// Places each phase's graph. Devices come in order of preference at equal cost; one of them is the
/// host. With one device nothing is estimated. Errors:
///   kUnsupported      naming the first node that no device can run and every device's Reason, or a
///                     pin that asks for what its device cannot do
///   kInvalidArgument  a pin that names no device or matches no node; an objective or power cap
///   that
///                     needs energy figures which a device does not have; a cap that cannot be met
Result<Plan> make_plan(std::span<const PlanRequest> phases, std::span<Device* const> devices,
                       uint32_t context, const PlanOptions& options = {});

}  // namespace tandem
