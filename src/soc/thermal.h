#pragma once

#include "soc/profile.h"

namespace tandem::soc {

/// The chip's temperature under load: one resistance and one capacity to the air.
class ThermalModel {
 public:
  explicit ThermalModel(const ThermalProfile& profile);

  /// Passes `seconds` at `watts`.
  void advance(double watts, double seconds);

  double temperature_c() const { return temperature_c_; }
  /// For Conditions::clock_scale. Cool again 3 degrees below the throttle point.
  double clock_scale() const;

 private:
  ThermalProfile profile_;
  double temperature_c_;
  bool throttled_ = false;
};

}  // namespace tandem::soc
