#pragma once

#include "device/cpu/step.h"

namespace tandem {

/// Cosines and sines of every rope table at the positions of this execution.
class RotationsStep : public Step {
 public:
  void run(const StepContext& context) const override;
};

class RopeStep : public Step {
 public:
  RopeStep(const KernelSet& kernels, const RopeAttributes& attributes, ValueId input,
           ValueId output)
      : kernels_(kernels), attributes_(attributes), input_(input), output_(output) {}
  void run(const StepContext& context) const override;

 private:
  const KernelSet& kernels_;
  RopeAttributes attributes_;
  ValueId input_, output_;
};

class KvWriteStep : public Step {
 public:
  KvWriteStep(const KernelSet& kernels, StateId state, ValueId k, ValueId v)
      : kernels_(kernels), state_(state), k_(k), v_(v) {}
  void run(const StepContext& context) const override;

 private:
  const KernelSet& kernels_;
  StateId state_;
  ValueId k_, v_;
};

class AttentionStep : public Step {
 public:
  AttentionStep(const KernelSet& kernels, const AttentionAttributes& attributes, ValueId q,
                ValueId output)
      : kernels_(kernels), attributes_(attributes), q_(q), output_(output) {}
  void run(const StepContext& context) const override;

 private:
  void run_sequence(const StepContext& context, const SequenceRows& sequence) const;

  const KernelSet& kernels_;
  AttentionAttributes attributes_;
  ValueId q_, output_;
};

}  // namespace tandem
