#pragma once

#include <memory>
#include <vector>

#include "device/cpu/step.h"
#include "device/cpu/weight_store.h"
#include "kernels/linear/nested.h"

namespace tandem {

/// Linears in the arithmetic of other processors, computed with this one's kernels
/// (docs/npu_sim.md). They work on one thread's slice at a time like LinearStep, and give the same
/// bits for any split.

/// Codes of 16 bits with one scale a row, as two passes of the int8 kernel.
class Int16LinearStep : public Step {
 public:
  Int16LinearStep(const kernels::LinearRow& kernel, const kernels::LinearRow& nested,
                  std::shared_ptr<const PackedWeight> weight, std::vector<float> bias,
                  ValueId input, ValueId output)
      : kernel_(kernel),
        nested_(nested),
        weight_(std::move(weight)),
        bias_(std::move(bias)),
        input_(input),
        output_(output) {}
  void run(const StepContext& context) const override;

 private:
  enum class Half { kHigh, kLow };
  void quantize(const StepContext& context, Half half) const;
  void multiply(const StepContext& context, float* y, const float* bias) const;

  const kernels::LinearRow& kernel_;
  const kernels::LinearRow& nested_;
  std::shared_ptr<const PackedWeight> weight_;
  std::vector<float> bias_;  ///< empty: none
  ValueId input_, output_;
};

/// Activations rounded to the type that the weights are packed in, sums in f32.
class RoundedLinearStep : public Step {
 public:
  RoundedLinearStep(const kernels::LinearRow& kernel, std::shared_ptr<const PackedWeight> weight,
                    std::vector<float> bias, ValueId input, ValueId output)
      : kernel_(kernel),
        weight_(std::move(weight)),
        bias_(std::move(bias)),
        input_(input),
        output_(output) {}
  void run(const StepContext& context) const override;

 private:
  const kernels::LinearRow& kernel_;
  std::shared_ptr<const PackedWeight> weight_;  ///< F16 or BF16
  std::vector<float> bias_;                     ///< empty: none
  ValueId input_, output_;
};

}  // namespace tandem
