#pragma once

#include <memory>
#include <vector>

#include "device/cpu/step.h"
#include "device/cpu/weight_store.h"

namespace tandem {

/// Rows of the embedding table by token id: from the packed copy when a linear shares the table,
/// else from the file.
class EmbedStep : public Step {
 public:
  EmbedStep(const Weight& table, std::shared_ptr<const PackedWeight> packed, ValueId output)
      : table_(table), packed_(std::move(packed)), output_(output) {}
  void run(const StepContext& context) const override;

 private:
  void unpack(size_t token, WeightPlanes planes, float* out) const;

  const Weight& table_;
  std::shared_ptr<const PackedWeight> packed_;  ///< null: read the file
  ValueId output_;
};

class NormStep : public Step {
 public:
  NormStep(const KernelSet& kernels, const NormAttributes& attributes, std::vector<float> weight,
           ValueId input, ValueId output)
      : kernels_(kernels),
        group_(attributes.group),
        epsilon_(attributes.epsilon),
        weight_(std::move(weight)),
        input_(input),
        output_(output) {}
  void run(const StepContext& context) const override;

 private:
  const KernelSet& kernels_;
  size_t group_;
  float epsilon_;
  std::vector<float> weight_;  ///< (group), or empty for ones
  ValueId input_, output_;
};

class PositionScaleStep : public Step {
 public:
  PositionScaleStep(const KernelSet& kernels, const PositionScaleAttributes& attributes,
                    ValueId input, ValueId output)
      : kernels_(kernels), attributes_(attributes), input_(input), output_(output) {}
  void run(const StepContext& context) const override;

 private:
  const KernelSet& kernels_;
  PositionScaleAttributes attributes_;
  ValueId input_, output_;
};

/// kAdd, kGlu, kScale and kSoftcap: the same function on every element.
class ElementwiseStep : public Step {
 public:
  ElementwiseStep(const KernelSet& kernels, const Node& node) : kernels_(kernels), node_(node) {}
  void run(const StepContext& context) const override;

 private:
  void apply(const StepContext& context, size_t first, size_t n) const;

  const KernelSet& kernels_;
  const Node& node_;
};

class SelectRowsStep : public Step {
 public:
  SelectRowsStep(ValueId input, ValueId output) : input_(input), output_(output) {}
  void run(const StepContext& context) const override;

 private:
  ValueId input_, output_;
};

}  // namespace tandem
