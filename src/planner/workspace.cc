// Liveness of values and their places in the workspace.

#include "planner/workspace.h"

#include <algorithm>

namespace tandem {
namespace {

constexpr uint64_t kAlignment = 64;

struct Block {
  uint64_t offset;
  uint64_t size;
  size_t last_use;  ///< index of the node that reads it last
};

uint64_t value_bytes(const Value& value, const StepShape& shape) {
  const uint64_t rows = value.rows == RowSet::kTokens ? shape.max_tokens : shape.max_outputs;
  const uint64_t bytes = rows * value.width * sizeof(float);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::vector<size_t> last_uses(const Graph& graph) {
  std::vector<size_t> last(graph.values.size(), 0);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId input : graph.nodes[n].inputs) last[input] = n;
    if (graph.nodes[n].output) last[*graph.nodes[n].output] = n;
  }
  return last;
}

bool may_work_in_place(Op op) {
  switch (op) {
    case Op::kRmsNorm:
    case Op::kQkNorm:
    case Op::kRope:
    case Op::kPositionScale:
    case Op::kGlu:
    case Op::kAdd:
    case Op::kScale:
    case Op::kSoftcap:
      return true;
    default:
      return false;
  }
}

/// The lowest offset at which `size` bytes fit between the blocks alive at node `now`.
uint64_t first_fit(std::vector<Block>& blocks, uint64_t size, size_t now) {
  std::erase_if(blocks, [&](const Block& b) { return b.last_use < now; });
  std::sort(blocks.begin(), blocks.end(),
            [](const Block& a, const Block& b) { return a.offset < b.offset; });
  uint64_t offset = 0;
  for (const Block& b : blocks) {
    if (offset + size <= b.offset) break;
    offset = std::max(offset, b.offset + b.size);
  }
  return offset;
}

}  // namespace

WorkspaceLayout plan_workspace(const Graph& graph, const StepShape& shape) {
  WorkspaceLayout layout;
  layout.offsets.resize(graph.values.size(), 0);
  const std::vector<size_t> last = last_uses(graph);
  std::vector<Block> alive;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!node.output || *node.output == graph.logits) continue;
    const uint64_t size = value_bytes(graph.values[*node.output], shape);
    const bool input_dies =
        may_work_in_place(node.op) && node.inputs[0] != graph.logits && last[node.inputs[0]] == n;
    if (input_dies) {
      layout.offsets[*node.output] = layout.offsets[node.inputs[0]];
      for (Block& b : alive) {
        if (b.offset == layout.offsets[*node.output]) b.last_use = last[*node.output];
      }
      continue;
    }
    const uint64_t offset = first_fit(alive, size, n);
    layout.offsets[*node.output] = offset;
    layout.size_bytes = std::max(layout.size_bytes, offset + size);
    alive.push_back({offset, size, last[*node.output]});
  }
  return layout;
}

}  // namespace tandem
