// One graph at one size: costs, placement, segments, reasons, residency.

#include "planner/phase_planner.h"

#include <algorithm>

#include "base/check.h"
#include "planner/phase_costs.h"
#include "planner/row_split.h"

namespace tandem {
namespace {

class PhasePlanner {
 public:
  explicit PhasePlanner(const PhaseRequest& request)
      : r_(request),
        weighs_(request.devices.size() > 1),
        costs_(ask_devices(r_.graph, r_.shape, r_.load, r_.devices, weighs_)) {}

  Result<PhasePlan> run() {
    TANDEM_TRY(check_every_node());
    TANDEM_TRY(apply_pins(r_.graph, r_.shape, r_.devices, r_.options.pins, costs_));
    if (r_.options.policy == Policy::kHostOnly) keep_host_only();
    set_memory_limits();
    TANDEM_TRY(const Placement placement, place());
    PhasePlan out{.phase = r_.graph.phase,
                  .shape = r_.shape,
                  .segments = cut(placement),
                  .workspace = plan_workspace(r_.graph, r_.shape),
                  .context = r_.load.context};
    out.is_padded = std::any_of(placement.device.begin(), placement.device.end(),
                                [&](uint8_t d) { return r_.devices[d]->describe().static_shapes; });
    if (!weighs_) return out;
    choose_resident(placement, out);
    predict(out);
    share_rows(out);
    explain(placement, out);
    return out;
  }

 private:
  const PlacementProblem& problem() const { return costs_.problem; }
  const Capabilities& facts(uint32_t d) const { return r_.devices[d]->describe(); }
  bool is_host(uint32_t d) const { return facts(d).host; }

  Result<void> check_every_node() {
    for (uint32_t i = 0; i < problem().n_nodes; ++i) {
      std::string reasons;
      bool runs = false;
      for (uint32_t d = 0; d < problem().n_devices && !runs; ++d) {
        runs = costs_.supported[problem().at(i, d)];
        if (runs) continue;
        const auto reason = r_.devices[d]->supports(r_.graph, r_.graph.nodes[i], r_.shape);
        if (!reason) continue;
        reasons +=
            fmt::format("; {}: {} ({})", facts(d).name, reason->sentence, to_string(reason->code));
      }
      if (!runs) {
        return failure(ErrorCode::kUnsupported, "no device can run node {}{}",
                       r_.graph.nodes[i].name, reasons);
      }
    }
    return {};
  }

  void keep_host_only() {
    for (uint32_t i = 0; i < problem().n_nodes; ++i) {
      for (uint32_t d = 0; d < problem().n_devices; ++d) {
        if (!is_host(d)) costs_.problem.allowed[problem().at(i, d)] = 0;
      }
    }
  }

  /// A device that may hold several contexts is limited in each, which cut() sees to.
  void set_memory_limits() {
    for (uint32_t d = 0; d < problem().n_devices; ++d) {
      costs_.problem.memory_limit[d] = facts(d).max_contexts * facts(d).context_memory_bytes;
    }
  }

  Result<Placement> place() {
    std::optional<Placement> found;
    if (r_.options.policy == Policy::kPerNode) {
      found = place_every_supported_node();
    } else if (r_.options.power_cap_watts > 0) {
      found = place_under_power_cap(problem(), r_.options.power_cap_watts);
      if (!found) {
        return failure(ErrorCode::kInvalidArgument, "no plan for {} draws {} W or less",
                       to_string(r_.graph.phase), r_.options.power_cap_watts);
      }
    } else {
      weighting_ = weighting();
      found = place_within_memory(problem(), weighting_);
    }
    if (found) return *found;
    return failure(ErrorCode::kUnsupported, "{} does not fit on the devices that may run it",
                   to_string(r_.graph.phase));
  }

  Weighting weighting() const {
    if (r_.options.objective == Objective::kEnergy) return {0, 1};
    if (r_.options.objective == Objective::kLatency) return {1, 0};
    const auto fastest = cheapest_placement(problem(), {1, 0});
    const auto frugal = cheapest_placement(problem(), {0, 1});
    const bool both = fastest && frugal && fastest->cost.seconds > 0 && frugal->cost.joules > 0;
    if (!both) return {1, 0};
    return {1 / fastest->cost.seconds, 1 / frugal->cost.joules};
  }

  std::optional<Placement> place_every_supported_node() const {
    Placement out;
    for (uint32_t i = 0; i < problem().n_nodes; ++i) {
      uint32_t best = problem().n_devices;
      for (uint32_t d = 0; d < problem().n_devices; ++d) {
        if (problem().allowed[problem().at(i, d)] == 0) continue;
        if (best == problem().n_devices || (is_host(best) && !is_host(d))) best = d;
      }
      if (best == problem().n_devices) return std::nullopt;
      out.device.push_back(static_cast<uint8_t>(best));
    }
    out.cost = cost_of(problem(), out.device);
    return out;
  }

  /// Runs of one device; cut where a context's memory is full, and at every node when each is to be
  /// delegated by itself.
  std::vector<Segment> cut(const Placement& placement) const {
    std::vector<Segment> out;
    uint64_t held = 0;
    for (uint32_t i = 0; i < problem().n_nodes; ++i) {
      const uint32_t d = placement.device[i];
      const bool alone = r_.options.policy == Policy::kPerNode;
      const uint64_t limit = facts(d).context_memory_bytes;
      const bool is_full = limit != 0 && held + problem().memory[i] > limit;
      if (out.empty() || out.back().device != facts(d).name || is_full || alone) {
        out.push_back({facts(d).name, {i, 0}});
        held = 0;
      }
      ++out.back().nodes.count;
      held += problem().memory[i];
    }
    return out;
  }

  /// What fits, in node order: a byte kept saves as much wherever it lies.
  void choose_resident(const Placement& placement, PhasePlan& out) const {
    if (r_.graph.phase != Phase::kDecode) return;  // a prefill streams through
    std::vector<uint64_t> room;
    for (uint32_t d = 0; d < problem().n_devices; ++d) room.push_back(facts(d).sram_bytes);
    for (uint32_t i = 0; i < problem().n_nodes; ++i) {
      const auto* linear = std::get_if<LinearAttributes>(&r_.graph.nodes[i].attributes);
      const uint32_t d = placement.device[i];
      if (linear == nullptr || problem().memory[i] > room[d]) continue;
      room[d] -= problem().memory[i];
      out.resident_bytes += problem().memory[i];
      out.resident.push_back(linear->weight);
    }
  }

  void predict(PhasePlan& out) const {
    StepLoad load = r_.load;
    load.resident = out.resident;
    for (size_t s = 0; s < out.segments.size(); ++s) {
      Segment& segment = out.segments[s];
      Device& device = *r_.devices[index_of(segment.device)];
      segment.estimate = device.estimate(r_.graph, segment.nodes, load);
      out.predicted += segment.estimate;
      if (s == 0 || out.segments[s - 1].device == segment.device) continue;
      const uint64_t bytes = problem().live_bytes[segment.nodes.first];
      const uint32_t from = index_of(out.segments[s - 1].device), to = index_of(segment.device);
      out.crossing_bytes += bytes;
      for (uint32_t d : {from, to}) {
        if (!facts(d).shares_memory) out.copied_bytes += bytes;
      }
      const double per_byte = problem().copy_out[from].seconds + problem().copy_in[to].seconds;
      out.predicted.seconds += per_byte * static_cast<double>(bytes);
    }
  }

  void share_rows(PhasePlan& out) const {
    const bool for_speed = r_.options.policy == Policy::kCheapest &&
                           r_.options.objective == Objective::kLatency &&
                           r_.options.power_cap_watts <= 0;
    if (r_.graph.phase != Phase::kDecode || r_.shape.max_tokens != 1 || !for_speed) return;
    split_rows({.graph = r_.graph,
                .load = r_.load,
                .devices = r_.devices,
                .is_allowed =
                    [this](uint32_t node, size_t device) {
                      return find_pin(r_.options.pins, r_.graph.nodes[node].name) == nullptr &&
                             problem().allowed[problem().at(node, static_cast<uint32_t>(device))];
                    }},
               out);
  }

  uint32_t index_of(const std::string& device) const {
    for (uint32_t d = 0; d < problem().n_devices; ++d) {
      if (facts(d).name == device) return d;
    }
    TANDEM_CHECK(false);
  }

  /// Why each node on the host is not on each other device.
  void explain(const Placement& placement, PhasePlan& out) const {
    const std::vector<double> through = cost_through(problem(), weighting_);
    for (uint32_t i = 0; i < problem().n_nodes; ++i) {
      if (!is_host(placement.device[i])) continue;
      for (uint32_t d = 0; d < problem().n_devices; ++d) {
        if (is_host(d)) continue;
        out.refusals.push_back({i, facts(d).name, reason_against(i, d, placement, through)});
      }
    }
  }

  Reason reason_against(uint32_t i, uint32_t d, const Placement& placement,
                        const std::vector<double>& through) const {
    const Node& node = r_.graph.nodes[i];
    if (const Pin* pin = find_pin(r_.options.pins, node.name)) {
      return {ReasonCode::kPinnedByUser, fmt::format("pin {}={}", pin->pattern, pin->device)};
    }
    if (auto reason = r_.devices[d]->supports(r_.graph, node, r_.shape)) return *reason;
    if (r_.options.policy == Policy::kHostOnly) {
      return {ReasonCode::kCost, "the plan was asked to use the host only"};
    }
    const double here = through[problem().at(i, placement.device[i])];
    const double there = through[problem().at(i, d)];
    if (r_.options.objective == Objective::kLatency) {
      return {ReasonCode::kCost,
              fmt::format("the step takes {:.3f} ms with it on {}, {:.3f} ms with it there",
                          here * 1e3, facts(placement.device[i]).name, there * 1e3)};
    }
    if (r_.options.objective == Objective::kEnergy) {
      return {ReasonCode::kCost,
              fmt::format("the step takes {:.3f} mJ with it on {}, {:.3f} mJ with it there",
                          here * 1e3, facts(placement.device[i]).name, there * 1e3)};
    }
    return {ReasonCode::kCost,
            fmt::format("time and energy weigh {:.4f} with it on {}, {:.4f} with it there", here,
                        facts(placement.device[i]).name, there)};
  }

  const PhaseRequest& r_;
  bool weighs_;
  PhaseCosts costs_;
  Weighting weighting_{1, 0};
};

}  // namespace

Result<PhasePlan> plan_phase(const PhaseRequest& request) { return PhasePlanner(request).run(); }

}  // namespace tandem
