#pragma once

#include "base/thread_pool.h"
#include "device/cpu/kernel_set.h"
#include "device/cpu/scratch.h"
#include "device/device.h"

namespace tandem {

/// What a step sees while it runs.
struct StepContext {
  const Graph& graph;
  const WorkspaceLayout& layout;
  const Bindings& bindings;
  ThreadPool& pool;
  Scratch& scratch;

  float* value(ValueId id) const {
    if (id == graph.logits) return bindings.logits;
    return reinterpret_cast<float*>(bindings.workspace + layout.offsets[id]);
  }
  size_t width(ValueId id) const { return graph.values[id].width; }
  size_t row_bytes(ValueId id) const { return width(id) * sizeof(float); }
  size_t n_rows(ValueId id) const {
    return graph.values[id].rows == RowSet::kTokens ? bindings.tokens.size()
                                                    : bindings.output_rows.size();
  }
};

/// A node lowered to kernel calls. Immutable; owns or shares the weights it reads.
class Step {
 public:
  virtual ~Step() = default;
  virtual void run(const StepContext& context) const = 0;
};

}  // namespace tandem
