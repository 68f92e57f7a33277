#pragma once

#include "kernels/attention/attention.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/linear.h"
#include "kernels/norm/norm.h"
#include "kernels/rope/rope.h"

namespace tandem {

/// The kernels of one instruction-set row, chosen once when the device is made.
struct KernelSet {
  explicit KernelSet(kernels::Isa isa)
      : isa(isa),
        rms_norm(kernels::select_rms_norm(isa)),
        rope(kernels::select_rope(isa)),
        elementwise(kernels::select_elementwise(isa)),
        attention_f16(kernels::select_attention(isa, kernels::KvStorage::kF16)),
        attention_i8(kernels::select_attention(isa, kernels::KvStorage::kI8)),
        quantize(kernels::select_quantize(isa)) {}

  const kernels::AttentionRow& attention(kernels::KvStorage storage) const {
    return storage == kernels::KvStorage::kI8 ? attention_i8 : attention_f16;
  }

  kernels::Isa isa;
  const kernels::RmsNormRow& rms_norm;
  const kernels::RopeRow& rope;
  const kernels::ElementwiseRow& elementwise;
  const kernels::AttentionRow& attention_f16;
  const kernels::AttentionRow& attention_i8;
  const kernels::QuantizeRow& quantize;
};

}  // namespace tandem
