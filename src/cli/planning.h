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

/// The model that plans are made for: a file, or a known shape for which there is none.
struct PlannedModel {
  ModelFlags model;
  std::string shape;          ///< of `tandem synth --list`; empty: the file
  std::string type = "Q4_0";  ///< of the shape's matrices
};
void add_planned_model_flags(CLI::App& command, PlannedModel& flags);

/// A model's graphs for a request of some size.
class Planning {
 public:
  static Result<Planning> create(const PlannedModel& planned, const Workload& workload);

  /// `chunk`: most prompt tokens computed together. kCheapest: the flags' policy.
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
