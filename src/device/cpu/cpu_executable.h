#pragma once

#include <memory>
#include <vector>

#include "device/cpu/linear_arithmetic.h"
#include "device/cpu/step.h"
#include "device/cpu/weight_store.h"

namespace tandem {

/// What lowering takes from the processor.
struct LoweringContext {
  const KernelSet& kernels;
  WeightStore& weights;
  ThreadPool& pool;
  const ArithmeticOf& arithmetic;
};

/// A segment as a list of steps, in the order of its nodes. A node may take several steps, and
/// neighbouring linears of one input share one.
class CpuExecutable : public Executable {
 public:
  /// Lowers the nodes; `graph` and `layout` must outlive the result.
  static Result<std::unique_ptr<CpuExecutable>> create(const Graph& graph, NodeRange segment,
                                                       const StepShape& shape,
                                                       const WorkspaceLayout& layout,
                                                       const LoweringContext& context);

  uint64_t weight_bytes() const override { return weight_bytes_; }
  uint64_t low_plane_bytes() const override { return low_plane_bytes_; }
  bool matches_reference() const override { return matches_reference_; }
  const ScratchNeeds& scratch_needs() const { return needs_; }

  Result<void> run(const Bindings& bindings, ThreadPool& pool, Scratch& scratch) const;

 private:
  struct NodeStep {
    std::vector<const Node*> nodes;  ///< whose results it gives; none for preparation
    std::unique_ptr<Step> step;
  };
  friend class Lowering;

  CpuExecutable(const Graph& graph, const WorkspaceLayout& layout, const KernelSet& kernels)
      : graph_(graph), layout_(layout), kernels_(kernels) {}
  void run_observed(const StepContext& context, const NodeStep& s) const;
  /// Tells the observer of a linear, once for all its steps.
  void announce_linears(const StepContext& context, const NodeStep& s) const;
  Result<void> check_output(const StepContext& context, const Node& node) const;

  const Graph& graph_;
  const WorkspaceLayout& layout_;
  const KernelSet& kernels_;
  std::vector<NodeStep> steps_;
  ScratchNeeds needs_;
  uint64_t weight_bytes_ = 0;
  uint64_t low_plane_bytes_ = 0;
  bool matches_reference_ = true;  ///< no linear in another arithmetic
};

}  // namespace tandem
