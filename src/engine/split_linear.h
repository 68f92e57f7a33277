#pragma once

#include <array>
#include <memory>

#include "device/device.h"
#include "planner/plan.h"

namespace tandem {

/// A linear whose rows the host and another device compute at the same time (RowSplit), each into
/// its part of the output. For steps of one row.
class SplitLinear : public Executable {
 public:
  /// Compiles both shares of `linear`: the rows before `split.first_row` for `home`, the others
  /// for `rest`; one of the two is the host. `workspace` is the phase's. Errors: those of the
  /// devices.
  static Result<std::unique_ptr<SplitLinear>> compile(const Graph& graph, const Node& linear,
                                                      const RowSplit& split, Device& home,
                                                      Device& rest,
                                                      const WorkspaceLayout& workspace);

  uint64_t weight_bytes() const override;
  bool matches_reference() const override;
  double compile_seconds() const override;

  /// The device that is not the host.
  Device& delegate() const { return *shares_[delegate_].device; }
  /// Starts the delegate's share and computes the host's. The event is the delegate's; when the
  /// host failed, its failure.
  Event enqueue(const Bindings& bindings) const;

 private:
  struct Share {
    Device* device = nullptr;
    uint32_t first_row = 0;
    Graph graph = {};
    WorkspaceLayout layout = {};
    std::unique_ptr<Executable> executable = nullptr;
  };

  SplitLinear() = default;
  float* output(const Bindings& bindings) const;
  Event start(const Share& share, Bindings bindings, float* y) const;

  std::array<Share, 2> shares_;
  size_t delegate_ = 0;
  bool writes_logits_ = false;
  uint64_t output_offset_ = 0;
};

}  // namespace tandem
