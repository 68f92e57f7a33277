#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tandem {

/// One format that a tensor may take.
struct FormatCost {
  uint64_t n_bytes = 0;
  double loss = 0;  ///< KL that the tensor alone adds
};

/// The choices of one tensor: (formats).
using TensorCosts = std::vector<FormatCost>;

/// Which format each tensor takes: indices into its choices.
using Allocation = std::vector<size_t>;

/// The choice with the least summed loss within `n_bytes`, as far as a Lagrangian search and
/// filling what it leaves find it. Every tensor has at least one choice. When even the smallest
/// ones do not fit, those are returned.
Allocation allocate_within(std::span<const TensorCosts> tensors, uint64_t n_bytes);

/// The choice with the fewest bytes whose summed loss is at most `loss`; when none is, that of
/// least loss.
Allocation allocate_below(std::span<const TensorCosts> tensors, double loss);

uint64_t bytes_of(std::span<const TensorCosts> tensors, const Allocation& choice);
double loss_of(std::span<const TensorCosts> tensors, const Allocation& choice);

}  // namespace tandem
