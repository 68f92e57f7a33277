// What plans delegate, as figures that a gate compares.

#include "cli/delegation_metrics.h"

#include "cli/planning.h"
#include "soc/profile_reader.h"

namespace tandem::cli {
namespace {

constexpr uint32_t kChunk = 1024;  // as `tandem plan`

double percent(uint64_t part, uint64_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// Of the phase's plans the one that delegates most: prefill has a plan for each size, and one for
/// the processor.
const PhaseDelegation& most_delegated(const PlanReport& report, Phase phase) {
  const PhaseDelegation* best = nullptr;
  for (const PhaseDelegation& p : report.phases) {
    if (p.phase == phase && (best == nullptr || p.n_delegated > best->n_delegated)) best = &p;
  }
  return *best;
}

}  // namespace

Result<void> add_delegation(const DelegationRequest& request, MetricValues& out) {
  for (const std::string& shape : request.shapes) {
    TANDEM_TRY(const Planning planning,
               Planning::create(PlannedModel{.model = {}, .shape = shape, .type = request.type},
                                {request.prompt_tokens, request.generated_tokens}));
    for (const std::string& soc : soc::builtin_profile_names()) {
      DeviceFlags flags;
      flags.soc = soc;
      TANDEM_TRY(const PlanDevices on, make_plan_devices(flags));
      TANDEM_TRY(const Plan plan, planning.plan(on, flags, kChunk, Policy::kCheapest));
      const PlanReport report = planning.report(plan, on);
      auto& figures = out[shape + " on " + soc];
      for (Phase phase : {Phase::kPrefill, Phase::kDecode}) {
        const PhaseDelegation& counted = most_delegated(report, phase);
        const std::string name = to_string(phase);
        figures[name + " nodes"] = counted.n_delegated;
        figures[name + " MACs %"] = percent(counted.delegated_macs, counted.macs);
        figures[name + " bytes %"] = percent(counted.delegated_bytes, counted.bytes);
      }
    }
  }
  return {};
}

}  // namespace tandem::cli
