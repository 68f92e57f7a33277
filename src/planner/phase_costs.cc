// From a graph and devices to the numbers that placing works with.

#include "planner/phase_costs.h"

#include <algorithm>
#include <map>

#include "graph/node_work.h"

namespace tandem {
namespace {

/// Everything about a node that a device's answer may depend on.
using Signature = std::vector<uint64_t>;

void append_weight(const Graph& graph, WeightId id, Signature& out) {
  const Weight& w = graph.weights[id];
  out.insert(out.end(), {static_cast<uint64_t>(w.type), w.rows, w.columns, w.bytes.size()});
  const LinearInput* input = w.input.get();
  out.push_back(input == nullptr ? 0 : 1 + 2 * input->wide + 4 * !input->outlier_channels.empty());
}

void append_state(const Graph& graph, StateId id, Signature& out) {
  const KvState& kv = std::get<KvState>(graph.states[id]);
  out.insert(out.end(), {kv.n_kv_heads, kv.key_size, kv.value_size, kv.window});
}

Signature signature_of(const Graph& graph, const Node& node, const StepLoad& load) {
  Signature out{static_cast<uint64_t>(node.op), node.attributes.index()};
  const auto append_value = [&](ValueId id) {
    out.push_back(graph.values[id].width);
    out.push_back(static_cast<uint64_t>(graph.values[id].rows));
  };
  for (ValueId input : node.inputs) append_value(input);
  if (node.output) append_value(*node.output);
  if (const auto* a = std::get_if<EmbedAttributes>(&node.attributes)) {
    append_weight(graph, a->table, out);
  } else if (const auto* a = std::get_if<LinearAttributes>(&node.attributes)) {
    append_weight(graph, a->weight, out);
    out.push_back(a->bias.has_value());
    const auto end = load.resident.end();
    out.push_back(std::find(load.resident.begin(), end, a->weight) != end);
  } else if (const auto* a = std::get_if<NormAttributes>(&node.attributes)) {
    out.insert(out.end(), {a->group, uint64_t{a->weight.has_value()}});
  } else if (const auto* a = std::get_if<RopeAttributes>(&node.attributes)) {
    out.insert(out.end(), {a->table, a->n_heads, a->head_size, static_cast<uint64_t>(a->pairs)});
  } else if (const auto* a = std::get_if<KvWriteAttributes>(&node.attributes)) {
    append_state(graph, a->state, out);
  } else if (const auto* a = std::get_if<AttentionAttributes>(&node.attributes)) {
    append_state(graph, a->state, out);
    out.insert(out.end(), {a->n_heads, uint64_t{a->softcap != 0}});
  } else if (const auto* a = std::get_if<GluAttributes>(&node.attributes)) {
    out.push_back(static_cast<uint64_t>(a->activation));
  }
  return out;
}

struct Answer {
  bool supported = false;
  Estimate estimate;
};

/// A part of an estimate, with the joules that fall into its time.
Cost part(const Estimate& e, double seconds) {
  return {seconds, e.seconds > 0 ? e.joules * seconds / e.seconds : 0};
}

void fill_device_terms(const Graph& graph, const StepLoad& load, const Device& device, uint32_t d,
                       PlacementProblem& p) {
  const Estimate launch = device.estimate(graph, {0, 0}, load);
  p.launch[d] = {launch.seconds, launch.joules};
  const Capabilities& facts = device.describe();
  if (!facts.shares_memory && facts.copy_bytes_per_second > 0) {
    p.copy_in[d].seconds = p.copy_out[d].seconds = 1 / facts.copy_bytes_per_second;
  }
}

}  // namespace

std::vector<uint64_t> live_bytes(const Graph& graph, const StepLoad& load) {
  std::vector<uint32_t> last_use(graph.values.size(), 0);
  const auto n_nodes = static_cast<uint32_t>(graph.nodes.size());
  for (uint32_t n = 0; n < n_nodes; ++n) {
    for (ValueId input : graph.nodes[n].inputs) last_use[input] = n;
  }
  std::vector<uint64_t> out(n_nodes + 1, 0);
  for (uint32_t n = 0; n < n_nodes; ++n) {
    if (!graph.nodes[n].output) continue;
    const ValueId id = *graph.nodes[n].output;
    const Value& value = graph.values[id];
    const bool is_one_row = value.rows == RowSet::kOutputs && graph.phase == Phase::kPrefill;
    const uint64_t bytes = (is_one_row ? 1 : load.n_tokens) * uint64_t{value.width} * sizeof(float);
    for (uint32_t at = n + 1; at <= last_use[id]; ++at) out[at] += bytes;
  }
  out.resize(n_nodes);
  return out;
}

PhaseCosts ask_devices(const Graph& graph, const StepShape& shape, const StepLoad& load,
                       std::span<Device* const> devices, bool weigh) {
  const auto n_nodes = static_cast<uint32_t>(graph.nodes.size());
  const auto n_devices = static_cast<uint32_t>(devices.size());
  PhaseCosts out{PlacementProblem(n_nodes, n_devices), {}};
  out.supported.resize(size_t{n_nodes} * n_devices);
  PlacementProblem& p = out.problem;
  if (weigh) p.live_bytes = live_bytes(graph, load);
  std::map<std::pair<uint32_t, Signature>, Answer> known;
  for (uint32_t d = 0; d < n_devices; ++d) {
    if (weigh) fill_device_terms(graph, load, *devices[d], d, p);
  }
  for (uint32_t i = 0; i < n_nodes; ++i) {
    const Node& node = graph.nodes[i];
    const Signature signature = signature_of(graph, node, load);
    if (const auto* a = std::get_if<LinearAttributes>(&node.attributes)) {
      p.memory[i] = weight_bytes(graph.weights[a->weight]);
    }
    for (uint32_t d = 0; d < n_devices; ++d) {
      const auto [entry, is_new] = known.try_emplace({d, signature});
      Answer& answer = entry->second;
      if (is_new) {
        answer.supported = !devices[d]->supports(graph, node, shape).has_value();
        if (answer.supported && weigh) answer.estimate = devices[d]->estimate(graph, {i, 1}, load);
      }
      const Estimate& e = answer.estimate;
      const size_t at = p.at(i, d);
      out.supported[at] = answer.supported;
      p.allowed[at] = answer.supported ? 1 : 0;
      p.inner[at] = part(e, e.inner_seconds());
      p.entry[at] = part(e, e.entry_seconds);
      p.exit[at] = part(e, e.exit_seconds);
    }
  }
  return out;
}

Result<void> apply_pins(const Graph& graph, const StepShape& shape,
                        std::span<Device* const> devices, std::span<const Pin> pins,
                        PhaseCosts& costs) {
  PlacementProblem& p = costs.problem;
  for (uint32_t i = 0; i < p.n_nodes; ++i) {
    const Pin* pin = find_pin(pins, graph.nodes[i].name);
    if (pin == nullptr) continue;
    for (uint32_t d = 0; d < p.n_devices; ++d) {
      if (devices[d]->describe().name != pin->device) {
        p.allowed[p.at(i, d)] = 0;
        continue;
      }
      if (costs.supported[p.at(i, d)]) continue;
      const auto reason = devices[d]->supports(graph, graph.nodes[i], shape);
      return failure(ErrorCode::kUnsupported, "pin {}={}: {} cannot run there in {}: {}",
                     pin->pattern, pin->device, graph.nodes[i].name, to_string(graph.phase),
                     reason ? reason->sentence : "unsupported");
    }
  }
  return {};
}

}  // namespace tandem
