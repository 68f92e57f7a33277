#pragma once

#include <memory>

#include "device/device.h"

namespace tandem {

/// A device that hands every call to another; subclasses override what they bend.
class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(std::unique_ptr<Device> inner) : inner_(std::move(inner)) {}

  const Capabilities& describe() const override { return inner_->describe(); }
  std::optional<Reason> supports(const Graph& graph, const Node& node,
                                 const StepShape& shape) const override {
    return inner_->supports(graph, node, shape);
  }
  Estimate estimate(const Graph& graph, NodeRange segment, const StepLoad& load) const override {
    return inner_->estimate(graph, segment, load);
  }
  Result<std::unique_ptr<Executable>> compile(const Graph& graph, NodeRange segment,
                                              const StepShape& shape,
                                              const WorkspaceLayout& layout) override {
    return inner_->compile(graph, segment, shape, layout);
  }
  Event enqueue(const Executable& executable, const Bindings& bindings,
                std::span<const Event> after) override {
    return inner_->enqueue(executable, bindings, after);
  }
  Result<Access> import(std::span<const std::byte> memory) override {
    return inner_->import(memory);
  }
  Result<void> set_power_state(PowerState state) override { return inner_->set_power_state(state); }

 protected:
  Device& inner() { return *inner_; }

 private:
  std::unique_ptr<Device> inner_;
};

}  // namespace tandem
