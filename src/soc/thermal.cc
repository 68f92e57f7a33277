// Temperature by one RC element.

#include "soc/thermal.h"

#include <cmath>

namespace tandem::soc {
namespace {
constexpr double kHysteresisC = 3;
}

ThermalModel::ThermalModel(const ThermalProfile& profile)
    : profile_(profile), temperature_c_(profile.ambient_c) {}

void ThermalModel::advance(double watts, double seconds) {
  const double settled = profile_.ambient_c + watts * profile_.resistance_c_per_w;
  const double tau = profile_.resistance_c_per_w * profile_.capacity_j_per_c;
  temperature_c_ = settled + (temperature_c_ - settled) * std::exp(-seconds / tau);
  if (temperature_c_ >= profile_.throttle_c) throttled_ = true;
  if (temperature_c_ < profile_.throttle_c - kHysteresisC) throttled_ = false;
}

double ThermalModel::clock_scale() const { return throttled_ ? profile_.throttled_scale : 1; }

}  // namespace tandem::soc
