#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/metadata.h"
#include "tensor/linear_input.h"

namespace tandem {

/// The inputs that a file describes, in its order.
struct LinearInputs {
  /// A channel is an outlier when its largest magnitude is this many times the input's rms.
  float outlier_factor = 0;
  std::vector<LinearInput> inputs = {};

  /// Null when the weight's input was not seen. Linear: callers look up once.
  const LinearInput* find(std::string_view weight) const;
};

/// Reads the keys tandem.activations.*; no inputs where a file has none. Errors: kCorruptFile
/// naming the key whose length does not fit the others, or a range whose ends are swapped or not
/// finite.
Result<LinearInputs> read_linear_inputs(const Metadata& metadata);

/// Stores them under the same keys.
void store_linear_inputs(const LinearInputs& inputs, Metadata& metadata);

}  // namespace tandem
