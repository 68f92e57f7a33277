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

/// Integer codes that share one scale along K.
struct CodeFormat {
  int largest;         ///< kInt8CodeMax or kInt16CodeMax
  float static_scale;  ///< for all rows; negative: each row's own, from its largest magnitude
};

/// Codes of 8 bits as one pass of the int8 kernel, of 16 bits as two.
class CodedLinearStep : public Step {
 public:
  CodedLinearStep(CodeFormat format, const kernels::LinearRow& kernel,
                  const kernels::LinearRow& nested, std::shared_ptr<const PackedWeight> weight,
                  std::vector<float> bias, ValueId input, ValueId output)
      : format_(format),
        kernel_(kernel),
        nested_(nested),
        weight_(std::move(weight)),
        bias_(std::move(bias)),
        input_(input),
        output_(output) {}
  void run(const StepContext& context) const override;

 private:
  enum class Part { kWhole, kHigh, kLow };
  void quantize(const StepContext& context, Part part) const;
  void quantize_row(const float* x, size_t k, Part part, kernels::QuantizedActivations out) const;
  float scale_of(const float* x, size_t k) const;
  void multiply(const StepContext& context, float* y, const float* bias) const;

  CodeFormat format_;
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
