#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/metadata.h"

namespace tandem {

/// What calibration saw at the input of one linear (docs/convert.md, "Calibration").
struct LinearInput {
  std::string weight;                           ///< name of the weight that reads it
  float minimum = 0, maximum = 0;               ///< over all channels and tokens
  std::vector<uint32_t> outlier_channels = {};  ///< rising
  bool wide = false;                            ///< the user wants 16 bits here

  /// The scale of a static symmetric code of `bits` bits that covers the range: a device multiplies
  /// codes in [-(2^(bits-1) - 1), 2^(bits-1) - 1] by it. 0 for a range of 0.
  float static_scale(uint32_t bits) const;
};

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
