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

/// output = weight * input + bias for one or more weights of one input (queries, keys and values;
/// gate and up), split over tiles of weight rows. Several weights are one loop over the threads:
/// one meeting instead of three, and small weights share the work evenly.
class LinearStep : public Step {
 public:
  struct Part {
    const kernels::LinearRow& kernel;  ///< reads the weight, or its high plane
    const kernels::LinearRow& nested;  ///< reads both planes of a weight that has two
    std::shared_ptr<const PackedWeight> weight;
    std::vector<float> bias;  ///< empty: none
    ValueId output;
  };

  LinearStep(ValueId input, Part part) : input_(input) { add(std::move(part)); }
  ValueId input() const { return input_; }
  void add(Part part) { parts_.push_back(std::move(part)); }
  void run(const StepContext& context) const override;

 private:
  static size_t n_tiles(const Part& part) {
    return (part.weight->matrix.n + kernels::kTileRows - 1) / kernels::kTileRows;
  }
  void run_tiles(const StepContext& context, const Part& part, size_t begin, size_t end) const;

  ValueId input_;
  std::vector<Part> parts_;
};

}  // namespace tandem
