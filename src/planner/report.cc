// A plan as text and JSON.

#include "planner/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

double rate(double count, double seconds) { return seconds > 0 ? count / seconds : 0; }

double millijoules_per(double joules, double count) { return count > 0 ? joules * 1e3 / count : 0; }

std::string grouped_reasons(const PhaseDelegation& phase) {
  std::string out;
  for (const ReasonGroup& group : phase.reasons()) {
    out += fmt::format("    {:>4} {} not on {}: {}: {}{}\n", group.n_nodes, to_string(group.op),
                       group.device, to_string(group.code), group.sentence,
                       group.n_nodes > 1 ? fmt::format(" ({})", group.first_node) : "");
  }
  return out;
}

std::string each_reason(const PhaseDelegation& phase) {
  std::string out;
  for (const UndelegatedNode& node : phase.undelegated) {
    for (const Refusal& r : node.refusals) {
      out += fmt::format("    {} ({}) not on {}: {}: {}\n", node.name, to_string(node.op), r.device,
                         to_string(r.reason.code), r.reason.sentence);
    }
  }
  return out;
}

std::string phase_text(const PhaseDelegation& p, bool all_nodes) {
  std::string out = fmt::format("{}\n  {}\n", p.title(), p.headline());
  if (p.n_helpers > 0) out += fmt::format("  {} helper nodes apart\n", p.n_helpers);
  out += fmt::format("  {:<16} {:>9} {:>6}\n", "op", "delegated", "nodes");
  for (const OpDelegation& op : p.ops) {
    out += fmt::format("  {:<16} {:>9} {:>6}\n", to_string(op.op), op.n_delegated, op.n_nodes);
  }
  for (const DeviceShare& d : p.devices) {
    out += fmt::format("  {}: {} nodes in {} segments, {}\n", d.device, d.n_nodes, d.n_segments,
                       format_seconds(d.seconds));
  }
  out += fmt::format("  {} crossings, {} cross a step, {} copied\n", p.n_crossings,
                     format_bytes(p.crossing_bytes), format_bytes(p.copied_bytes));
  if (!p.undelegated.empty() && p.devices.size() > 1) {
    out += "  on the host\n" + (all_nodes ? each_reason(p) : grouped_reasons(p));
  }
  return out;
}

/// Linears whose rows two devices share.
std::string splits_text(const PhasePlan& phase, const std::vector<PlanReport::NodeName>& nodes) {
  std::string out;
  for (const Segment& s : phase.segments) {
    if (!s.split) continue;
    out += fmt::format("  {}: rows before {} on {}, the others on {} meanwhile, {}\n",
                       nodes[s.nodes.first].name, s.split->first_row, s.device, s.split->device,
                       format_seconds(s.estimate.seconds));
  }
  return out;
}

std::string memory_text(const PlanReport& r) {
  return fmt::format(
      "memory\n"
      "  weights {} (one copy), cache {} a session at {} positions, workspace {}\n"
      "  {} of weights stay in SRAM between decode steps ({} tensors)\n",
      format_bytes(r.plan.weight_bytes), format_bytes(r.plan.state_bytes), r.plan.context,
      format_bytes(r.plan.workspace_bytes),
      format_bytes(r.plan.phase(Phase::kDecode).resident_bytes), r.resident.size());
}

std::string prediction_text(const PlanReport& r) {
  const Prediction& p = r.prediction;
  std::string out = fmt::format(
      "predicted for {} prompt and {} generated tokens{}\n"
      "  prefill {} to the first token, {:.1f} tokens/s, {:.2f} mJ/token\n"
      "  decode  {:.2f} tokens/s, {:.2f} mJ/token, {} read a token, {} copied a token\n"
      "  in all  {}, {:.3f} J\n",
      r.workload.prompt_tokens, r.workload.generated_tokens,
      r.is_simulated() ? fmt::format(" (simulated: {})", r.soc) : "",
      format_seconds(p.prefill.seconds), rate(r.workload.prompt_tokens, p.prefill.seconds),
      millijoules_per(p.prefill.joules, r.workload.prompt_tokens),
      rate(p.n_decoded, p.decode.seconds), millijoules_per(p.decode.joules, p.n_decoded),
      format_bytes(p.n_decoded > 0 ? p.decode.bytes / p.n_decoded : 0),
      format_bytes(p.copied_bytes_per_token), format_seconds(p.seconds()), p.joules());
  std::string chunks;
  for (uint32_t n : p.chunks) chunks += fmt::format("{}{}", chunks.empty() ? "" : " + ", n);
  return out + fmt::format("  chunks  {}\n", chunks);
}

Json estimate_json(const Estimate& e) {
  return {{"seconds", e.seconds}, {"joules", e.joules}, {"bytes", e.bytes}, {"macs", e.macs}};
}

Json delegation_json(const PhaseDelegation& p, const std::vector<PlanReport::NodeName>& nodes,
                     const Plan& plan) {
  Json ops = Json::array(), devices = Json::array(), undelegated = Json::array();
  for (const OpDelegation& op : p.ops) {
    ops.push_back({{"op", to_string(op.op)}, {"delegated", op.n_delegated}, {"nodes", op.n_nodes}});
  }
  for (const DeviceShare& d : p.devices) {
    devices.push_back({{"device", d.device},
                       {"nodes", d.n_nodes},
                       {"segments", d.n_segments},
                       {"macs", d.macs},
                       {"bytes", d.bytes},
                       {"seconds", d.seconds}});
  }
  for (const UndelegatedNode& node : p.undelegated) {
    Json reasons = Json::array();
    for (const Refusal& r : node.refusals) {
      reasons.push_back({{"device", r.device},
                         {"reason", to_string(r.reason.code)},
                         {"sentence", r.reason.sentence}});
    }
    undelegated.push_back(
        {{"node", node.name}, {"op", to_string(node.op)}, {"reasons", std::move(reasons)}});
  }
  Json placed = Json::array();
  for (const auto& node : nodes) {
    placed.push_back({{"node", node.name}, {"device", plan.devices[node.device].name}});
  }
  return {{"phase", to_string(p.phase)},
          {"max_tokens", p.max_tokens},
          {"padded", p.is_padded},
          {"nodes", p.n_nodes},
          {"delegated", p.n_delegated},
          {"helpers", p.n_helpers},
          {"macs", p.macs},
          {"delegated_macs", p.delegated_macs},
          {"bytes", p.bytes},
          {"delegated_bytes", p.delegated_bytes},
          {"crossings", p.n_crossings},
          {"crossing_bytes", p.crossing_bytes},
          {"copied_bytes", p.copied_bytes},
          {"ops", std::move(ops)},
          {"devices", std::move(devices)},
          {"not_delegated", std::move(undelegated)},
          {"placement", std::move(placed)}};
}

size_t index_of_device(const Plan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.devices, name, &Capabilities::name);
  return static_cast<size_t>(found - plan.devices.begin());
}

std::vector<PlanReport::NodeName> names_of(const Plan& plan, const PhasePlan& phase,
                                           const Graph& graph) {
  const std::vector<size_t> device = devices_of_nodes(plan, phase);
  std::vector<PlanReport::NodeName> out;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    out.push_back({node.name, node.op, node.layer, device[i]});
  }
  for (const Segment& s : phase.segments) {
    if (s.split) out[s.nodes.first].shared_with = index_of_device(plan, s.split->device);
  }
  return out;
}

}  // namespace

std::string format_seconds(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.1f} us", seconds * 1e6);
}

std::string format_bytes(uint64_t bytes) {
  const double b = static_cast<double>(bytes);
  if (b >= 1e9) return fmt::format("{:.2f} GB", b / 1e9);
  if (b >= 1e6) return fmt::format("{:.2f} MB", b / 1e6);
  if (b >= 1e3) return fmt::format("{:.2f} kB", b / 1e3);
  return fmt::format("{} B", bytes);
}

std::string PlanReport::to_text(bool all_nodes) const {
  std::string out = fmt::format("model    {}\n", model);
  if (is_simulated()) out += fmt::format("simulated: {}\n", soc);
  for (const Capabilities& c : plan.devices) {
    out += fmt::format("device   {}: {}{}\n", c.name, c.description,
                       c.driver.empty() ? "" : fmt::format(", driver {}", c.driver));
  }
  out += "\n";
  for (size_t i = 0; i < phases.size(); ++i) {
    out += phase_text(phases[i], all_nodes) + splits_text(plan.phases[i], nodes[i]) + "\n";
  }
  out += memory_text(*this);
  if (has_costs) out += "\n" + prediction_text(*this);
  return out;
}

std::string PlanReport::to_json() const {
  Json out{{"schema", "tandem.plan_report.v1"},
           {"model", model},
           {"simulated", is_simulated() ? Json(soc) : Json()},
           {"plan", Json::parse(plan.to_json())},
           {"delegation", Json::array()},
           {"resident", Json::array()}};
  for (size_t i = 0; i < phases.size(); ++i) {
    out["delegation"].push_back(delegation_json(phases[i], nodes[i], plan));
  }
  for (const Resident& r : resident) {
    out["resident"].push_back({{"weight", r.weight}, {"bytes", r.bytes}});
  }
  out["workload"] = {{"prompt_tokens", workload.prompt_tokens},
                     {"generated_tokens", workload.generated_tokens}};
  if (has_costs) {
    const Prediction& p = prediction;
    out["prediction"] = {
        {"chunks", p.chunks},
        {"first_token_seconds", p.prefill.seconds},
        {"prefill_tokens_per_second", rate(workload.prompt_tokens, p.prefill.seconds)},
        {"prefill_millijoules_per_token",
         millijoules_per(p.prefill.joules, workload.prompt_tokens)},
        {"decode_tokens_per_second", rate(p.n_decoded, p.decode.seconds)},
        {"decode_millijoules_per_token", millijoules_per(p.decode.joules, p.n_decoded)},
        {"copied_bytes_per_token", p.copied_bytes_per_token},
        {"seconds", p.seconds()},
        {"joules", p.joules()},
        {"prefill", estimate_json(p.prefill)},
        {"decode", estimate_json(p.decode)}};
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

PlanReport make_report(const Plan& plan, const Graph& prefill, const Graph& decode,
                       std::span<Device* const> devices, const Workload& workload) {
  PlanReport out;
  out.plan = plan;
  out.workload = workload;
  for (const PhasePlan& phase : plan.phases) {
    const Graph& graph = phase.phase == Phase::kDecode ? decode : prefill;
    out.phases.push_back(count_delegation(plan, phase, graph));
    out.nodes.push_back(names_of(plan, phase, graph));
  }
  for (WeightId id : plan.phase(Phase::kDecode).resident) {
    out.resident.push_back({decode.weights[id].name, decode.weights[id].bytes.size()});
  }
  out.has_costs = plan.devices.size() > 1 || plan.devices[0].simulated;
  if (out.has_costs) out.prediction = predict(plan, prefill, decode, devices, workload);
  return out;
}

}  // namespace tandem
