#pragma once

#include <string>
#include <string_view>

#include "synth/tensor_list.h"
#include "tensor/dtype.h"

namespace tandem {

/// Which format each tensor of a file gets: one type for all matrices, or the mixture that GGUF
/// users know as Q4_K_M.
class WeightTypes {
 public:
  /// "q4_0", "F16", ..., or "q4_k_m". Errors: kInvalidArgument listing the known names.
  static Result<WeightTypes> parse(std::string_view name);
  explicit WeightTypes(DType type) : type_(type) {}

  /// Vectors are F32. A matrix whose rows are no multiple of 256 gets the nearest format with
  /// blocks of 32 (Q5_0 for Q4_K, Q8_0 for Q6_K, ...), and F16 when they are no multiple of 32.
  DType choose(const ListedTensor& tensor, const ModelShape& shape) const;

 private:
  DType type_;
  bool mixture_ = false;
};

}  // namespace tandem
