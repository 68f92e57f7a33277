#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "soc/profile.h"

namespace tandem::cli {

/// The flags that choose devices and how a plan uses them.
struct DeviceFlags {
  std::string soc;      ///< profile's name or file; empty: this machine
  std::string variant;  ///< the profile's software variant
  std::string objective = "latency";
  std::string policy = "cheapest";  ///< policy_from_name
  std::vector<std::string> pins;
  double power_cap_watts = 0;
  std::string check = "1/256";  ///< "0": none
  double deadline_seconds = SafetyOptions{}.deadline_seconds;
  std::string require_npu = "none";  ///< or "all"
  std::string compile_cache;         ///< folder; empty: none
  bool warm_up = false;
  std::string fault;  ///< injected into the simulated NPU; empty: none
};

/// --soc and what belongs to planning.
void add_planning_flags(CLI::App& command, DeviceFlags& flags);
/// --check, --deadline, --inject-fault: what belongs to running.
void add_safety_flags(CLI::App& command, DeviceFlags& flags);

/// The profile, with its variant. Errors: kNotFound listing the known ones.
Result<std::shared_ptr<const soc::SocProfile>> open_profile(const DeviceFlags& flags);

/// Objective, pins and power cap. Errors: kInvalidArgument naming the flag's value.
Result<PlanOptions> plan_options(const DeviceFlags& flags);

/// Fills the engine's devices, plan and safety options.
Result<void> apply(const DeviceFlags& flags, EngineOptions& options);

/// Errors: kUnsupported when --require-npu=all and some node would run on the processor.
Result<void> check_required(const DeviceFlags& flags, const Engine& engine);

}  // namespace tandem::cli
