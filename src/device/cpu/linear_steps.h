#pragma once

#include <memory>
#include <vector>

#include "device/cpu/step.h"
#include "device/cpu/weight_store.h"

namespace tandem {

/// Quantizes a value into the scratch, for the linear steps that follow.
class QuantizeStep : public Step {
 public:
  QuantizeStep(const KernelSet& kernels, ValueId input) : kernels_(kernels), input_(input) {}
  void run(const StepContext& context) const override;

 private:
  const KernelSet& kernels_;
  ValueId input_;
};

/// output = weight * input + bias, split over tiles of weight rows.
class LinearStep : public Step {
 public:
  /// `kernel` reads the weight, or its high plane; `nested` both planes of one that has two.
  LinearStep(const kernels::LinearRow& kernel, const kernels::LinearRow& nested,
             std::shared_ptr<const PackedWeight> weight, std::vector<float> bias, ValueId input,
             ValueId output)
      : kernel_(kernel),
        nested_(nested),
        weight_(std::move(weight)),
        bias_(std::move(bias)),
        input_(input),
        output_(output) {}
  void run(const StepContext& context) const override;

 private:
  const kernels::LinearRow& kernel_;
  const kernels::LinearRow& nested_;
  std::shared_ptr<const PackedWeight> weight_;
  std::vector<float> bias_;  ///< empty: none
  ValueId input_, output_;
};

}  // namespace tandem
