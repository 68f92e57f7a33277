#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/device_flags.h"
#include "cli/model_flags.h"
#include "planner/report.h"

namespace tandem::cli {

/// The devices that plans are made for without running anything.
struct PlanDevices {
  std::string soc;  ///< the profile's name; empty: this machine
  std::vector<std::unique_ptr<Device>> owned;
  std::vector<Device*> devices;
};
Result<PlanDevices> make_plan_devices(const DeviceFlags& flags);

/// A model's graphs for a request of some size.
class Planning {
 public:
  static Result<Planning> create(const ModelFlags& flags, const Workload& workload);

  /// `chunk`: most prompt tokens computed together.
  Result<Plan> plan(const PlanDevices& on, const DeviceFlags& flags, uint32_t chunk,
                    Policy policy) const;
  PlanReport report(const Plan& plan, const PlanDevices& on) const;

  const Graph& prefill() const { return prefill_; }
  const Graph& decode() const { return decode_; }
  const Workload& workload() const { return workload_; }
  const std::string& model_name() const { return model_name_; }

 private:
  Planning() = default;

  Workload workload_;
  Graph prefill_, decode_;
  uint32_t context_ = 0;
  std::string model_name_;
};

/// Writes a file under a temporary name and renames it.
Result<void> write_file(const std::string& path, std::string_view text);

}  // namespace tandem::cli
