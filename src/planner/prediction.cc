// Sums estimates over a request.

#include "planner/prediction.h"

#include <algorithm>

#include "base/check.h"

namespace tandem {
namespace {

// Contexts at which a decode step is estimated; between them cost is taken as linear.
constexpr uint32_t kDecodeSamples = 5;

const Device& find_device(std::span<Device* const> devices, const std::string& name) {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const Device* d) { return d->describe().name == name; });
  TANDEM_CHECK(found != devices.end());
  return **found;
}

Estimate scaled(const Estimate& e, double factor) {
  const auto count = [&](uint64_t n) { return static_cast<uint64_t>(n * factor); };
  return {.seconds = e.seconds * factor,
          .launch_seconds = e.launch_seconds * factor,
          .entry_seconds = e.entry_seconds * factor,
          .exit_seconds = e.exit_seconds * factor,
          .bytes = count(e.bytes),
          .joules = e.joules * factor,
          .macs = count(e.macs)};
}

}  // namespace

Estimate estimate_segment(const Graph& graph, const PhasePlan& phase, size_t segment,
                          std::span<Device* const> devices, uint32_t n_rows, uint32_t context) {
  const Segment& s = phase.segments[segment];
  if (s.split) return s.estimate;  // a linear: the same at every context
  const Device& device = find_device(devices, s.device);
  const uint32_t rows = device.describe().static_shapes ? phase.shape.max_tokens : n_rows;
  return device.estimate(
      graph, s.nodes,
      {.n_tokens = rows, .context = std::max(context, rows), .resident = phase.resident});
}

Estimate estimate_step(const Graph& graph, const PhasePlan& phase, std::span<Device* const> devices,
                       uint32_t n_rows, uint32_t context) {
  Estimate out;
  for (size_t s = 0; s < phase.segments.size(); ++s) {
    out += estimate_segment(graph, phase, s, devices, n_rows, context);
  }
  return out;
}

Prediction predict(const Plan& plan, const Graph& prefill, const Graph& decode,
                   std::span<Device* const> devices, const Workload& workload) {
  Prediction out;
  std::vector<ChunkStep> chunks;
  for (uint32_t done = 0; done < workload.prompt_tokens;) {
    const uint32_t left = workload.prompt_tokens - done;
    const uint32_t rows = std::min(left, plan.next_chunk(left));
    const PhasePlan& phase = plan.phases[plan.prefill_for(rows)];
    out.prefill += estimate_step(prefill, phase, devices, rows, done + rows);
    chunks.push_back({&phase, rows, done + rows});
    out.chunks.push_back(phase.is_padded ? phase.shape.max_tokens : rows);
    done += rows;
  }
  const auto estimate = [&](const ChunkStep& step, size_t segment) {
    return estimate_segment(prefill, *step.phase, segment, devices, step.n_rows, step.context);
  };
  const auto tasks = prompt_tasks(prefill, plan.devices, chunks, estimate, kPromptWorkspaces);
  out.prefill.seconds =
      makespan(simulate(tasks, plan.devices.size(), shared_memory_bandwidth(plan.devices)));
  const PhasePlan& step = plan.phase(Phase::kDecode);
  out.copied_bytes_per_token = step.copied_bytes;
  out.n_decoded = workload.generated_tokens > 0 ? workload.generated_tokens - 1 : 0;
  for (uint32_t i = 0; i < kDecodeSamples && out.n_decoded > 0; ++i) {
    // The middle of each fifth of the answer stands for it.
    const double done = (i + 0.5) / kDecodeSamples * out.n_decoded;
    const auto context = workload.prompt_tokens + static_cast<uint32_t>(done) + 1;
    out.decode += scaled(estimate_step(decode, step, devices, 1, context),
                         static_cast<double>(out.n_decoded) / kDecodeSamples);
  }
  return out;
}

}  // namespace tandem
