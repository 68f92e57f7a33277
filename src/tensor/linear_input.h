#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace tandem {

/// What calibration saw at the input of one linear (docs/convert.md, "Calibration").
struct LinearInput {
  std::string weight;                           ///< name of the weight that reads it
  float minimum = 0, maximum = 0;               ///< over all channels and tokens
  std::vector<uint32_t> outlier_channels = {};  ///< rising
  bool wide = false;                            ///< the user wants 16 bits here

  /// The scale of a static symmetric code that covers the range: a device multiplies codes in
  /// [-largest_code, largest_code] by it. 0 for a range of 0.
  float static_scale(int largest_code) const {
    return std::max(std::fabs(minimum), std::fabs(maximum)) / static_cast<float>(largest_code);
  }
};

}  // namespace tandem
