// Compares a device with the host while a model runs.

#include "engine/self_check.h"

#include <cstring>

#include "fabric/state_rows.h"

namespace tandem {
namespace {

std::span<float> rows_of(const CompiledPhase& phase, ValueId id, const Bindings& b,
                         std::byte* workspace, float* logits) {
  const Graph& graph = *phase.graph;
  const Value& value = graph.values[id];
  const size_t n_rows = value.rows == RowSet::kTokens ? b.tokens.size() : b.output_rows.size();
  float* data = id == graph.logits
                    ? logits
                    : reinterpret_cast<float*>(workspace + phase.plan->workspace.offsets[id]);
  return {data, n_rows * value.width};
}

/// Whether a node after the segment reads the value.
bool is_read_later(const Graph& graph, NodeRange segment, ValueId id) {
  if (id == graph.logits) return true;
  for (size_t n = segment.first + segment.count; n < graph.nodes.size(); ++n) {
    for (ValueId input : graph.nodes[n].inputs) {
      if (input == id) return true;
    }
  }
  return false;
}

std::optional<std::string> bit_difference(const std::string& name, std::span<const float> ours,
                                          std::span<const float> expected) {
  if (std::memcmp(ours.data(), expected.data(), ours.size_bytes()) == 0) return std::nullopt;
  size_t i = 0;
  while (std::memcmp(&ours[i], &expected[i], sizeof(float)) == 0) ++i;
  return fmt::format("{} differs: value {} is {}, the processor computes {}", name, i, ours[i],
                     expected[i]);
}

std::optional<std::string> difference(const std::string& name, std::span<const float> ours,
                                      std::span<const float> expected, double bound) {
  if (bound == 0) return bit_difference(name, ours, expected);
  double error = 0, norm = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    error += (double{ours[i]} - expected[i]) * (double{ours[i]} - expected[i]);
    norm += double{expected[i]} * expected[i];
  }
  if (error <= bound * norm) return std::nullopt;  // false for NaN
  return fmt::format("{} is off by {:.3g} (normalised mean square; the bound is {})", name,
                     error / norm, bound);
}

/// Calls visit(node, state, rows) for each cache row set that the segment writes.
template <class Visit>
void visit_states(const CompiledPhase& phase, NodeRange segment, const Bindings& b,
                  const Visit& visit) {
  for (uint32_t i = segment.first; i < segment.first + segment.count; ++i) {
    const Node& node = phase.graph->nodes[i];
    const auto* write = std::get_if<KvWriteAttributes>(&node.attributes);
    if (write == nullptr) continue;
    for (const SequenceRows& rows : b.sequences) visit(node, write->state, rows);
  }
}

}  // namespace

Result<void> wait_within(const Event& event, const std::string& device, double deadline_seconds) {
  if (deadline_seconds <= 0) return event.wait();
  if (auto outcome = event.wait_for(deadline_seconds)) return *outcome;
  return failure(ErrorCode::kDevice, "{} did not finish within {} s", device, deadline_seconds);
}

Result<SelfCheck> SelfCheck::create(uint64_t workspace_bytes, uint64_t logits_bytes,
                                    uint64_t state_bytes) {
  SelfCheck out;
  TANDEM_TRY(out.before_, Buffer::allocate(workspace_bytes, "the self check"));
  TANDEM_TRY(out.after_, Buffer::allocate(workspace_bytes, "the self check"));
  TANDEM_TRY(out.logits_, Buffer::allocate(logits_bytes, "the self check"));
  TANDEM_TRY(out.states_, Buffer::allocate(state_bytes, "the self check"));
  TANDEM_TRY(out.expected_, Buffer::allocate(state_bytes, "the self check"));
  return out;
}

void SelfCheck::save_results(const CompiledPhase& phase, const CompiledSegment& segment,
                             const Bindings& b) {
  std::memcpy(after_.data(), b.workspace, phase.plan->workspace.size_bytes);
  const auto logits = rows_of(phase, phase.graph->logits, b, b.workspace, b.logits);
  if (b.logits != nullptr) std::memcpy(logits_.data(), logits.data(), logits.size_bytes());
  std::byte* at = states_.data();
  visit_states(phase, segment.nodes, b, [&](const Node&, StateId id, const SequenceRows& rows) {
    save_state_rows(*rows.state, id, rows.first_position, rows.n_rows, at);
    at += state_rows_bytes(*rows.state, id, rows.n_rows);
  });
}

void SelfCheck::restore_results(const CompiledPhase& phase, const CompiledSegment& segment,
                                const Bindings& b) {
  std::memcpy(b.workspace, after_.data(), phase.plan->workspace.size_bytes);
  const auto logits = rows_of(phase, phase.graph->logits, b, b.workspace, b.logits);
  if (b.logits != nullptr) std::memcpy(logits.data(), logits_.data(), logits.size_bytes());
  const std::byte* at = states_.data();
  visit_states(phase, segment.nodes, b, [&](const Node&, StateId id, const SequenceRows& rows) {
    restore_state_rows(*rows.state, id, rows.first_position, rows.n_rows, at);
    at += state_rows_bytes(*rows.state, id, rows.n_rows);
  });
}

std::optional<std::string> SelfCheck::compare(const CompiledPhase& phase,
                                              const CompiledSegment& segment, const Bindings& b,
                                              double bound) {
  const Graph& graph = *phase.graph;
  for (uint32_t i = segment.nodes.first; i < segment.nodes.first + segment.nodes.count; ++i) {
    const Node& node = graph.nodes[i];
    if (!node.output || !is_read_later(graph, segment.nodes, *node.output)) continue;
    const auto ours = rows_of(phase, *node.output, b, after_.data(), logits_.as<float>());
    const auto expected = rows_of(phase, *node.output, b, b.workspace, b.logits);
    if (auto found = difference(node.name, ours, expected, bound)) return found;
  }
  if (bound != 0) return std::nullopt;  // other arithmetic reaches the cache; attention shows it
  std::optional<std::string> found;
  const std::byte* ours = states_.data();
  visit_states(phase, segment.nodes, b, [&](const Node& n, StateId id, const SequenceRows& rows) {
    const size_t n_bytes = state_rows_bytes(*rows.state, id, rows.n_rows);
    save_state_rows(*rows.state, id, rows.first_position, rows.n_rows, expected_.data());
    if (std::memcmp(ours, expected_.data(), n_bytes) != 0 && !found) {
      found = fmt::format("{} wrote other cache entries than the processor", n.name);
    }
    ours += n_bytes;
  });
  return found;
}

Result<std::optional<std::string>> SelfCheck::run(const CompiledPhase& phase,
                                                  CompiledSegment& segment, Device& host,
                                                  const Bindings& bindings,
                                                  double deadline_seconds) {
  const uint64_t n_bytes = phase.plan->workspace.size_bytes;
  std::memcpy(before_.data(), bindings.workspace, n_bytes);
  const Capabilities& facts = segment.device->describe();
  TANDEM_TRY(wait_within(start(segment, bindings), facts.name, deadline_seconds));
  save_results(phase, segment, bindings);
  std::memcpy(bindings.workspace, before_.data(), n_bytes);
  const Executable* specified = segment.executable->reference();
  const Executable& expected = specified != nullptr ? *specified : *segment.on_host;
  TANDEM_TRY(host.enqueue(expected, bindings, {}).wait());
  const bool is_exact = specified != nullptr || segment.executable->matches_reference();
  auto wrong = compare(phase, segment, bindings, is_exact ? 0 : kCheckBound);
  if (!wrong) restore_results(phase, segment, bindings);
  return wrong;
}

}  // namespace tandem
