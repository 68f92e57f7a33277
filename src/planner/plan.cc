// Places nodes on devices and sizes the memory.

#include "planner/plan.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "planner/phase_planner.h"

namespace tandem {
namespace {

constexpr uint32_t kTypicalAnswer = 128;
constexpr uint32_t kLongestTypicalPrompt = 2048;

uint64_t unique_weight_bytes(const Graph& graph) {
  std::set<const std::byte*> seen;
  uint64_t total = 0;
  for (const Weight& w : graph.weights) {
    if (seen.insert(w.bytes.data()).second) total += w.bytes.size();
  }
  return total;
}

Result<void> check_pins(std::span<const PlanRequest> phases, std::span<Device* const> devices,
                        std::span<const Pin> pins) {
  for (const Pin& pin : pins) {
    std::string names;
    bool known = false;
    for (const Device* device : devices) {
      names += (names.empty() ? "" : ", ") + device->describe().name;
      known |= device->describe().name == pin.device;
    }
    if (!known) {
      return failure(ErrorCode::kInvalidArgument, "pin {}={}: there is no such device; here are {}",
                     pin.pattern, pin.device, names);
    }
    const auto has_match = [&](const PlanRequest& r) {
      return std::any_of(r.graph.nodes.begin(), r.graph.nodes.end(),
                         [&](const Node& n) { return matches(pin.pattern, n.name); });
    };
    if (std::none_of(phases.begin(), phases.end(), has_match)) {
      return failure(ErrorCode::kInvalidArgument, "pin {}={} matches no node", pin.pattern,
                     pin.device);
    }
  }
  return {};
}

Result<void> check_energy(std::span<Device* const> devices, const PlanOptions& options) {
  if (options.objective == Objective::kLatency && options.power_cap_watts <= 0) return {};
  for (const Device* device : devices) {
    if (device->describe().knows_energy) continue;
    return failure(ErrorCode::kInvalidArgument,
                   "{} needs energy figures, and {} has none; a SoC profile has them",
                   options.power_cap_watts > 0 ? "a power cap" : "an objective with energy",
                   device->describe().name);
  }
  return {};
}

/// Prompt lengths that bucket sizes are chosen for.
std::vector<uint32_t> expected_prompts(const PlanOptions& options, uint32_t context) {
  if (options.prompt_tokens > 0) return {options.prompt_tokens};
  std::vector<uint32_t> out;
  for (uint32_t n = 16; n <= std::min(context, kLongestTypicalPrompt); n = n * 3 / 2) {
    out.push_back(n);
  }
  return out.empty() ? std::vector<uint32_t>{1} : out;
}

/// Sizes that some device compiles for, up to the most that a step may ask, that one included.
std::vector<uint32_t> candidate_buckets(std::span<Device* const> devices, uint32_t most) {
  std::set<uint32_t> sizes;
  for (const Device* device : devices) {
    if (!device->describe().static_shapes) continue;
    sizes.insert(most);
    for (uint32_t n : device->describe().buckets) {
      if (n <= most) sizes.insert(n);
    }
  }
  while (sizes.size() > 12) sizes.erase(sizes.begin());
  return {sizes.begin(), sizes.end()};
}

/// Makes the plans of one model.
class ModelPlanner {
 public:
  ModelPlanner(std::span<Device* const> devices, uint32_t context, const PlanOptions& options)
      : devices_(devices), options_(options) {
    plan_.context = context;
    plan_.options = options;
    for (const Device* device : devices) plan_.devices.push_back(device->describe());
  }

  Result<void> add(const PlanRequest& request) {
    if (request.graph.phase == Phase::kPrefill) return add_prefill(request);
    TANDEM_TRY(PhasePlan phase, plan(request.graph, request.shape, options_));
    keep(std::move(phase));
    return {};
  }

  Plan take() { return std::move(plan_); }

 private:
  Result<PhasePlan> plan(const Graph& graph, const StepShape& shape, const PlanOptions& options) {
    const uint32_t prompt =
        std::min(options.prompt_tokens > 0 ? options.prompt_tokens : kLongestTypicalPrompt / 2,
                 plan_.context);
    const uint32_t generated =
        options.generated_tokens > 0 ? options.generated_tokens : kTypicalAnswer;
    const bool is_prefill = graph.phase == Phase::kPrefill;
    // Half way through the prompt, or through the answer.
    const uint32_t middle = is_prefill ? (prompt + 1) / 2 : prompt + generated / 2;
    const uint32_t n_tokens = is_prefill ? shape.max_tokens : 1;
    return plan_phase({.graph = graph,
                       .shape = shape,
                       .load = {.n_tokens = n_tokens,
                                .context = std::max(std::min(middle, plan_.context), n_tokens)},
                       .devices = devices_,
                       .options = options});
  }

  Result<void> add_prefill(const PlanRequest& request) {
    const auto sizes = candidate_buckets(devices_, request.shape.max_tokens);
    if (sizes.empty() || options_.policy == Policy::kHostOnly) {
      TANDEM_TRY(PhasePlan phase, plan(request.graph, request.shape, options_));
      keep(std::move(phase));
      return {};
    }
    std::vector<PhasePlan> padded;
    std::vector<Bucket> costs;
    for (uint32_t n : sizes) {
      TANDEM_TRY(PhasePlan phase,
                 plan(request.graph, {n, std::min(n, request.shape.max_outputs)}, options_));
      phase.shape.max_outputs = request.shape.max_outputs;
      costs.push_back({n, phase.predicted.seconds});
      padded.push_back(std::move(phase));
    }
    const auto chosen =
        choose_buckets(costs, options_.max_buckets, expected_prompts(options_, plan_.context));
    for (PhasePlan& phase : padded) {
      const bool keeps = std::any_of(chosen.begin(), chosen.end(), [&](const Bucket& b) {
        return b.n_tokens == phase.shape.max_tokens;
      });
      if (keeps) keep(std::move(phase));
    }
    return add_host_prefill(request, chosen);
  }

  /// The host computes just the rows there are: it may take what is left of a prompt.
  Result<void> add_host_prefill(const PlanRequest& request, const std::vector<Bucket>& buckets) {
    PlanOptions host = options_;
    host.policy = Policy::kHostOnly;
    const StepShape shape{buckets.back().n_tokens, request.shape.max_outputs};
    auto whole = plan(request.graph, shape, host);
    const bool is_forced = !options_.pins.empty() || options_.policy == Policy::kPerNode;
    if (!whole || is_forced) {
      plan_.chunking = Chunking(buckets, 0, 0);
      return {};
    }
    TANDEM_TRY(const PhasePlan one, plan(request.graph, {1, 1}, host));
    const double n = std::max<double>(2, shape.max_tokens);
    const double per_token =
        std::max(1e-12, (whole->predicted.seconds - one.predicted.seconds) / (n - 1));
    const double base = std::max(0.0, one.predicted.seconds - per_token);
    plan_.chunking = Chunking(buckets, base, per_token);
    for (Refusal& r : whole->refusals) {
      if (r.reason.code != ReasonCode::kCost) continue;
      r.reason.sentence = "this plan is for what is left of a prompt, where padding costs more";
    }
    keep(std::move(*whole));
    return {};
  }

  void keep(PhasePlan phase) {
    plan_.workspace_bytes = std::max(plan_.workspace_bytes, phase.workspace.size_bytes);
    plan_.phases.push_back(std::move(phase));
  }

  std::span<Device* const> devices_;
  PlanOptions options_;
  Plan plan_;
};

}  // namespace

const char* to_string(Objective objective) {
  switch (objective) {
    case Objective::kLatency:
      return "latency";
    case Objective::kEnergy:
      return "energy";
    case Objective::kBalanced:
      return "balanced";
  }
  return "unknown";
}

Result<Objective> objective_from_name(std::string_view name) {
  for (auto o : {Objective::kLatency, Objective::kEnergy, Objective::kBalanced}) {
    if (name == to_string(o)) return o;
  }
  return failure(ErrorCode::kInvalidArgument,
                 "objective \"{}\" is not known; known are latency, energy, balanced", name);
}

const char* to_string(Policy policy) {
  switch (policy) {
    case Policy::kCheapest:
      return "cheapest";
    case Policy::kHostOnly:
      return "cpu-only";
    case Policy::kPerNode:
      return "node-by-node";
  }
  return "unknown";
}

Result<Policy> policy_from_name(std::string_view name) {
  for (auto p : {Policy::kCheapest, Policy::kHostOnly, Policy::kPerNode}) {
    if (name == to_string(p)) return p;
  }
  return failure(ErrorCode::kInvalidArgument,
                 "policy \"{}\" is not known; known are cheapest, cpu-only, node-by-node", name);
}

uint32_t PhasePlan::n_crossings() const {
  uint32_t out = 0;
  for (size_t i = 1; i < segments.size(); ++i) {
    out += segments[i].device != segments[i - 1].device;
  }
  return out;
}

const PhasePlan& Plan::phase(Phase phase) const {
  const auto found = std::find_if(phases.begin(), phases.end(),
                                  [&](const PhasePlan& p) { return p.phase == phase; });
  TANDEM_CHECK(found != phases.end());
  return *found;
}

uint32_t Plan::next_chunk(uint32_t remaining) const {
  if (chunking.buckets().empty()) return max_prefill_rows();
  const size_t bucket = chunking.next_bucket(remaining);
  const auto& buckets = chunking.buckets();
  return bucket < buckets.size() ? buckets[bucket].n_tokens : remaining;
}

uint32_t Plan::max_prefill_rows() const {
  if (chunking.buckets().empty()) return phase(Phase::kPrefill).shape.max_tokens;
  return chunking.buckets().back().n_tokens;
}

size_t Plan::prefill_for(uint32_t n_rows) const {
  const size_t n_padded = chunking.buckets().size();
  if (n_padded == 0) return 0;
  if (chunking.next_bucket(n_rows) == n_padded) return n_padded;
  for (size_t i = 0; i < n_padded; ++i) {
    if (phases[i].shape.max_tokens >= n_rows) return i;
  }
  return n_padded - 1;
}

Result<Plan> make_plan(std::span<const PlanRequest> phases, std::span<Device* const> devices,
                       uint32_t context, const PlanOptions& options) {
  TANDEM_TRY(check_pins(phases, devices, options.pins));
  TANDEM_TRY(check_energy(devices, options));
  ModelPlanner planner(devices, context, options);
  for (const PlanRequest& request : phases) {
    TANDEM_TRY(planner.add(request));
  }
  Plan plan = planner.take();
  plan.weight_bytes = unique_weight_bytes(phases.front().graph);
  plan.state_bytes = SequenceState::bytes_needed(phases.front().graph, context);
  return plan;
}

}  // namespace tandem
