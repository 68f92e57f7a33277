#pragma once

#include "planner/plan.h"
#include "planner/schedule.h"

namespace tandem {

/// A request that a plan is judged by.
struct Workload {
  uint32_t prompt_tokens = 1024;
  uint32_t generated_tokens = 128;
};

/// What a plan makes of a workload by its devices' estimates.
struct Prediction {
  std::vector<uint32_t> chunks;  ///< rows of each step of the prompt, padding included
  Estimate prefill;              ///< the whole prompt, its chunks overlapped over the devices
  Estimate decode;               ///< every generated token after the first
  uint32_t n_decoded = 0;
  uint64_t copied_bytes_per_token = 0;  ///< decode

  double seconds() const { return prefill.seconds + decode.seconds; }
  double joules() const { return prefill.joules + decode.joules; }
};

/// `prefill` and `decode` are the graphs that the plan was made for, `devices` its devices. The
/// prompt is cut as the plan says; context grows along both phases.
Prediction predict(const Plan& plan, const Graph& prefill, const Graph& decode,
                   std::span<Device* const> devices, const Workload& workload);

/// One segment at a load, padded where its device's shapes are static.
Estimate estimate_segment(const Graph& graph, const PhasePlan& phase, size_t segment,
                          std::span<Device* const> devices, uint32_t n_rows, uint32_t context);

/// One step of a phase at a load: its segments one after another, each on its device; padded where
/// the device's shapes are static.
Estimate estimate_step(const Graph& graph, const PhasePlan& phase, std::span<Device* const> devices,
                       uint32_t n_rows, uint32_t context);

}  // namespace tandem
