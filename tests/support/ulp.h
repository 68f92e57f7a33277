#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace tandem::testing_support {

/// |actual - expected| in units of expected's last place as a float; the unit never falls below
/// the normal range's smallest, 2^-149. 0 for two NaN or two equal infinities, infinity if only one
/// is such.
inline double ulp_error(float actual, double expected) {
  if (std::isnan(expected) || std::isnan(actual)) {
    return std::isnan(expected) && std::isnan(actual) ? 0.0
                                                      : std::numeric_limits<double>::infinity();
  }
  const float rounded = static_cast<float>(expected);
  if (std::isinf(actual) || std::isinf(rounded)) {
    return actual == rounded ? 0.0 : std::numeric_limits<double>::infinity();
  }
  const int exponent = expected == 0.0 ? -126 : std::max(std::ilogb(expected), -126);
  return std::fabs(static_cast<double>(actual) - expected) / std::ldexp(1.0, exponent - 23);
}

}  // namespace tandem::testing_support
